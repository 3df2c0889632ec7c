/** What a pattern asks for, in few words: ops, dtypes, and how sources may lie. Pure. */
import { short } from "../../state/format";
import type { Pat, Rule } from "../../data/messages/rule";

const SETS: readonly (readonly [string, readonly string[]])[] = [
  ["ints", ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]],
  ["uints", ["uint8", "uint16", "uint32", "uint64"]],
  ["signed ints", ["int8", "int16", "int32", "int64"]],
  ["floats", ["fp8e4m3", "fp8e5m2", "float16", "bfloat16", "float32", "float64"]],
  ["fp8", ["fp8e4m3", "fp8e5m2"]],
];

/** Whether a trace says anything of the pattern: writers of other compilers may record none. */
export const isRecorded = (pat: Pat): boolean =>
  pat.op.length > 0 ||
  pat.dtype.length > 0 ||
  pat.name !== null ||
  pat.arg !== null ||
  pat.src.kind !== "any" ||
  (pat.anyOf?.length ?? 0) > 0;

/** Whether what is told as a rule is all of a pass of another compiler: it has neither pattern nor source. */
export const isPass = (rule: Rule): boolean =>
  !isRecorded(rule.pattern) && !rule.file && !rule.source;

/** "bool, ints": whole families by name, the others one by one; a count where they are many. */
export function dtypeWords(dtypes: readonly string[]): string {
  let left = [...new Set(dtypes)];
  const words: string[] = [];
  for (const [name, set] of SETS) {
    if (!set.every((dtype) => left.includes(dtype))) continue;
    words.push(name);
    left = left.filter((dtype) => !set.includes(dtype));
  }
  const all = [...left, ...words];
  return all.length > 3 ? `${short(all[0]!, 16)} or ${all.length - 1} more` : short(all.join(", "));
}

/** "MUL", "AND or OR", "ADD or 27 more". */
export function opWords(ops: readonly string[]): string {
  if (ops.length > 2) return `${short(ops[0]!, 20)} or ${ops.length - 1} more`;
  return short(ops.join(" or "), 32);
}

/** How the sources may lie, where that is not "these, in this order". */
export function sourceWords(pat: Pat): string {
  return [
    pat.src.kind === "permuted" ? "any order" : "",
    pat.src.kind === "repeat" ? "all sources" : "",
    pat.allowAny ? "more sources" : "",
    pat.among?.length ? `one of them ${opWords(pat.among)}` : "",
  ]
    .filter(Boolean)
    .join(", ");
}
