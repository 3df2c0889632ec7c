/** The rule's pattern as a small graph; a named node lights what it bound in the big one. */
import { select } from "../../state/actions";
import { bindSlots } from "../../model/bindings";
import { short } from "../../state/format";
import { bundle, currentStep, sides } from "../../state/state";
import { lit } from "../../state/stage";
import { walkButtons } from "../walkButtons";
import type { Pat } from "../../data/messages/rule";
import { argOf, opOf, rangesOf, uidOf } from "../../model/content";
import { PatternDrawing } from "./PatternDrawing";
import { layoutPattern } from "./patternLayout";

interface PatternProps {
  pattern: Pat;
  /** Whether the current step is a match of it. */
  matched: boolean;
}

export function PatternView({ pattern, matched }: PatternProps) {
  const d = layoutPattern(pattern);
  const at = currentStep.value;
  const both = sides.value;
  const slots = matched && at && both ? bindSlots(at, both.before) : [];
  const lightFor = (name: string | null): void => {
    lit.value = name === null ? [] : slots.filter(([n]) => n === name).map(([, s]) => s);
  };
  return (
    <div class={d.width > 190 ? "pat wide-pat" : "pat"}>
      <PatternDrawing
        pattern={pattern}
        drawing={d}
        onPoint={(n) => lightFor(n === null ? null : n.name)}
      />
      {matched && <Bindings slots={slots} lightFor={lightFor} />}
    </div>
  );
}

interface BindingsProps {
  slots: [string, number][];
  lightFor: (name: string | null) => void;
}

/** Name, node and what it is; a click selects it in the graph. */
function Bindings({ slots, lightFor }: BindingsProps) {
  const b = bundle.value;
  const at = currentStep.value;
  if (!b || !at) return null;
  if (!at.binds.length) return <span class="t3">The pattern has no named nodes.</span>;
  return (
    <dl class="binds" aria-label="Bound names" onKeyDown={walkButtons}>
      {at.binds.map(([name, c]) => {
        const slot = slots.find(([n]) => n === name)?.[1];
        const lo = b.nodes.lo[c] ?? "";
        const hi = b.nodes.hi[c] ?? "";
        const more = [
          short(argOf(b, c), 40),
          lo && lo !== hi ? `${lo}..${hi}` : "",
          rangesOf(b, c),
        ];
        return (
          <>
            <dt class="mono acc b">{short(name, 24)}</dt>
            <dd class="mono">
              <button
                type="button"
                class="bindrow"
                disabled={slot === undefined}
                onPointerEnter={() => lightFor(name)}
                onPointerLeave={() => lightFor(null)}
                onFocus={() => lightFor(name)}
                onBlur={() => lightFor(null)}
                onClick={() => slot !== undefined && select(slot)}
              >
                {uidOf(b, c)} {opOf(b, c)}
                <br />
                <span class="t3">{more.filter(Boolean).join(", ")}</span>
              </button>
            </dd>
          </>
        );
      })}
    </dl>
  );
}
