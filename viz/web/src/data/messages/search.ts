/** What a search of the run found. */
/** What a search looks up besides names, in the order in which hits come. Arrays of one object are
 * parallel. An export of before there was one has none. */
export interface SearchIndex {
  /** The op of every node of the run. */
  ops: string[];
  /** What is said of a place, "model.py:4", and the call on it, "" for none. */
  places: [where: string, call: string][];
  /** Contexts with the names of the user's calls that they compute, as far as that was recorded. */
  calls: { context: number[]; names: string[] };
  /** The rewrites in such contexts. */
  called: number[];
  /** What rewrites have in their steps: numbers of rules, and indices of `ops` and `places`. */
  rule: { rewrite: number[]; rule: number[] };
  op: { rewrite: number[]; op: number[] };
  place: { rewrite: number[]; place: number[] };
  done: boolean;
}

export interface SearchResult {
  /** In groups, one after the other; of each group the first ones. */
  hits: SearchHit[];
  /** How many hits each group has: those of a kind, and as "compiled" those of all kinds in kernels
   * that were compiled on request. */
  totals: Record<string, number>;
  total: number;
  /** A sentence that says what was not searched in the time there was, if anything. */
  truncated: string | null;
  /** What is wrong with a query that was to describe a structure. */
  problem: { what: string; where: string; hint: string } | null;
}

/** What a query found: the row to open, and what it is. */
export interface SearchHit {
  row: number;
  kind: "kernel" | "call" | "rule" | "pass" | "group" | "op" | "file" | "source" | "node";
  text: string;
  /** The state of the pass in which the node is, and the node. */
  step: number | null;
  node: number | null;
  /** Of a node: the passes of its kernel in which it is found, of which this is the first; else 1. */
  passes: number;
  /** A line of a source text of the kernel, from 1. */
  source: { kind: string; target: string; line: number } | null;
}
