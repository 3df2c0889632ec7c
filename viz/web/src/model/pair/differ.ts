/**
 * What differs between any two states of a timeline: for two replays that go where they like.
 *
 * Looks again only at the slots that changed since it was asked last, so that going on costs the
 * size of the two steps and of what differs, never of the graph. Pure.
 */
import type { Bundle, OpWords } from "../../data/messages/bundle";
import { argOf, dtypeOf, opOf } from "../content";
import { type ChangeWords, compareEdges, type NodeChange, type StepDiff } from "../diff";
import { wordsAt } from "../ops";
import type { Replay } from "../replay";

/** In arguments: addresses of objects, which do not say what a node is. */
const ADDRESS = /0x[0-9a-f]{6,16}\b/g;

/** The argument of a node, as far as two runs can have it in common. */
export function commonArg({ counted, passing }: OpWords, arg: string): string {
  if (counted) return "";
  return (passing ? arg.replace(/^\S+/, "") : arg).replace(ADDRESS, "0x");
}

/** For each content, a number that is the same for equal op, type and argument. */
export function kindsOf(b: Bundle): Int32Array {
  const kinds = new Map<string, number>();
  const known = new Map<string, number>();
  return Int32Array.from(b.nodes.id, (_, c) => {
    const fields = `${b.nodes.op[c]} ${b.nodes.dtype[c]} ${b.nodes.arg[c]}`;
    let kind = known.get(fields);
    if (kind === undefined) {
      const op = opOf(b, c);
      const words = JSON.stringify([op, dtypeOf(b, c), commonArg(wordsAt(b, c), argOf(b, c))]);
      kind = kinds.get(words) ?? kinds.size;
      kinds.set(words, kind);
      known.set(fields, kind);
    }
    return kind;
  });
}

export class Differ {
  private readonly changes = new Map<number, NodeChange>();
  private seen: readonly [before: number, after: number] | null = null;

  /** `kinds`: as `kindsOf` gives them for the bundle of both replays. */
  constructor(
    private readonly before: Replay,
    private readonly after: Replay,
    private readonly kinds: Int32Array,
  ) {}

  /** What differs now; `focus` comes first of what the eye should go to. */
  diff(step: number, focus: readonly number[], words: ChangeWords): StepDiff {
    const { before, after } = this;
    const touched = this.refresh();
    const maps = { nodes: new Map(this.changes), before: new Map(), after: new Map() };
    const diff: StepDiff = { step, ...maps, failed: [], focus: [], result: focus[0] ?? -1, words };
    for (const s of diff.nodes.keys()) compareEdges(diff, s, before, after);
    const present = (s: number): boolean => before.has(s) || after.has(s);
    const fresh = touched.filter((s) => diff.nodes.has(s));
    diff.focus = [...new Set([...focus, ...fresh, ...diff.nodes.keys()])].filter(present);
    diff.result = diff.focus[0] ?? -1;
    return diff;
  }

  /** Looks at the slots that may have changed, and says which those were; the first time: none. */
  private refresh(): number[] {
    const { before, after, seen, changes } = this;
    const t = after.timeline;
    this.seen = [before.step, after.step];
    const touched = new Set<number>();
    let far = seen === null;
    if (seen)
      for (const [from, to] of [
        [seen[0], before.step],
        [seen[1], after.step],
      ] as const) {
        const first = t.madeFirst[Math.min(from, to) + 1]!;
        const last = t.madeFirst[Math.max(from, to) + 1]!;
        if (last - first > t.slots) far = true;
        else for (let i = first; i < last; i++) touched.add(t.slot[t.made[i]!]!);
      }
    if (far) {
      changes.clear();
      for (let s = 0; s < t.slots; s++) this.look(s);
      return [];
    }
    for (const s of touched) this.look(s);
    return [...touched];
  }

  private look(s: number): void {
    const change = this.changeOf(s);
    if (change === "same") this.changes.delete(s);
    else this.changes.set(s, change);
  }

  private changeOf(s: number): NodeChange {
    const { before, after, kinds } = this;
    const [was, is] = [before.nodeOf(s), after.nodeOf(s)];
    if (was < 0) return is < 0 ? "same" : "added";
    if (is < 0) return "removed";
    if (kinds[was] !== kinds[is]) return "replaced";
    const [old, now] = [before.srcOf(s), after.srcOf(s)];
    return old.length === now.length && old.every((x, i) => x === now[i]) ? "same" : "moved";
  }
}
