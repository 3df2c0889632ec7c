/** Every register of the warp, to choose which have a column whatever the instruction uses. */
import { useState } from "preact/hooks";
import { runToChange } from "../../../parts/emulation/stepping";
import type { Register } from "../../../parts/emulation/walk";
import { count } from "../../../state/format";
import { onSearchKeys } from "../../../state/regions";
import { Icon } from "../../../ui/Icon";
import { Menu } from "../../../ui/over/Menu";
import { VirtualList } from "../../../ui/VirtualList";
import { pick, picked, shown } from "./shown";

const ROW = 26;
const ROWS = 12;

export function Choose({ registers, rest }: { registers: readonly Register[]; rest: number }) {
  const chosen = picked.value.size;
  return (
    <Menu
      label="Choose registers"
      class="btn sm quiet nw"
      title={rest ? `${count(rest)} more registers have no room here` : "Choose registers"}
      button={
        <>
          Choose
          {chosen > 0 && <span class="acc num">{count(chosen)}</span>}
          {rest > 0 && <span class="t3 num">{count(rest)} more</span>}
          <Icon name="down" />
        </>
      }
    >
      {() => <Body registers={registers} />}
    </Menu>
  );
}

function Body({ registers }: { registers: readonly Register[] }) {
  const [query, ask] = useState("");
  const [cursor, setCursor] = useState<string | null>(null);
  const found = registers.filter((r) => r.name !== "_" && r.name.includes(query.trim()));
  const search = (text: string): void => {
    ask(text);
    setCursor(null);
  };
  return (
    <div class="choose">
      <input
        type="search"
        aria-label="Find a register"
        placeholder="Find a register"
        spellcheck={false}
        value={query}
        aria-controls="choose-register"
        onInput={(e) => search(e.currentTarget.value)}
        onKeyDown={onSearchKeys("choose-register", query, () => search(""))}
      />
      <div class="note row">
        <span class="sp">Ticked ones always have a column.</span>
        {picked.value.size > 0 && (
          <button type="button" class="link" onClick={() => (picked.value = new Set())}>
            Choose none
          </button>
        )}
      </div>
      {!found.length && <div class="note">No register of that name has a value yet.</div>}
      <div style={{ height: `${Math.min(ROWS, found.length) * ROW}px` }}>
        <VirtualList<Register>
          id="choose-register"
          class="tree mono"
          role="listbox"
          label="Registers"
          items={found}
          keyOf={(r) => `${r.number}`}
          lineHeight={ROW}
          cursor={cursor}
          reveal={null}
          onCursor={setCursor}
          onKey={(e, r) => {
            if (!r || (e.key !== "Enter" && e.key !== " ")) return;
            e.preventDefault();
            pick(r.name);
          }}
          draw={(r, i) => (
            <div
              key={r.number}
              id={`choose-register-${r.number}`}
              class={cursor === `${r.number}` ? "trow cur" : "trow"}
              style={{ top: `${i * ROW}px` }}
              role="option"
              aria-selected={picked.value.has(r.name)}
              onClick={() => pick(r.name)}
            >
              <span class="tick" aria-hidden="true">
                {picked.value.has(r.name) ? "✓" : ""}
              </span>
              <span class="el sp" title={r.name}>
                {r.name}
              </span>
              <span class="t3 el value">{r.kind}</span>
              <span class="el value num">{valueOf(r)}</span>
              <button
                type="button"
                class="btn sm ico quiet"
                tabIndex={-1}
                aria-label={`Go on to where ${r.name} is written next`}
                title="Go on to where it is written next"
                onClick={(e) => {
                  e.stopPropagation();
                  runToChange(r.number);
                }}
              >
                <Icon name="on" />
              </button>
            </div>
          )}
        />
      </div>
    </div>
  );
}

/** Its value, where all lanes have one; else how many there are. */
function valueOf({ values }: Register): string {
  const different = new Set(values.filter((v) => v !== null));
  return different.size === 1 ? shown([...different][0]!) : `${count(different.size)} values`;
}
