/** Figures of both sides and their ratios. */
import { count, micros, microsRange, short } from "../../../state/format";
import { figureOf, rateOf } from "../../../parts/ratio";
import { digits, speedOf } from "../../../parts/speed";
import type { BenchSide, Workbench } from "../../../data/messages/trials/workbench";
import { bench } from "../data/bench";
import { numberOf, saidOf } from "./words";

interface Line {
  name: string;
  original: string;
  edited: string;
  /** "0.78×"; "" for none. */
  ratio: string;
  tint: string;
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
              <td class={`r b ${line.tint}`}>{line.ratio}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const NAMES = ["Median", "p10 to p90", "Throughput", "Bandwidth", "Registers", "Code size"];
const NOTHING: readonly Line[] = NAMES.map((name) => ({
  name,
  original: "",
  edited: "",
  ratio: "",
  tint: "",
}));

const rangeOf = ({ p10, p90 }: { p10: number; p90: number }): string => microsRange(p10, p90);

/** What is known of both; the first lines are always the same ones. */
function linesOf(found: Workbench): Line[] {
  const { original: a, edited: b } = found;
  const lines: Line[] = [];
  const add = (name: string, x: string, y: string, ratio = "", tint = ""): unknown =>
    lines.push({ name, original: x, edited: y, ratio, tint });
  const t = found.times;
  const said = saidOf(found);
  if (t) {
    const [us, nu] = [t.original.median, t.edited.median];
    add("Median", micros(us), micros(nu), said?.figure, said?.tint);
    add("p10 to p90", rangeOf(t.original), rangeOf(t.edited));
    const [old, now] = [us, nu].map((n) => speedOf(found.flops, found.bytes, n, undefined));
    const rate = figureOf(rateOf(t));
    const rates = (name: string, x: number, y: number, unit: string): unknown =>
      add(name, `${digits(x)} ${unit}`, `${digits(y)} ${unit}`, rate, said?.tint);
    if (found.flops > 0) rates("Throughput", old!.gflops, now!.gflops, "GFLOP/s");
    if (found.bytes > 0) rates("Bandwidth", old!.gbytes, now!.gbytes, "GB/s");
  } else {
    const ran = (side: BenchSide): string => count(side.instructions ?? 0);
    add("Instructions run", ran(a), ran(b), said?.figure, said?.tint);
  }
  const fact = (name: string, pattern: RegExp, unit = ""): void => {
    const [x, y] = [a, b].map((side) => side.facts.find((f) => pattern.test(f.name))?.value);
    if (x === undefined && y === undefined) return;
    const [n, m] = [a, b].map((side) => numberOf(side.facts, pattern));
    const ratio = n && m !== null && m !== undefined ? figureOf(m / n) : "";
    const text = (value: string | undefined): string =>
      value === undefined ? "not known" : short(`${value}${unit}`, 40);
    add(name, text(x), text(y), ratio);
  };
  fact("Registers", /^(registers|vgprs)$/);
  fact("Spills", /spill stores|^vgpr spills$/);
  fact("Shared memory", /^(shared bytes|lds bytes)$/, " B");
  fact("Occupancy", /^occupancy$/);
  fact("Code size", /^instructions$/, " instr.");
  return lines;
}
