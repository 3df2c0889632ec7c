/** Registers of the warp as a table, a column for each thread; and what the last step stored. */
import { useMemo } from "preact/hooks";
import type { Value, Walk } from "../../data/messages/emulation";
import { isActive, registersAfter, storedBy } from "./walk";
import { plural } from "../../state/format";
import { runToChange, steps } from "./store";

export function Registers({ walk }: { walk: Walk }) {
  const done = steps.value;
  const registers = useMemo(() => registersAfter(walk, done).reverse(), [walk, done]);
  const stored = useMemo(() => storedBy(walk, done), [walk, done]);
  const threads = Array.from({ length: walk.width }, (_, i) => i);
  const active = threads.map((t) => isActive(walk, done, t));
  return (
    <div class="registers" tabIndex={0} role="region" aria-label="Registers of the warp">
      {stored.map((m, i) => (
        <p class="stored t2" key={i}>
          <span class="badge mov">◆ stored</span> {m.bytes} bytes each of{" "}
          {plural(m.at.filter((at) => at !== null).length, "thread")} to{" "}
          <span class="mono">{m.argument || m.space}</span> at{" "}
          <span class="mono">{places(m.at)}</span>
        </p>
      ))}
      {registers.length === 0 ? (
        <p class="t2 stored">No register has a value yet: step forward.</p>
      ) : (
        <table class="num">
          <thead>
            <tr>
              <th>register</th>
              {threads.map((t) => (
                <th key={t} class={active[t] ? "r" : "r off"} title={active[t] ? "runs the next line" : "waits"}>
                  {t}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
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

const same = (values: readonly (Value | null)[]): boolean =>
  values.length > 1 && values[0] !== null && values.every((v) => v === values[0]);

function shown(value: Value | null): string {
  if (typeof value === "boolean") return value ? "1" : "0";
  if (typeof value !== "number" || Number.isInteger(value)) return `${value}`;
  return Math.abs(value) >= 1e5 || Math.abs(value) < 1e-4
    ? value.toExponential(3)
    : `${Number(value.toPrecision(6))}`;
}

/** "64, 68, 72 ... 188" */
function places(at: readonly (number | null)[]): string {
  const found = at.filter((x) => x !== null);
  if (found.length < 5) return found.join(", ");
  return `${found.slice(0, 3).join(", ")} … ${found.at(-1)}`;
}
