/**
 * One step as text: a line per node, sources above their users, aligned by slot. A node that was
 * only rebuilt because something below it changed is the same line, as it is the same box in the
 * picture; so the diff has the size of the change. The order is linear in the graph; lines are put
 * together where something changed, the others when they are read. Pure.
 */
import { argOf, dtypeOf, opOf, uidOf } from "../../model/content";
import type { Replay } from "../../model/replay";

export class DiffLine {
  constructor(
    readonly kind: "same" | "del" | "add",
    private readonly graph: Replay,
    private readonly slot: number,
  ) {}

  /** "u131 = ADD(u12, u130)  int32", as long as the graph stands where it stood. */
  get text(): string {
    const { graph, slot } = this;
    const b = graph.bundle;
    const c = graph.nodeOf(slot);
    const sources = graph.srcOf(slot).map((s) => uidOf(b, graph.nodeOf(s)));
    const inside = [...sources, argOf(b, c)].filter(Boolean);
    return `${uidOf(b, c)} = ${opOf(b, c)}(${inside.join(", ")})  ${dtypeOf(b, c)}`.trimEnd();
  }
}

/** Lines of both graphs in one order: those of the graph before, those of the graph after. */
export function textDiff(before: Replay, after: Replay): DiffLine[] {
  const lines: DiffLine[] = [];
  for (const slot of sourcesFirst(before, after)) {
    const was = before.has(slot);
    const is = after.has(slot);
    if (was && is && isSame(before, after, slot)) lines.push(new DiffLine("same", after, slot));
    else {
      if (was) lines.push(new DiffLine("del", before, slot));
      if (is) lines.push(new DiffLine("add", after, slot));
    }
  }
  return lines;
}

/** Does the slot say the same in both, apart from the numbers of nodes? */
function isSame(before: Replay, after: Replay, slot: number): boolean {
  if (before.version[slot] === after.version[slot]) return true;
  const { op, arg, dtype } = after.bundle.nodes;
  const [old, now] = [before.nodeOf(slot), after.nodeOf(slot)];
  if (op[old] !== op[now] || arg[old] !== arg[now] || dtype[old] !== dtype[now]) return false;
  const [from, to] = [before.srcOf(slot), after.srcOf(slot)];
  return from.length === to.length && from.every((s, i) => s === to[i]);
}

/** All slots of both graphs, each after its sources in either, as far as that is possible. */
function sourcesFirst(before: Replay, after: Replay): number[] {
  const order: number[] = [];
  const seen = new Set<number>();
  const sources = (slot: number): readonly number[] => [
    ...before.srcOf(slot),
    ...after.srcOf(slot),
  ];
  const present = (slot: number): boolean => before.has(slot) || after.has(slot);
  const roots = new Set([...before.slots(), ...after.slots()]);
  for (const root of roots) {
    if (seen.has(root)) continue;
    seen.add(root);
    // An explicit stack: graphs are deeper than the language's own.
    const stack = [{ slot: root, src: sources(root), next: 0 }];
    while (stack.length) {
      const top = stack.at(-1)!;
      const source = top.src[top.next++];
      if (source === undefined) {
        order.push(top.slot);
        stack.pop();
      } else if (!seen.has(source) && present(source)) {
        seen.add(source);
        stack.push({ slot: source, src: sources(source), next: 0 });
      }
    }
  }
  return order;
}
