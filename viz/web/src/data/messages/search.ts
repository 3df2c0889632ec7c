/** What a search of the run found. */
export interface SearchResult {
  /** In groups, one after the other; of each group the first ones. */
  hits: SearchHit[];
  /** How many hits each group has. */
  totals: Record<string, number>;
  total: number;
  /** A sentence that says what was not searched in the time there was, if anything. */
  truncated: string | null;
  /** What is wrong with a query that was to describe a structure. */
  problem: { what: string; where: string; hint: string } | null;
}

/** What a query found: the row to open; `kind` is the group. */
export interface SearchHit {
  row: number;
  kind: "kernel" | "call" | "rule" | "pass" | "group" | "op" | "file" | "source" | "node";
  text: string;
  /** The state of the pass in which the node is, and the node. */
  step: number | null;
  node: number | null;
  /** A line of a source text of the kernel, from 1. */
  source: { kind: string; target: string; line: number } | null;
}
