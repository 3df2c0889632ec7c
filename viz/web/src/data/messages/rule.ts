/** Rules and their patterns, what rules did, and why they did not: docs/why.md says what that means. */
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
  /** Ops that have to be among those of the sources. */
  among?: string[];
}

export type PatSources =
  { kind: "any" } | { kind: "ordered" | "permuted"; of: Pat[] } | { kind: "repeat"; of: Pat };

/** What each rule did and cost in each pass. */
export interface RuleTotals {
  /** Rules that matched or declined in a pass. */
  rows: RuleTotal[];
  /** Rules that did neither there, how often each was tried, and for how many microseconds (null or
   * missing where the trace does not say it). Missing in older exports. */
  silent?: { pass: string; id: number[]; tries: number[]; us?: number[] | null }[];
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
  /** Microseconds of its function in its matches. */
  us: number;
  /** Microseconds of all its tries, whether they matched or not: pattern and function; null or
   * missing where the trace does not say it. */
  tryUs?: number | null;
  /** Those of them in its function. */
  functionUs?: number | null;
  /** Microseconds by which rules are ranked: those of all tries, or where the trace does not say them
   * those of matches. Missing in older exports. */
  cost?: number;
  added: number;
  removed: number;
}

export type WhyKind =
  | "fired"
  | "pattern"
  | "declined"
  | "raised"
  | "overtaken"
  | "not in pass"
  | "not there"
  | "not reached"
  | "unknown";

/** Why a rule did not fire at a node of a pass. */
export interface WhyNot {
  kind: WhyKind;
  /** The answer in a sentence. */
  said: string;
  rewrite: number;
  pass: string;
  rule: number;
  name: string;
  /** As it was when the rule was tried. */
  node: number;
  text: string;
  /** Steps before it was tried; null: it was not, or that is not known. */
  step: number | null;
  /** What fired, came first, made the node or replaced it. */
  by: WhyEvent | null;
  /** Of a rule that is not in the pass: those that have it. */
  passes: string[];
  /** null: it cannot be told, and `unknown` says why. */
  pattern: PatternFit | null;
  unknown: string | null;
  /** Of a function that declined: where; null: not known, and `notCalled` says why. */
  line: DecliningLine | null;
  notCalled: string | null;
}

/** A step of a pass. `rule` is -1 where a node was rebuilt. */
export interface WhyEvent {
  rewrite: number;
  pass: string;
  step: number;
  rule: number;
  name: string;
}

/** How far a pattern fits a node. */
export interface PatternFit {
  fits: boolean;
  /** The installed rule was asked, not the recorded pattern; else `why` says why not. */
  installed: boolean;
  why: string | null;
  binds: BoundNode[];
  /** Parts that fit: which child of the pattern, from the whole pattern down. */
  fitted: { path: number[]; node: number }[];
  misfit: Misfit | null;
}

/** Where a pattern fails. */
export interface Misfit {
  kind: "op" | "dtype" | "argument" | "condition" | "among" | "sources" | "name";
  path: number[];
  node: number;
  text: string;
  expected: string;
  found: string;
}

export interface BoundNode {
  name: string;
  /** 0: no node of the run. */
  node: number;
  text: string;
}

/** Where a function declined. */
export interface DecliningLine {
  file: string;
  line: number;
  text: string;
  /** What the line names. */
  values: { name: string; value: string }[];
  /** Ways to match the pattern, of which this is the last. */
  ways: number;
  binds: BoundNode[];
}

/** What became of the rules of a pass at a node, the nearest first. */
export interface RulesAtNode {
  rewrite: number;
  pass: string;
  node: number;
  text: string;
  /** It is known which rules the pass has. */
  known: boolean;
  rows: RuleAtNode[];
  /** What was not looked at, and why; null: nothing. */
  leftOut: string | null;
}

export interface RuleAtNode {
  rule: number;
  name: string;
  kind: WhyKind;
  fits: boolean;
  /** Parts of its pattern that fit. */
  fitted: number;
  /** Where its pattern fails; "" where it does not, or that is not known. */
  expected: string;
  found: string;
  by: WhyEvent | null;
}

/** Where in a pass the pattern of a rule got furthest without fitting. */
export interface NearMisses {
  rewrite: number;
  pass: string;
  rule: number;
  name: string;
  /** The rule is known to be among those of the pass. */
  inPass: boolean;
  /** It is known which rules the pass has. */
  rulesKnown: boolean;
  /** It is known where it was tried; else all nodes of the pass were looked at. */
  known: boolean;
  /** Nodes that may have been tried, whatever their op. */
  nodes: number;
  tried: number;
  fitting: number;
  /** The first nodes where it fits. */
  fits: { node: number; text: string }[];
  missed: number;
  /** Those where the pattern got furthest come first. */
  rows: NearMiss[];
  /** What was not looked at, and why; null: nothing. */
  leftOut: string | null;
}

export interface NearMiss {
  node: number;
  text: string;
  fitted: number;
  pattern: PatternFit;
}

/** What one rule did in the whole run. */
export interface RulePage {
  rule: Rule;
  /** By the name of passes that tried it, the one in which it matched most first. */
  passes: RuleInPass[];
  /** Passes in which it matched, in the order of the run, and how often. */
  rewrite: number[];
  matches: number[];
  /** False while it is still counted. */
  done: boolean;
  /** Where its tries took most time; null where the trace does not say it, and in an exported file. */
  times: RuleTimes | null;
}

/** Passes by the time of the tries of one rule in them, the longest first, as lists side by side. */
export interface RuleTimes {
  rewrite: number[];
  /** Nodes that its pattern was run on. */
  tries: number[];
  us: number[];
  /** Those of `us` in its function. */
  functionUs: number[];
  /** Passes for which there was no room. */
  leftOut: number;
}

/** What trying rules took in one pass, the longest first. */
export interface PassRules {
  rewrite: number;
  pass: string;
  /** Of the whole pass; null while it is open. */
  us: number | null;
  /** The trace says how long tries took. */
  known: boolean;
  rows: RuleInOnePass[];
}

export interface RuleInOnePass {
  id: number;
  rule: string;
  /** "file:line". */
  place: string;
  /** Nodes that its pattern was run on; null, as both times: less than is kept of one pass. */
  tries: number | null;
  tryUs: number | null;
  functionUs: number | null;
  matches: number;
}

export interface RuleInPass {
  pass: string;
  /** null where the trace does not say it. */
  tries: number | null;
  matches: number;
  declines: number;
  /** Microseconds of its function in its matches. */
  us: number;
  /** Microseconds of all its tries, and those of them in its function; null where the trace does not
   * say it. */
  tryUs: number | null;
  functionUs: number | null;
}
