/** What the glyphs on nodes and the signs beside names mean. */
import { OP_GROUPS, type OpGroup } from "../../model/ops";
import { Sheet } from "../../ui/over/Sheet";

const SHAPES: Record<OpGroup, { d: string; colour: string; hollow?: boolean }> = {
  range: { d: "M9 5a4 4 0 1 1-8 0 4 4 0 0 1 8 0", colour: "range" },
  const: { d: "M1.5 1.5h7v7h-7z", colour: "const", hollow: true },
  arithmetic: { d: "M3 2q0-2 2-2t2 2v6q0 2-2 2T3 8z", colour: "alu" },
  memory: { d: "M3 0h4v10H3z", colour: "mem" },
  reduce: { d: "M0 1h10L5 10z", colour: "red" },
  movement: { d: "M3 2q0-2 2-2t2 2v6q0 2-2 2T3 8z", colour: "view" },
  control: { d: "M2 0h2v10H2zM6 0h2v10H6z", colour: "ctl" },
  device: { d: "M3 2q0-2 2-2t2 2v6q0 2-2 2T3 8z", colour: "dev" },
  other: { d: "M3 2q0-2 2-2t2 2v6q0 2-2 2T3 8z", colour: "other" },
};

const STATES = [
  ["add", "+", "added by the step"],
  ["del", "−", "removed by the step"],
  ["mov", "◆", "kept, with another source"],
] as const;

const CHECKED = [
  ["cadd", "✓", "proved, for all inputs"],
  ["cmov", "~", "sampled, for some inputs"],
  ["cdel", "≠", "differs"],
  ["t3", "○", "not checked"],
] as const;

export function Legend() {
  return (
    <Sheet label="What shapes and colours mean">
      <div class="cols">
        <section>
          <h3>Kinds of nodes</h3>
          {OP_GROUPS.map((g) => (
            <div class="line" key={g}>
              <Swatch group={g} />
            </div>
          ))}
        </section>
        <section>
          <h3>What a step does</h3>
          {STATES.map(([kind, sign, words]) => (
            <div class="line" key={kind}>
              <span class={`badge ${kind}`}>{sign}</span> {words}
            </div>
          ))}
        </section>
        <section>
          <h3>Whether steps are right</h3>
          {CHECKED.map(([tint, sign, words]) => (
            <div class="line" key={sign}>
              <span class={`${tint} b`}>{sign}</span> {words}
            </div>
          ))}
        </section>
      </div>
    </Sheet>
  );
}

function Swatch({ group }: { group: OpGroup }) {
  const { d, colour, hollow } = SHAPES[group];
  const paint = `var(--o-${colour})`;
  return (
    <span class="sw">
      <svg width="10" height="10" aria-hidden="true">
        <path
          d={d}
          style={hollow ? { fill: "none", stroke: paint, strokeWidth: "2px" } : { fill: paint }}
        />
      </svg>
      {group}
    </span>
  );
}
