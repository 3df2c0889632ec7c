/** Rules and their patterns, and what rules did. */
export interface Rule {
  id: number;
  name: string;
  /** First line of the docstring. */
  equation: string;
  doc: string;
  /** Name of the matcher that the rule belongs to. */
  group: string;
  file: string;
  line: number;
  source: string;
  /** Line number of the first line of `source`. */
  sourceLine: number;
  pattern: Pat;
  matches: number;
  declines: number;
  us: number;
}

/** A pattern as data. Empty `op` or `dtype`: any. */
export interface Pat {
  op: string[];
  dtype: string[];
  name: string | null;
  arg: string | null;
  src: PatSources;
  anyOf?: Pat[];
  allowAny?: boolean;
}

export type PatSources =
  { kind: "any" } | { kind: "ordered" | "permuted"; of: Pat[] } | { kind: "repeat"; of: Pat };

/** What each rule did and cost in each pass. */
export interface RuleTotals {
  /** Rules that matched or declined in a pass. */
  rows: RuleTotal[];
  /** Rules that did neither there, and how often each was tried. Missing in older exports. */
  silent?: { pass: string; id: number[]; tries: number[] }[];
  /** Time of passes outside matches, microseconds: of the run, and of the passes of each name,
   * the longest first. Missing in older exports. */
  untimed?: { us: number; passes: { pass: string; us: number }[] };
  /** Steps whose added and removed nodes are counted, of all steps of passes that have ended. */
  counted: number;
  steps: number;
}

/** How often each rule matched in each pass: lists side by side, by rule, then in the order in which
 * the passes began. */
export interface RuleMatches {
  rule: number[];
  rewrite: number[];
  matches: number[];
  /** Pairs of rule and pass for which there was no room. */
  leftOut: number;
  /** False while it is still counted. */
  done: boolean;
}

export interface RuleTotal {
  /** Name of the pass. */
  pass: string;
  /** Rule id and name. */
  id: number;
  rule: string;
  /** How many nodes were offered to it; null or missing where the trace does not say it. */
  tries?: number | null;
  matches: number;
  declines: number;
  /** Microseconds of its function in its matches; other tries are not timed. */
  us: number;
  added: number;
  removed: number;
}
