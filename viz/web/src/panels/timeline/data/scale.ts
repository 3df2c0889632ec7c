/** The stretch of time that is shown: zoom, pan, ticks. Pure. */

/** From and to, in microseconds. */
export type Stretch = readonly [number, number];

/** Nothing is shorter than a hundredth of a microsecond per screen. */
const SHORTEST = 0.01;

/** A stretch within the run, neither empty nor longer than it. */
export function bounded([from, to]: Stretch, end: number): Stretch {
  const length = Math.min(Math.max(to - from, SHORTEST), end);
  const start = Math.max(0, Math.min(from, end - length));
  return [start, start + length];
}

/** Shorter by `factor` around time `at`, which keeps its place. */
export function zoomed([from, to]: Stretch, factor: number, at: number, end: number): Stretch {
  const length = Math.min(Math.max((to - from) / factor, SHORTEST), end);
  const share = (at - from) / (to - from);
  return bounded([at - share * length, at + (1 - share) * length], end);
}

export function panned([from, to]: Stretch, by: number, end: number): Stretch {
  return bounded([from + by, to + by], end);
}

/** A stretch with `span` in it, with room on both sides. */
export function around(span: Stretch, end: number): Stretch {
  const room = Math.max((span[1] - span[0]) * 0.15, SHORTEST);
  return bounded([span[0] - room, span[1] + room], end);
}

/** Whether all of `span` can be seen. */
export const shows = (shown: Stretch, span: Stretch): boolean =>
  span[0] >= shown[0] && span[1] <= shown[1];

/** Round times at least `apart` pixels from each other. */
export function ticks([from, to]: Stretch, width: number, apart: number): number[] {
  const least = ((to - from) / Math.max(1, width)) * apart;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= least)!;
  const made: number[] = [];
  for (let i = Math.ceil(from / step); i * step <= to && made.length < 1000; i++)
    made.push(i * step);
  return made;
}

const UNITS = [
  ["s", 1e6],
  ["ms", 1e3],
  ["µs", 1],
  ["ns", 1e-3],
] as const;

/** A time as precise as `step` needs: "1.24 s", "620 ms". */
export function timeText(us: number, step: number): string {
  const [unit, size] = UNITS.find(([, s]) => Math.max(Math.abs(us), step) >= s) ?? UNITS[3];
  const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / size) + 1e-9)));
  return `${new Intl.NumberFormat("en", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(us / size)} ${unit}`;
}
