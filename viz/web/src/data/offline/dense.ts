/** Passes as an exported file holds them: see `viz/share/packed/dense.py`, which writes them. Pure. */
import type { Bundle, Step } from "../messages/bundle";

const VERSION = 2;
/** Edges of one pass that are worked out: files of ours have fewer. */
const MAX_EDGES = 4_000_000;

/** Node and slot relative to the entry before, and the edges where they do not follow. */
type DenseSet = [number, number, number[]?];

interface DenseSteps {
  rule: number[];
  us: number[];
  slot: number[];
  before: number[];
  result: number[];
  after: number[];
  binds: [string, number][][];
  set: DenseSet[][];
  drop: number[][];
  removed: number[][];
  added: number[][];
  moved: number[][];
}

interface DenseBundle extends Omit<Bundle, "version" | "initial" | "steps"> {
  version: typeof VERSION;
  initial: { slot: number[]; node: number[] };
  steps: DenseSteps;
}

const isDense = (answer: unknown): answer is DenseBundle =>
  (answer as { version?: unknown } | null)?.version === VERSION;

/** An answer of an exported file as a server gives it: a dense pass as its `Bundle`, any other as it
 * is. Throws where one is damaged. */
export function restored(answer: unknown): unknown {
  return isDense(answer) ? new Restoring(answer).bundle() : answer;
}

class Restoring {
  private edges = 0;
  private readonly sources: number[][];
  /** By node, the slot that holds it. */
  private readonly holder = new Map<number, number>();

  constructor(private readonly dense: DenseBundle) {
    this.sources = dense.nodes.src.map((src, at) => src.map((back) => at - back));
  }

  bundle(): Bundle {
    const { dense, sources, holder } = this;
    const slot = summed(dense.initial.slot);
    const node = summed(dense.initial.node);
    node.forEach((of, at) => holder.set(of, slot[at]!));
    const src = node.map((of) => this.edgesOf(of));
    return {
      ...dense,
      version: 1,
      nodes: { ...dense.nodes, id: summed(dense.nodes.id), src: sources },
      initial: { slot, node, src },
      steps: dense.steps.rule.map((_, at) => this.step(at)),
    };
  }

  private step(at: number): Step {
    const { steps } = this.dense;
    const slot = steps.slot[at]!;
    const before = steps.before[at]!;
    return {
      rule: steps.rule[at]!,
      us: steps.us[at]!,
      slot,
      result: slot + steps.result[at]!,
      before,
      after: before + steps.after[at]!,
      binds: steps.binds[at]!.map(([name, node]) => [name, before + node]),
      set: this.sets(steps.set[at]!, slot, before),
      drop: summed(steps.drop[at]!, slot),
      removed: summed(steps.removed[at]!, slot),
      added: summed(steps.added[at]!, slot),
      moved: summed(steps.moved[at]!, slot),
    };
  }

  private sets(entries: readonly DenseSet[], slot: number, node: number): Step["set"] {
    const places = entries.map(([bySlot, byNode, edges]) => {
      slot += bySlot;
      node += byNode;
      this.holder.set(node, slot);
      return { slot, node, edges };
    });
    return places.map((of) => [
      of.slot,
      of.node,
      of.edges ? of.edges.map((back) => of.slot - back) : this.edgesOf(of.node),
    ]);
  }

  /** The slots that hold the sources of a node by now. */
  private edgesOf(node: number): number[] {
    const sources = this.sources[node]!;
    this.edges += sources.length;
    if (this.edges > MAX_EDGES) throw new Error("a pass in this file has too many edges");
    return sources.map((source) => this.holder.get(source)!);
  }
}

function summed(differences: readonly number[], first = 0): number[] {
  let sum = first;
  return differences.map((by) => (sum += by));
}
