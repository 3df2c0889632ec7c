/** The course of the run as shapes: what it did when, and the memory below it. Pure. */
import type { Activity, Part } from "../../../data/messages/overview";

/** From the bottom up. */
export const LAYERS = ["run", "compile", "schedule"] as const;
const WHOLE = 1000;

/** The shape of one part in a box of `bins` by 1000: what it took of each bin, on top of those below. */
export function layerPath(strip: Activity["strip"], layer: (typeof LAYERS)[number]): string {
  const below = LAYERS.slice(0, LAYERS.indexOf(layer));
  const parts: string[] = [];
  strip[layer].forEach((share, bin) => {
    if (share <= 0) return;
    const under = below.reduce((sum, name) => sum + (strip[name][bin] ?? 0), 0);
    const top = Math.max(0, WHOLE - under - share);
    parts.push(`M${bin} ${top}h1V${WHOLE - under}h-1Z`);
  });
  return parts.join("");
}

/** The shape of memory in a box of `bins` by 1000, which the peak fills. */
export function memoryPath(memory: readonly number[], peak: number): string {
  if (!memory.length || peak <= 0) return "";
  const tops = memory.map((held, bin) => {
    const top = Math.round(WHOLE * (1 - held / peak));
    return `${bin ? "" : `M0 ${WHOLE}`}V${top}h1`;
  });
  return `${tops.join("")}V${WHOLE}Z`;
}

/** The bin under a place, 0 to 1 from the left. */
export function binAt(activity: Activity, place: number): number {
  const bins = activity.strip.run.length;
  return Math.max(0, Math.min(bins - 1, Math.floor(place * bins)));
}

const AROUND = 4;

/** The stretch of time to look at for a bin: itself and some on each side. */
export function stretchOf(activity: Activity, bin: number): [number, number] {
  const width = activity.end / activity.strip.run.length;
  return [Math.max(0, (bin - AROUND) * width), Math.min(activity.end, (bin + 1 + AROUND) * width)];
}

/** The shares of the parts in a bin, largest first, without those that are not there. */
export function sharesIn(activity: Activity, bin: number): { kind: Part; share: number }[] {
  const known = LAYERS.map((kind) => ({ kind, share: (activity.strip[kind][bin] ?? 0) / WHOLE }));
  const rest = Math.max(0, 1 - known.reduce((sum, { share }) => sum + share, 0));
  return [...known, { kind: "rest" as const, share: rest }]
    .filter(({ share }) => share >= 0.005)
    .sort((a, z) => z.share - a.share);
}
