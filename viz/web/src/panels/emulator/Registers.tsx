/** Registers of the warp as a table, a column for each thread; above them what the last step stored. */
import { useMemo } from "preact/hooks";
import type { Value, Walk } from "../../data/messages/emulation";
import { runToChange, steps } from "../../parts/emulation/store";
import {
  isActive,
  registersAfter,
  storedBy,
  type Cell,
  type Memory,
} from "../../parts/emulation/walk";
import { plural } from "../../state/format";

export function Registers({ walk }: { walk: Walk }) {
  const done = steps.value;
  const registers = useMemo(() => registersAfter(walk, done).reverse(), [walk, done]);
  const stored = useMemo(() => storedBy(walk, done), [walk, done]);
  const threads = Array.from({ length: walk.width }, (_, i) => i);
  const active = threads.map((t) => isActive(walk, done, t));
  const mine = stored.filter((m) => m.mine);
  return (
    <div class="registers scrollx" tabIndex={0} role="region" aria-label="Registers of the warp">
      {stored
        .filter((m) => !m.mine)
        .map((m, i) => (
          <p class="stored t2" key={i}>
            <span class="badge mov">◆ stored</span> by other warps: {plural(m.cells.size, "thread")}{" "}
            of them, to <span class="mono">{places(m)}</span>
          </p>
        ))}
      {!registers.length && !mine.length ? (
        <p class="t2 stored">No register has a value yet: step forward.</p>
      ) : (
        <table class="num">
          <thead>
            <tr>
              <th>thread</th>
              {threads.map((t) => (
                <th
                  key={t}
                  class={active[t] ? "r" : "r off"}
                  title={active[t] ? "runs the next line" : "waits, or skips the next line"}
                >
                  {walk.first + t}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {mine.map((m, i) => (
              <tr key={`stored ${i}`} class="changed">
                <th class="mono" title={places(m)}>
                  <span class="sig mov">◆</span> {m.argument || m.space}
                </th>
                {threads.map((t) => (
                  <Stored key={t} cell={m.cells.get(walk.first + t)} />
                ))}
              </tr>
            ))}
            {registers.map((r) => (
              <tr key={r.name} class={r.changed ? "changed" : undefined}>
                <th class="mono">
                  <button
                    type="button"
                    class="link"
                    title={`${r.kind}; go on to where it is written next`}
                    onClick={() => runToChange(r.name)}
                  >
                    {r.changed && <span class="sig mov">◆</span>}
                    {r.name}
                  </button>
                </th>
                {same(r.values) ? (
                  <td class="all mono" colSpan={walk.width} title={r.kind}>
                    {shown(r.values[0]!)} <span class="t3">in all threads</span>
                  </td>
                ) : (
                  r.values.map((v, t) => (
                    <td key={t} class={active[t] ? "r mono" : "r mono off"}>
                      {v === null ? "" : shown(v)}
                    </td>
                  ))
                )}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

/** What a thread stored: "1.5", with where and what was there before. */
function Stored({ cell }: { cell: Cell | undefined }) {
  if (!cell) return <td />;
  const all = (values: readonly Value[]): string => values.map(shown).join(", ");
  return (
    <td class="r mono" title={`${cell.place}: ${all(cell.before)} → ${all(cell.values)}`}>
      {all(cell.values)}
    </td>
  );
}

const same = (values: readonly (Value | null)[]): boolean =>
  values.length > 1 && values[0] !== null && values.every((v) => v === values[0]);

function shown(value: Value | null): string {
  if (typeof value === "boolean") return value ? "1" : "0";
  if (typeof value !== "number" || Number.isInteger(value)) return `${value}`;
  return Math.abs(value) >= 1e5 || Math.abs(value) < 1e-4
    ? value.toExponential(3)
    : `${Number(value.toPrecision(6))}`;
}

/** "data0[0], data0[1], data0[2] … data0[31]" */
function places({ cells }: Memory): string {
  const found = [...cells.values()].map((cell) => cell.place);
  if (found.length < 5) return found.join(", ");
  return `${found.slice(0, 3).join(", ")} … ${found.at(-1)}`;
}
