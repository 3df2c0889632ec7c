/**
 * What can be asked of a run, or of a pair of runs, whoever answers. Written by `python -m
 * tests.docs.generate` from the tables in viz/views/answers.py, viz/why/answers.py,
 * viz/known/answers.py and viz/compare/answers.py: change those.
 */
import type { Bundle, PassTexts } from "./messages/bundle";
import type { Comparison, PassAlignment, ScopeComparison, SourceDifference } from "./messages/compare";
import type { Emulation } from "./messages/emulation";
import type { Acted, Kernel, Origins, Schedule } from "./messages/kernel";
import type { Lineage, LineageWaits } from "./messages/lineage";
import type { KernelPage, Overview } from "./messages/overview";
import type { NearMisses, PassRules, Rule, RuleMatches, RulePage, RuleTotals, RulesAtNode, WhyNot } from "./messages/rule";
import type { Run, Since, Tree, UserFile } from "./messages/run";
import type { SearchIndex, SearchResult } from "./messages/search";
import type { Tiles } from "./messages/tile";
import type { TimelineData } from "./messages/timeline";
import type { ShadersOrWhy } from "./messages/trials/shaders";
import type { StepValues } from "./messages/trials/stepvalues";
import type { Checks, PassVerdicts } from "./messages/trials/verdicts";

/** The values that each question about a run takes, and what it gives. */
export interface Answers {
  /** The run as a whole. */
  run: { takes: []; gives: Run };
  /** Rows of the navigator from number `since` on, and older ones that have changed. */
  tree: { takes: [since: number]; gives: Tree };
  /** Every rule. */
  rules: { takes: []; gives: Rule[] };
  /** A kernel and the texts recorded of it. */
  kernel: { takes: [context: number]; gives: Kernel };
  /** Which AST nodes the nodes of a kernel come from. */
  origins: { takes: [context: number]; gives: Origins };
  /** The tiles of a kernel: where their elements lie, and which nodes of its passes stand for them. */
  tiles: { takes: [context: number]; gives: Tiles };
  /** One kernel: its calls, passes and times. */
  kernelPage: { takes: [context: number]; gives: KernelPage };
  /** What was decided about a schedule outside of its passes: its texts. */
  schedule: { takes: [context: number]; gives: Schedule };
  /** What ran and what took how long. */
  overview: { takes: []; gives: Overview };
  /** What each rule did and cost in each pass. */
  ruleTotals: { takes: []; gives: RuleTotals };
  /** How often each rule matched in each pass of the run. */
  ruleMatches: { takes: []; gives: RuleMatches };
  /** When everything happened. */
  timeline: { takes: []; gives: TimelineData };
  /** The lines of the user's program, and the kernels that they became. */
  userLines: { takes: []; gives: UserFile[] };
  /** Who made the run, and how its files and rules have changed since. */
  since: { takes: []; gives: Since };
  /** One graph_rewrite with all of its steps. */
  bundle: { takes: [rewrite: number]; gives: Bundle };
  /** The compiler's own texts of the program before and after a pass. */
  passTexts: { takes: [rewrite: number]; gives: PassTexts };
  /** What an action of the compiler's own, of the dialect of the run, says of a kernel. */
  acted: { takes: [context: number, action: string]; gives: Acted };
  /** What was emulated of a kernel, the newest last. */
  emulated: { takes: [context: number]; gives: Emulation[] };
  /** A kernel compiled for the GPU of a browser, in an exported file. */
  shaders: { takes: [context: number]; gives: ShadersOrWhy };
  /** What the memory of a captured step held before and after a replay in the run. */
  stepValues: { takes: [context: number]; gives: StepValues };
  /** What one rule did in the whole run: tries, declines and matches by pass, and where it matched. */
  rulePage: { takes: [rule: number]; gives: RulePage };
  /** How long the tries of each rule took in one pass, the longest first. */
  passRules: { takes: [rewrite: number]; gives: PassRules };
  /** Where the nodes of a schedule or kernel come from and go, or how far it is. */
  lineage: { takes: [scope: number]; gives: Lineage | LineageWaits };
  /** All names, calls, rules, ops and places with where they are: what an exported file searches. */
  searchIndex: { takes: []; gives: SearchIndex };
  /** What has `q` in a name, call, rule, op, file or source, or nodes of the structure that it is; 200 characters count. */
  search: { takes: [q: string]; gives: SearchResult };
  /** Why a rule did not fire at a node of a pass. */
  whyNot: { takes: [rewrite: number, node: number, rule: number]; gives: WhyNot };
  /** What became of each rule of a pass at a node, the nearest first. */
  rulesAt: { takes: [rewrite: number, node: number]; gives: RulesAtNode };
  /** The nodes of a pass where the pattern of a rule got furthest. */
  nearMisses: { takes: [rewrite: number, rule: number]; gives: NearMisses };
  /** Which passes were checked, how many of their steps are right, and what each kernel that was run as a whole came to. */
  checks: { takes: []; gives: Checks };
  /** Whether the steps of a pass are right: what is known of each of them. */
  verdicts: { takes: [rewrite: number]; gives: PassVerdicts };
}

/** Where each is asked for, below the path of its run. */
export const PATHS: Record<keyof Answers, string> = {
  run: "/run",
  tree: "/tree?since={since}",
  rules: "/rules",
  kernel: "/kernels/{context}",
  origins: "/origins/{context}",
  tiles: "/tiles/{context}",
  kernelPage: "/kernel-page/{context}",
  schedule: "/schedules/{context}",
  overview: "/overview",
  ruleTotals: "/rule-totals",
  ruleMatches: "/rule-matches",
  timeline: "/timeline",
  userLines: "/user-lines",
  since: "/since",
  bundle: "/rewrites/{rewrite}",
  passTexts: "/pass-texts/{rewrite}",
  acted: "/acted/{context}?action={action:text}",
  emulated: "/emulated/{context}",
  shaders: "/shaders/{context}",
  stepValues: "/step-values/{context}",
  rulePage: "/rule-page?rule={rule}",
  passRules: "/pass-rules/{rewrite}",
  lineage: "/lineage/{scope}",
  searchIndex: "/search-index",
  search: "/search?q={q:text}",
  whyNot: "/why-not/{rewrite}?node={node}&rule={rule}",
  rulesAt: "/rules-at/{rewrite}?node={node}",
  nearMisses: "/near-misses/{rewrite}?rule={rule}",
  checks: "/checks",
  verdicts: "/verdicts/{rewrite}",
};

/** The values that each question about a pair takes, and what it gives. */
export interface PairAnswers {
  /** What differs between two runs; partial until `done`. */
  overview: { takes: []; gives: Comparison };
  /** The passes and texts of two kernels, schedules or passes outside of both; 0 for none. */
  scopes: { takes: [of: number, with_: number]; gives: ScopeComparison };
  /** How two passes go in step, and which of their slots are the same node; 0 for none. */
  passes: { takes: [of: number, with_: number]; gives: PassAlignment };
  /** One kind of text of two kernels or schedules, line by line; 0 for none. */
  sources: { takes: [of: number, with_: number, kind: string, target: string]; gives: SourceDifference };
}

/** Where each is asked for, below the path of its pair. */
export const PAIR_PATHS: Record<keyof PairAnswers, string> = {
  overview: "",
  scopes: "/scopes?of={of}&with={with}",
  passes: "/passes?of={of}&with={with}",
  sources: "/sources?of={of}&with={with}&kind={kind:text}&target={target:text}",
};
