/** What the glyphs on the nodes mean: the groups of ops that occur in this pass. */
import { bundle } from "../../state/state";
import { OP_GROUPS, opGroup, type OpGroup } from "../../model/ops";
import { Menu } from "../../ui/over/Menu";

const SHAPES: Record<OpGroup, { d: string; colour: string; hollow?: boolean }> = {
  range: { d: "M9 5a4 4 0 1 1-8 0 4 4 0 0 1 8 0", colour: "range" },
  const: { d: "M1.5 1.5h7v7h-7z", colour: "const", hollow: true },
  arithmetic: { d: "M3 2q0-2 2-2t2 2v6q0 2-2 2T3 8z", colour: "alu" },
  memory: { d: "M3 0h4v10H3z", colour: "mem" },
  reduce: { d: "M0 1h10L5 10z", colour: "red" },
  movement: { d: "M3 2q0-2 2-2t2 2v6q0 2-2 2T3 8z", colour: "view" },
  control: { d: "M2 0h2v10H2zM6 0h2v10H6z", colour: "ctl" },
  device: { d: "M3 2q0-2 2-2t2 2v6q0 2-2 2T3 8z", colour: "dev" },
};

/** From so many groups on, a narrow pane has a button that opens the list of them. */
const MANY = 7;

export function Legend() {
  const b = bundle.value;
  if (!b) return null;
  const used = new Set(b.ops.map(opGroup));
  const groups = OP_GROUPS.filter((g) => used.has(g));
  return (
    <>
      <span class={groups.length < MANY ? "legend" : "legend many"}>
        {groups.map((g) => (
          <Swatch key={g} group={g} />
        ))}
      </span>
      <span class={groups.length < MANY ? "legend-menu" : "legend-menu many"}>
        <Menu label="Legend" class="link plain" button="Legend">
          {() => (
            <div class="pop legend-pop">
              {groups.map((g) => (
                <Swatch key={g} group={g} />
              ))}
            </div>
          )}
        </Menu>
      </span>
    </>
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
