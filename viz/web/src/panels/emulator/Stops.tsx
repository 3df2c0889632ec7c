/** Where the stepping stops: a chip for each line and each condition, and the field for another one. */
import { useRef, useState } from "preact/hooks";
import type { Walk } from "../../data/messages/emulation";
import { LONGEST_CONDITION } from "../../parts/emulation/condition";
import {
  addCondition,
  at,
  breakpoints,
  goTo,
  goToLine,
  line,
  removeCondition,
  stops,
  toggleBreakpoint,
  written,
  type Written,
} from "../../parts/emulation/stepping";
import { count, plural } from "../../state/format";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/over/Menu";
import { EMULATED } from "./text/Lines";

/** The button that opens the field, for the command that goes to it. */
export const STOP_WHEN = "emulator-stop-when";

export function Stops({ walk }: { walk: Walk }) {
  const lines = [...breakpoints.value].sort((a, b) => a - b);
  return (
    <div class="stops" role="group" aria-label="Stops">
      {lines.length + written.value.length > 0 && <span class="t2 nw">Stop at</span>}
      <ul class="row g6">
        {lines.map((of) => (
          <Chip
            key={of}
            text={`line ${count(of)}`}
            now={line.value === of}
            go={() => void goToLine(of)}
            remove={() => toggleBreakpoint(of)}
            title="Go on to its next instruction"
          />
        ))}
        {written.value.map((w, index) => (
          <ConditionChip key={w.text} w={w} index={index} />
        ))}
      </ul>
      <Menu
        id={STOP_WHEN}
        label="Stop when"
        class="chip"
        title="Stop where a register or memory changes"
        button="+ Stop when"
      >
        {(close) => <Field walk={walk} close={close} />}
      </Menu>
    </div>
  );
}

interface ChipProps {
  text: string;
  now: boolean;
  wrong?: boolean;
  title: string;
  /** Behind the text. */
  more?: string;
  go: (() => void) | null;
  remove: () => void;
}

function Chip({ text, now, wrong, title, more, go, remove }: ChipProps) {
  return (
    <li class={wrong ? "chip stop wrong" : now ? "chip stop on now" : "chip stop on"}>
      {now && <span class="sig mov">◆</span>}
      <button
        type="button"
        class="link mono"
        disabled={!go}
        title={title}
        onMouseDown={(e) => e.preventDefault()}
        onClick={() => go?.()}
      >
        {text}
      </button>
      {more && (
        <span class="num nw t2" role={now ? "status" : undefined}>
          {more}
        </span>
      )}
      <button type="button" class="btn sm ico quiet" aria-label={`Remove ${text}`} onClick={remove}>
        <Icon name="close" />
      </button>
    </li>
  );
}

/** One condition: how often it comes true, whether it does here. */
function ConditionChip({ w, index }: { w: Written; index: number }) {
  const mine = stops.value.filter((stop) => stop.condition === index);
  const now = mine.find((stop) => stop.at === at.value);
  const next = mine.find((stop) => stop.at > at.value) ?? mine[0];
  return (
    <Chip
      text={w.text}
      now={now !== undefined}
      wrong={!w.condition}
      title={w.problem || "Go on to where it comes true"}
      more={
        w.problem ? "! not in this text" : now ? `thread ${now.thread}` : `${count(mine.length)}×`
      }
      go={next ? () => goTo(next.at) : null}
      remove={() => removeCondition(index)}
    />
  );
}

/** Writes a condition. */
function Field({ walk, close }: { walk: Walk; close: () => void }) {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const example = walk.arguments[0]?.[0] ?? "data0";
  const add = (): void => {
    const wrong = addCondition(text);
    setProblem(wrong);
    if (wrong) return field.current?.focus();
    close();
    document.getElementById(EMULATED)?.focus(); // where Space goes on to the next stop
  };
  return (
    <form
      class="stop-when"
      onSubmit={(e) => {
        e.preventDefault();
        add();
      }}
    >
      <label for="emulator-condition">Stop when</label>
      <div class="row g6">
        <input
          id="emulator-condition"
          ref={field}
          class="mono"
          placeholder={`${registerOf(walk.names)} == 0, or ${example}[5] changes`}
          spellcheck={false}
          autocomplete="off"
          maxLength={LONGEST_CONDITION + 1}
          aria-invalid={problem !== ""}
          aria-describedby="emulator-condition-note"
          value={text}
          onInput={(e) => {
            setText(e.currentTarget.value);
            setProblem("");
          }}
        />
        <button type="submit" class="btn pri" disabled={!text.trim()}>
          Add
        </button>
      </div>
      <div id="emulator-condition-note">
        {problem ? (
          <span class="cdel" role="alert">
            <span class="sig del">!</span> {problem}
          </span>
        ) : (
          <span class="t2">
            A register or an element of memory, then changes, written, or a comparison. Begin with
            thread {walk.first}: for one thread.
          </span>
        )}
      </div>
      {walk.known !== null && (
        <div class="t2">
          What other warps store is known for the first {plural(walk.known, "instruction")} only.
        </div>
      )}
    </form>
  );
}

/** A register to show how a condition is written. */
const registerOf = (names: readonly string[]): string =>
  names.find((name) => /^%[fv]\d/.test(name)) ?? names.find((name) => name !== "_") ?? "%r0";
