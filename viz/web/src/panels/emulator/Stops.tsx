/** Conditions to stop at: written, listed, and which of them has come true here. */
import { useRef, useState } from "preact/hooks";
import { LONGEST_CONDITION } from "../../parts/emulation/condition";
import {
  addCondition,
  emulation,
  goTo,
  removeCondition,
  steps,
  stops,
  written,
  type Written,
} from "../../parts/emulation/store";
import { count, plural } from "../../state/format";
import { Icon } from "../../ui/Icon";

/** Where the field is, for the command that goes to it. */
export const FIELD = "emulator-stop-when";

export function Stops() {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const walk = emulation.value?.walk;
  if (!walk) return null;
  const example = walk.arguments[0]?.[0] ?? "data0";
  const add = (): void => {
    const wrong = addCondition(text);
    setProblem(wrong);
    if (wrong) field.current?.focus();
    else setText("");
  };
  return (
    <div class="stops">
      <form
        class="row g4"
        onSubmit={(e) => {
          e.preventDefault();
          add();
        }}
      >
        <label class="row g4 nw" for={FIELD}>
          Stop when
        </label>
        <input
          id={FIELD}
          ref={field}
          class="mono"
          placeholder={`${registerOf(walk.names)} == 0, or ${example}[5] changes`}
          title={
            "A register or an element of memory, then changes, written, or a comparison. " +
            `thread ${walk.first}: in front of it for one thread.`
          }
          spellcheck={false}
          autocomplete="off"
          maxLength={LONGEST_CONDITION + 1}
          aria-invalid={problem !== ""}
          aria-describedby={problem ? `${FIELD}-problem` : undefined}
          value={text}
          onInput={(e) => {
            setText(e.currentTarget.value);
            setProblem("");
          }}
        />
        <button type="submit" class="btn sm" disabled={!text.trim()}>
          Add
        </button>
      </form>
      {problem && (
        <span class="cdel" id={`${FIELD}-problem`} role="alert">
          <span class="sig del">!</span> {problem}
        </span>
      )}
      <ul class="row g4">
        {written.value.map((w, at) => (
          <Chip key={w.text} w={w} at={at} />
        ))}
      </ul>
      {walk.known !== null && written.value.some((w) => w.condition?.place.kind === "memory") && (
        <span class="t2">
          what other warps store is known for the first {plural(walk.known, "step")} only
        </span>
      )}
    </div>
  );
}

/** One condition: how often it comes true, whether it has just done so. */
function Chip({ w, at }: { w: Written; at: number }) {
  const mine = stops.value.filter((stop) => stop.condition === at);
  const now = mine.find((stop) => stop.steps === steps.value);
  const next = mine.find((stop) => stop.steps > steps.value) ?? mine[0];
  return (
    <li class={now ? "badge mov" : w.condition ? "badge" : "badge del"}>
      {now && <span class="sig mov">◆</span>}
      <button
        type="button"
        class="link mono"
        disabled={!next}
        title={w.problem || "Go on to where it comes true"}
        onClick={() => next && goTo(next.steps)}
      >
        {w.text}
      </button>
      <span class="num nw" role={now ? "status" : undefined}>
        {w.problem ? "! not in this text" : now ? `thread ${now.thread}` : `${count(mine.length)}×`}
      </span>
      <button
        type="button"
        class="btn sm ico quiet"
        aria-label={`Remove ${w.text}`}
        onClick={() => removeCondition(at)}
      >
        <Icon name="close" />
      </button>
    </li>
  );
}

/** A register to show how a condition is written. */
const registerOf = (names: readonly string[]): string =>
  names.find((name) => /^%[fv]\d/.test(name)) ?? names.find((name) => name !== "_") ?? "%r0";
