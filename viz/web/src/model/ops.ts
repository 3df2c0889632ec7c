/**
 * What is known of ops, as the dialect of the run says it: the group that the page colours and marks
 * a node by, its short name, how it is written and folded.
 *
 * Lists no op: of one that no dialect tells of, nothing is known. Holds no colours: these are the
 * style sheet's.
 */
import type { Bundle, Dialect, OpWords } from "../data/messages/bundle";

/** Every group, in the order in which legends list them. */
export const OP_GROUPS = [
  "range",
  "const",
  "arithmetic",
  "memory",
  "reduce",
  "movement",
  "control",
  "device",
  "other",
] as const;
export type OpGroup = (typeof OP_GROUPS)[number];

const NOTHING: OpWords = {};
const tables = new WeakMap<Bundle, readonly OpWords[]>();

/** What a dialect says of an op by its name, or by the longest beginning of it that ends in a dot. */
export function wordsOf(dialect: Dialect | undefined, op: string): OpWords {
  const ops = dialect?.ops ?? {};
  if (Object.hasOwn(ops, op)) return ops[op]!;
  for (let end = op.lastIndexOf("."); end > 0; end = op.lastIndexOf(".", end - 1)) {
    const prefix = op.slice(0, end + 1);
    if (Object.hasOwn(ops, prefix)) return ops[prefix]!;
  }
  return NOTHING;
}

/** What is known of the op of a content. */
export function wordsAt(b: Bundle, c: number): OpWords {
  let table = tables.get(b);
  if (!table) tables.set(b, (table = b.ops.map((op) => wordsOf(b.dialect, op))));
  return table[b.nodes.op[c] ?? -1] ?? NOTHING;
}

/** The group of a content; that of an op that nothing is known of is "other". */
export function groupAt(b: Bundle, c: number): OpGroup {
  const group = wordsAt(b, c).group as OpGroup | undefined;
  return group !== undefined && OP_GROUPS.includes(group) ? group : "other";
}

/** The op's name where room is short: as its dialect says, else what stands behind the first dot. */
export const shortOp = (b: Bundle, op: string): string =>
  wordsOf(b.dialect, op).short ?? (op.slice(op.indexOf(".") + 1) || op);
