/** Figures of both sides and their ratios. */
import { count, micros, microsRange, short } from "../../../state/format";
import { isNoise, timesWord, TINTS } from "../../../parts/ratio";
import { digits, speedOf } from "../../../parts/speed";
import type { BenchSide, Workbench } from "../../../data/messages/trials/workbench";
import { bench } from "../bench";
import { numberOf, ratioOf } from "./words";

interface Line {
  name: string;
  original: string;
  edited: string;
  /** null: there is none. */
  ratio: number | null;
  /** Whether a smaller figure is better; null: neither is. */
  less: boolean | null;
}

export function Compared() {
  const found = bench.value?.result ?? null;
  return (
    <section class="card" aria-label="Original and edited compared">
      <table class="num wb-compared">
        <thead>
          <tr>
            <th />
            <th class="r">Original</th>
            <th class="r">Edited</th>
            <th class="r">Ratio</th>
          </tr>
        </thead>
        <tbody>
          {(found ? linesOf(found) : NOTHING).map((line) => (
            <tr key={line.name}>
              <td class="t2">{line.name}</td>
              <td class="r el" title={line.original}>
                {line.original}
              </td>
              <td class="r el" title={line.edited}>
                {line.edited}
              </td>
              <td class="r b">{line.ratio !== null && <Ratio {...line} ratio={line.ratio} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Ratio({ ratio, less }: { ratio: number; less: boolean | null }) {
  const { text, is } = timesWord(ratio, less ?? true);
  return <span class={less === null ? undefined : TINTS[is]}>{text}</span>;
}

const NAMES = ["Median", "p10 to p90", "Throughput", "Bandwidth", "Registers", "Code size"];
const NOTHING: readonly Line[] = NAMES.map((name) => ({
  name,
  original: "",
  edited: "",
  ratio: null,
  less: null,
}));

const rangeOf = ({ p10, p90 }: { p10: number; p90: number }): string => microsRange(p10, p90);

/** What is known of both; the first lines are always the same ones. */
function linesOf(found: Workbench): Line[] {
  const { original: a, edited: b } = found;
  const lines: Line[] = [];
  const add = (name: string, x: string, y: string, ratio: number | null, less: boolean | null) =>
    lines.push({ name, original: x, edited: y, ratio, less });
  const t = found.times;
  if (t) {
    const [us, nu] = [t.original.median, t.edited.median];
    add("Median", micros(us), micros(nu), t.ratio, isNoise(t) ? null : true);
    add("p10 to p90", rangeOf(t.original), rangeOf(t.edited), null, null);
    const [old, now] = [us, nu].map((n) => speedOf(found.flops, found.bytes, n, undefined));
    const faster = nu > 0 ? us / nu : null;
    const more = isNoise(t) ? null : false; // better
    if (found.flops > 0)
      add(
        "Throughput",
        `${digits(old!.gflops)} GFLOP/s`,
        `${digits(now!.gflops)} GFLOP/s`,
        faster,
        more,
      );
    if (found.bytes > 0)
      add("Bandwidth", `${digits(old!.gbytes)} GB/s`, `${digits(now!.gbytes)} GB/s`, faster, more);
  } else {
    const said = (side: BenchSide): string => count(side.instructions ?? 0);
    add("Instructions run", said(a), said(b), ratioOf(found), true);
  }
  const fact = (name: string, pattern: RegExp, unit = "", less: boolean | null = null): void => {
    const [x, y] = [a, b].map((side) => side.facts.find((f) => pattern.test(f.name))?.value);
    if (x === undefined && y === undefined) return;
    const [n, m] = [a, b].map((side) => numberOf(side.facts, pattern));
    const ratio = n && m !== null && m !== undefined ? m / n : null;
    const text = (value: string | undefined): string =>
      value === undefined ? "not known" : short(`${value}${unit}`, 40);
    add(name, text(x), text(y), ratio, less);
  };
  fact("Registers", /^(registers|vgprs)$/);
  fact("Spills", /spill stores|^vgpr spills$/);
  fact("Shared memory", /^(shared bytes|lds bytes)$/, " B");
  fact("Occupancy", /^occupancy$/);
  fact("Code size", /^instructions$/, " instr.");
  return lines;
}
