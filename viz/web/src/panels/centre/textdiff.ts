/**
 * A graph as text, one line per node with its sources first, and the difference of two such texts.
 * Lines are unique (each names its node), so the longest common part is a longest increasing run
 * of positions (patience diff without its recursion): exact, in n log n. Pure.
 */
import { argOf, dtypeOf, opOf, uidOf } from "../../model/content";
import type { Replay } from "../../model/replay";

export interface DiffLine {
  kind: "same" | "del" | "add";
  text: string;
}

/** "u131 = ADD(u12, u130)  int32", sources before users, roots in slot order. */
export function graphText(graph: Replay): string[] {
  const b = graph.bundle;
  const lines: string[] = [];
  const seen = new Set<number>();
  const name = (slot: number): string => uidOf(b, graph.nodeOf(slot));
  for (const root of graph.slots()) {
    // An explicit stack: graphs are deeper than the language's own.
    const stack: { slot: number; next: number }[] = seen.has(root) ? [] : [{ slot: root, next: 0 }];
    seen.add(root);
    while (stack.length) {
      const top = stack.at(-1)!;
      const source = graph.srcOf(top.slot)[top.next++];
      if (source === undefined) {
        stack.pop();
        const c = graph.nodeOf(top.slot);
        const inside = [...graph.srcOf(top.slot).map(name), argOf(b, c)].filter(Boolean).join(", ");
        lines.push(`${name(top.slot)} = ${opOf(b, c)}(${inside})  ${dtypeOf(b, c)}`.trimEnd());
      } else if (!seen.has(source) && graph.has(source)) {
        seen.add(source);
        stack.push({ slot: source, next: 0 });
      }
    }
  }
  return lines;
}

/** Lines of both texts in order: what only `a` has, what only `b` has, what both share. */
export function textDiff(a: readonly string[], b: readonly string[]): DiffLine[] {
  const inB = new Map(b.map((text, i) => [text, i]));
  const pairs = a.flatMap((text, i) => {
    const j = inB.get(text);
    return j === undefined ? [] : [[i, j] as const];
  });
  const out: DiffLine[] = [];
  let i = 0;
  let j = 0;
  const upTo = (ai: number, bj: number): void => {
    while (i < ai) out.push({ kind: "del", text: a[i++]! });
    while (j < bj) out.push({ kind: "add", text: b[j++]! });
  };
  for (const [ai, bj] of longestIncreasing(pairs)) {
    upTo(ai, bj);
    out.push({ kind: "same", text: a[ai]! });
    i = ai + 1;
    j = bj + 1;
  }
  upTo(a.length, b.length);
  return out;
}

/** The longest run of pairs (ascending in the first place) that ascends in the second place too. */
function longestIncreasing<T extends readonly [number, number]>(pairs: readonly T[]): T[] {
  const tails: number[] = [];
  const before = new Int32Array(pairs.length).fill(-1);
  pairs.forEach((pair, k) => {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (pairs[tails[mid]!]![1] < pair[1]) low = mid + 1;
      else high = mid;
    }
    if (low > 0) before[k] = tails[low - 1]!;
    tails[low] = k;
  });
  const run: T[] = [];
  for (let k = tails.at(-1) ?? -1; k >= 0; k = before[k]!) run.push(pairs[k]!);
  return run.reverse();
}
