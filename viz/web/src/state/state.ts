/**
 * The state of the page as signals, and what follows from it. Changes come from actions.ts and
 * live.ts only; panels read. Never touches the DOM or the network.
 */
import { computed, signal } from "@preact/signals";
import { ancestry, compiledRows } from "../data/rows";
import type { ApiProblem, Bundle, Row, Rule, Run, Step } from "../data/types";
import { Replay } from "../model/replay";
import type { Timeline } from "../model/timeline";
import { short } from "./format";
import { passingSteps, stepsByRule } from "./filter";
import { FIRST_VIEW, type View } from "./url";

export type Connection =
  | { kind: "starting" }
  | { kind: "connected" }
  | { kind: "embedded" }
  /** `why`: one sentence without its full stop. */
  | { kind: "lost"; retryAt: number; why: string };

export const run = signal<Run | null>(null);
/** Which run it is: another one at the same address has numbers of its own. */
export const keyOf = (of: Run): string => `${of.started} ${of.file}`;
/** The same of the run that is shown; "" before there is one. */
export const runKey = computed(() => (run.value ? keyOf(run.value) : ""));
/** The program still runs. Unlike `run` it does not change with every message. */
export const isLive = computed(() => run.value?.live === true);
export const rows = signal<readonly Row[]>([]);
export const rules = signal<ReadonlyMap<number, Rule>>(new Map());
export const connection = signal<Connection>({ kind: "starting" });
/** A failure that leaves nothing to look at. */
export const fatal = signal<ApiProblem | null>(null);
/** Problems that the page itself met, newest last. */
export const ownProblems = signal<readonly ApiProblem[]>([]);

export const view = signal<View>(FIRST_VIEW);
export const bundle = signal<Bundle | null>(null);
/** All states of `bundle`, checked; set together with it. */
export const timeline = signal<Timeline | null>(null);
/** The rewrite that is being fetched, and since when. */
export const loading = signal<{ rewrite: number; since: number } | null>(null);
export const loadError = signal<(ApiProblem & { rewrite: number }) | null>(null);

/** A step shown while the scrubber is dragged; null otherwise. */
export const preview = signal<number | null>(null);
export const hovered = signal<number | null>(null);
/** One sentence for screen readers and the status bar. */
export const announcement = signal("");

export type Overlay = "palette" | "keys" | "recorded" | null;
export const overlay = signal<Overlay>(null);
export const drawerTab = signal<"source" | "problems">("source");
/** On small windows: the side panel that lies over the graph. */
export const sidePanel = signal<"nav" | "insp" | null>(null);

export const windowWidth = signal(1440);

/** Steps of the loaded pass: 1..count. */
export const stepCount = computed(() => bundle.value?.steps.length ?? 0);

/** Whether the pass in the view is the one that is loaded. */
export const arrived = computed(() => bundle.value?.rewrite === view.value.rewrite);

/** The pass in the view could not be read: what is loaded belongs to another one. */
export const unreadable = computed(
  () => !arrived.value && loadError.value?.rewrite === view.value.rewrite,
);

let lastStep = 0;
/**
 * The current step, always within the loaded pass; while another pass is on its way, the step that
 * was looked at, so that no panel shows one that nobody asked for.
 */
export const step = computed(() => (lastStep = arrived.value ? wantedStep() : lastStep));

function wantedStep(): number {
  const asked = preview.value ?? view.value.step ?? firstStep(bundle.value, view.value.rule);
  return Math.max(0, Math.min(asked, stepCount.value));
}

/**
 * What a pass opens with: the first match of the rule that is filtered to, or its error, or its
 * first change, or its input graph.
 */
function firstStep(b: Bundle | null, rule: number | null): number {
  if (!b) return 0;
  const match = rule === null ? -1 : b.steps.findIndex((s) => s.rule === rule);
  if (match >= 0) return match + 1;
  if (b.error) return Math.min(b.error.step, b.steps.length);
  return Math.min(1, b.steps.length);
}

export const currentStep = computed<Step | null>(() => bundle.value?.steps[step.value - 1] ?? null);

export const currentRule = computed<Rule | null>(() => {
  const at = currentStep.value;
  return at ? (rules.value.get(at.rule) ?? null) : null;
});

/** Two walkers over the same pass: before and after the step, so that neither runs back and forth. */
const walkers = computed(() => {
  const b = bundle.value;
  const t = timeline.value;
  if (!b || t?.bundle !== b) return null;
  return { before: new Replay(b, t), after: new Replay(b, t) };
});

/** The graphs on both sides of the current step. Valid until the step changes. */
export const sides = computed<{ before: Replay; after: Replay; step: number } | null>(() => {
  const pair = walkers.value;
  if (!pair) return null;
  pair.before.goto(Math.max(0, step.value - 1));
  pair.after.goto(step.value);
  return { ...pair, step: step.value };
});

// Each by itself: the view changes with every step, the filters do not.
const ruleFilter = computed(() => view.value.rule);
const opFilter = computed(() => view.value.op);
const nodeFilter = computed(() => view.value.node);

export const filtered = computed(
  () => ruleFilter.value !== null || opFilter.value !== null || nodeFilter.value !== null,
);

/** Steps (1-based) that pass the filters, ascending. */
export const passing = computed<readonly number[]>(() => {
  const filters = { rule: ruleFilter.value, op: opFilter.value, node: nodeFilter.value };
  return bundle.value ? passingSteps(bundle.value, filters) : [];
});

/** The steps of each rule of the loaded pass, most frequent rule first. */
export const firings = computed<ReadonlyMap<number, readonly number[]>>(() =>
  bundle.value ? stepsByRule(bundle.value) : new Map<number, readonly number[]>(),
);

/** Row of the rewrite that is being looked at. */
export const currentRow = computed<Row | null>(() => {
  const id = view.value.rewrite;
  return id === null ? null : (rewriteRows.value.get(id) ?? null);
});

export const rewriteRows = computed<ReadonlyMap<number, Row>>(
  () => new Map(rows.value.filter((r) => r.kind === "rewrite").map((r) => [r.id, r])),
);

/** For each row, that of the kernel compiled on request that it belongs to; -1 for none. */
export const compiledRowOf = computed(() => compiledRows(rows.value));

/** The row of what was compiled on request, in whose passes the current one is; null if in none. */
export const currentCompilation = computed<Row | null>(() => {
  const row = currentRow.value;
  return row ? (rows.value[compiledRowOf.value[row.row] ?? -1] ?? null) : null;
});

/** The program's kernel that the current pass belongs to; null for a pass of a schedule. */
export const currentKernel = computed<Row | null>(() => {
  const row = currentRow.value;
  if (!row) return null;
  return ancestry(rows.value, row.row).find((r) => r.label === "kernel" && !r.target) ?? null;
});

/** Steps that the server has and the loaded pass does not show yet. */
export const newSteps = computed(() => {
  const row = currentRow.value;
  const b = bundle.value;
  if (!row || !b || b.rewrite !== row.id || b.truncated !== null || !run.value?.live) return 0;
  return Math.max(0, row.steps - b.steps.length);
});

/** A rule's name, also for one that has not arrived yet. */
export function ruleName(id: number): string {
  return short(rules.value.get(id)?.name ?? `rule ${id}`);
}
