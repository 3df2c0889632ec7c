/** A button that opens a list of any length to choose from, with a field that narrows it. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { onSearchKeys } from "../../state/regions";
import { VirtualList } from "../VirtualList";
import { Icon } from "../Icon";
import { Menu } from "./Menu";

export interface Entry {
  key: string;
  title: string;
  /** At the right end of its row. */
  hint?: string;
  /** Before the title, such as a step's number. */
  before?: string;
}

interface ChoiceProps {
  label: string;
  button: ComponentChildren;
  class?: string;
  title?: string;
  /** Asked when it opens. */
  entries: () => readonly Entry[];
  now: string | null;
  onPick: (key: string) => void;
  /** What the field asks for. */
  find: string;
  /** Above the list. */
  above?: (close: () => void) => ComponentChildren;
}

export function Choice(props: ChoiceProps) {
  return (
    <Menu
      label={props.label}
      class={props.class ?? "btn quiet"}
      title={props.title}
      button={
        <>
          {props.button}
          <Icon name="down" />
        </>
      }
    >
      {(close) => <Body {...props} close={close} />}
    </Menu>
  );
}

const ROW = 28;
/** Rows that are seen at once. */
const ROWS = 13;

function Body({ entries, now, onPick, find, above, close }: ChoiceProps & { close: () => void }) {
  const [all] = useState(entries);
  const [query, ask] = useState("");
  const [cursor, setCursor] = useState(now);
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length
    ? all.filter((one) => {
        const text = `${one.before ?? ""} ${one.title}`.toLowerCase();
        return words.every((word) => text.includes(word));
      })
    : all;
  const search = (text: string): void => {
    ask(text);
    setCursor(text ? null : now);
  };
  const pick = (key: string): void => {
    close();
    onPick(key);
  };
  return (
    <div class="choice">
      <label class="field">
        <Icon name="search" />
        <input
          type="search"
          aria-label={find}
          placeholder={find}
          spellcheck={false}
          value={query}
          aria-controls="choice-list"
          onInput={(e) => search(e.currentTarget.value)}
          onKeyDown={onSearchKeys("choice-list", query, () => search(""))}
        />
      </label>
      {above?.(close)}
      {found.length === 0 && <div class="note">Nothing of that name.</div>}
      <div style={{ height: `${Math.min(ROWS, Math.max(1, found.length)) * ROW}px` }}>
        <VirtualList
          id="choice-list"
          class="choice-list"
          role="listbox"
          label={find}
          items={found}
          keyOf={(one) => one.key}
          lineHeight={ROW}
          cursor={cursor}
          reveal={now}
          onCursor={setCursor}
          onKey={(e, one) => {
            if (e.key !== "Enter" && e.key !== " ") return;
            e.preventDefault();
            if (one) pick(one.key);
          }}
          draw={(one) => (
            <div
              key={one.key}
              id={`choice-list-${one.key}`}
              class={one.key === cursor ? "mi on" : "mi"}
              role="option"
              aria-selected={one.key === now}
              onClick={() => pick(one.key)}
            >
              <span class="tick" aria-hidden="true">
                {one.key === now ? "✓" : ""}
              </span>
              {one.before !== undefined && <span class="t3 num before">{one.before}</span>}
              <span class="el sp" title={one.title}>
                {one.title}
              </span>
              {one.hint && <span class="t3 small num">{one.hint}</span>}
            </div>
          )}
        />
      </div>
    </div>
  );
}
