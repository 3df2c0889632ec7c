/** What optimisations of a kernel mean, in words. Pure. */
import { count } from "../../../state/format";

const OPT = /^([A-Z]+)\((.*)\)$/;

/** "UPCAST(0, 8)" -> "computes 8 elements of loop 0 at once" */
export function optWords(opt: string): string {
  const [, name, rest = ""] = OPT.exec(opt) ?? [];
  const [axis, amount] = rest.split(",").map((part) => part.trim());
  const n = Number(amount);
  const many = amount && Number.isInteger(n) && n > 0 ? count(n) : null;
  const whole = n === 0;
  switch (name) {
    case "UPCAST":
      return `computes ${many ?? "all"} elements of loop ${axis} at once`;
    case "UNROLL":
      return whole || !many
        ? `unrolls reduce loop ${axis} completely`
        : `unrolls reduce loop ${axis} by ${many}`;
    case "LOCAL":
      return `gives ${many ?? "some"} elements of loop ${axis} to the threads of a group`;
    case "GROUP":
    case "GROUPTOP":
      return `splits reduce loop ${axis} over ${many ?? "the"} threads of a group`;
    case "THREAD":
      return many ? `splits loop ${axis} over ${many} threads` : `splits loop ${axis} over threads`;
    case "SWAP":
      return `swaps loops ${axis} and ${amount}`;
    case "PADTO":
      return `pads loop ${axis} to a multiple of ${amount}`;
    case "TC":
      return /,\s*2\s*\)$/.test(rest)
        ? "splits loops as for tensor cores and multiplies lane by lane"
        : "multiplies matrices on tensor cores";
    case "NOLOCALS":
      return "uses no local memory";
    default:
      return opt;
  }
}

/** All of them as one sentence. */
export function optsSentence(opts: readonly string[]): string {
  const words = opts.map(optWords);
  const last = words.at(-1);
  if (last === undefined) return "The compiler applied no optimization.";
  const first = words.slice(0, -1).join(", ");
  return `The kernel ${first ? `${first}, and ` : ""}${last}.`;
}
