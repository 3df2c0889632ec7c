/** What a kernel computed, against the reference as far as it is known, and against the kernel without
 * optimizations on the same GPU. Pure. */
import type { ShaderExpected, Shaders } from "../data/messages/trials/shaders";
import type { Numeric } from "../data/messages/trials/workbench";
import { type Difference, difference, differenceAt } from "./values/difference";

/** JSON has no numbers for some. */
export const numberOf = (value: Numeric): number =>
  typeof value === "number" ? value : value === "nan" ? NaN : value === "inf" ? Infinity : -Infinity;

/** The numbers of the arguments that a kernel writes, in order. */
export const writtenBy = (kernel: Shaders): number[] =>
  kernel.arguments.filter((one) => one.written).map((one) => one.number);

/** How far beyond what it may: above 1 is wrong. */
export const excess = ({ error, allowed }: Difference): number =>
  error <= allowed ? error / Math.max(allowed, 1e-300) : 1 + error;

/** Of several outputs the one that differs most, beside what it may. */
export const worst = (all: readonly Difference[]): Difference =>
  all.reduce((a, b) => (excess(b) > excess(a) ? b : a));

export interface Judged {
  equal: boolean;
  worst: Difference;
  reference: string;
  detail: string;
}

/** What was computed, `got`, against both. */
export function judge(
  kernel: Shaders,
  got: readonly ArrayBuffer[],
  plain: readonly ArrayBuffer[],
): Judged {
  const written = writtenBy(kernel);
  const views = got.map((bytes) => new DataView(bytes));
  const known = (kernel.expected ?? []).filter(({ at }) => at.length > 0);
  const against = written.map((number, i) =>
    difference(views[i]!, new DataView(plain[i]!), kernel.arguments[number]!),
  );
  const exact = known.map((one) => ofReference(kernel, written, views, one));
  const all = [...exact, ...against];
  const furthest = worst(all);
  const equal = all.every(({ error, allowed }) => error <= allowed);
  const wrong = exact.some(({ error, allowed }) => error > allowed);
  const places = known.reduce((sum, one) => sum + one.at.length, 0);
  const compared = places
    ? `Compared with the reference's values at ${places.toLocaleString("en")} places, and with the kernel without optimizations on the same GPU.`
    : `Compared with the kernel without optimizations on the same GPU.${kernel.why ? ` The reference is not known: ${kernel.why}.` : ""}`;
  const where = equal
    ? ""
    : ` At element ${furthest.at.toLocaleString("en")} it is ${furthest.got} where ${furthest.wanted} is expected; ${furthest.differing.toLocaleString("en")} elements differ.`;
  return {
    equal,
    worst: furthest,
    reference: places && (wrong || equal) ? "REFERENCE" : "the kernel without optimizations",
    detail: compared + where,
  };
}

/** Against what is known of the reference's values. */
function ofReference(
  kernel: Shaders,
  written: readonly number[],
  views: readonly DataView[],
  { argument, at, values }: ShaderExpected,
): Difference {
  const view = views[written.indexOf(argument)]!;
  return differenceAt(view, at, values.map(numberOf), kernel.arguments[argument]!);
}
