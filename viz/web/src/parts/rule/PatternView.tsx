/** The rule's pattern as a small graph; a named node lights what it bound in the big one. */
import { select } from "../../state/actions";
import { bindSlots } from "../../model/bindings";
import { count, short } from "../../state/format";
import { bundle, currentStep, sides } from "../../state/state";
import { lit } from "../../state/stage";
import { walkButtons } from "../walkButtons";
import type { Pat } from "../../data/messages/rule";
import { argOf, opOf, rangesOf, uidOf } from "../../model/content";
import { badgeWidth, layoutPattern, NOTE_CHAR, type PatNode } from "./patternLayout";
import { dtypeWords, opWords, sourceWords } from "./patternWords";

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
      <div class="scrollx">
        <svg
          width={d.width}
          height={d.height}
          viewBox={`0 0 ${d.width} ${d.height}`}
          role="img"
          aria-label={patternWords(pattern)}
        >
          {d.edges.map((e, i) => {
            const mid = (e.y2 - e.y1) * 0.6;
            return (
              <path
                key={i}
                d={`M${e.x1} ${e.y1}C${e.x1} ${e.y1 + mid} ${e.x2} ${e.y2 - mid} ${e.x2} ${e.y2}`}
              />
            );
          })}
          {d.nodes.map((n, i) => (
            <Node key={i} n={n} lightFor={lightFor} />
          ))}
        </svg>
        {d.left > 0 && (
          <div class="t3 small">{count(d.left)} more nodes of the pattern not drawn</div>
        )}
      </div>
      {matched && <Bindings slots={slots} lightFor={lightFor} />}
    </div>
  );
}

function Node({ n, lightFor }: { n: PatNode; lightFor: (name: string | null) => void }) {
  const note = n.note.length * NOTE_CHAR;
  const badge = badgeWidth(n.badge);
  const second = note + badge + (note && badge ? 6 : 0);
  const left = n.x - second / 2;
  const kinds = [n.kind, n.name && n.kind === "op" ? "bound" : ""].join(" ");
  return (
    <g class={kinds} onPointerEnter={() => lightFor(n.name)} onPointerLeave={() => lightFor(null)}>
      <rect
        x={n.x - n.width / 2}
        y={n.y - n.height / 2}
        width={n.width}
        height={n.height}
        rx={n.kind === "op" ? 5 : 11}
      />
      <text x={n.x} y={n.y + (second ? -4 : 4)}>
        {n.kind === "op" && n.name ? (
          <>
            <tspan class="acc-fill">{short(n.name, 24)}</tspan> {n.text}
          </>
        ) : (
          n.text
        )}
      </text>
      {n.note && (
        <text class="note" x={left + note / 2} y={n.y + 12}>
          {n.note}
        </text>
      )}
      {n.badge && (
        <g class="badge-in">
          <rect x={left + second - badge} y={n.y + 2} width={badge} height={14} rx={3} />
          <text class="note" x={left + second - badge / 2} y={n.y + 12}>
            {n.badge}
          </text>
        </g>
      )}
    </g>
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

function patternWords(pat: Pat, depth = 0): string {
  const what = opWords(pat.op) || pat.name || "any node";
  const self = [what, dtypeWords(pat.dtype)].filter(Boolean).join(" of ");
  if (depth > 4 || pat.src.kind === "any") return self;
  const sources = pat.src.kind === "repeat" ? [pat.src.of] : pat.src.of;
  const how = sourceWords(pat);
  const words = sources.map((s) => patternWords(s, depth + 1)).join(" and ");
  return `${self} with ${words}${how ? `, ${how}` : ""}`;
}
