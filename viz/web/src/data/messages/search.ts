/** What a search looks up in an exported file: all hits but lines and nodes, in their order. */
export interface SearchIndex {
  /** The op of every node of the run. */
  ops: string[];
  texts: SearchText[];
  /** Contexts and rewrites, and which of `texts` they are found by. Parallel. */
  hits: { entry: number[]; text: number[] };
  done: boolean;
}

/** What is shown of a hit, and what a query must be part of: of `kinds`, the first whose text has it
 * is the kind of the hit. */
export interface SearchText {
  shown: string;
  kinds: [kind: SearchHit["kind"], text: string][];
}

/** What a search of the run found. */
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
  kind: "kernel" | "call" | "rule" | "pass" | "group" | "op" | "file" | "source" | "text" | "node";
  text: string;
  /** The state of the pass in which the node is, and the node. */
  step: number | null;
  node: number | null;
  /** Of a node: the passes of its kernel in which it is found, of which this is the first; else 1. */
  passes: number;
  /** A line of a source text of the kernel, from 1; of a text of a pass, `target` is "before" or "after". */
  source: { kind: string; target: string; line: number } | null;
}
