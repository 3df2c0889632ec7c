/**
 * One step as text: a line per node, sources above their users, aligned by slot. A node that was
 * only rebuilt because something below it changed is the same line, as it is the same box in the
 * picture; so the diff has the size of the change. Linear in the graph. Pure.
 */
import { argOf, dtypeOf, opOf, uidOf } from "../../model/content";
import type { Replay } from "../../model/replay";

export interface DiffLine {
  kind: "same" | "del" | "add";
  text: string;
}

/** Lines of both graphs in one order: those of the graph before, those of the graph after. */
export function textDiff(before: Replay, after: Replay): DiffLine[] {
  const lines: DiffLine[] = [];
  for (const slot of sourcesFirst(before, after)) {
    const old = before.has(slot) ? line(before, slot) : null;
    const now = after.has(slot) ? line(after, slot) : null;
    if (old && now && old.key === now.key) lines.push({ kind: "same", text: now.text });
    else {
      if (old) lines.push({ kind: "del", text: old.text });
      if (now) lines.push({ kind: "add", text: now.text });
    }
  }
  return lines;
}

/** "u131 = ADD(u12, u130)  int32", and what has to be equal for two lines to be the same. */
function line(graph: Replay, slot: number): { text: string; key: string } {
  const b = graph.bundle;
  const c = graph.nodeOf(slot);
  const src = graph.srcOf(slot);
  const inside = [...src.map((s) => uidOf(b, graph.nodeOf(s))), argOf(b, c)].filter(Boolean);
  return {
    text: `${uidOf(b, c)} = ${opOf(b, c)}(${inside.join(", ")})  ${dtypeOf(b, c)}`.trimEnd(),
    key: [b.nodes.op[c], b.nodes.arg[c], b.nodes.dtype[c], ...src].join(),
  };
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
