/**
 * One run as it is looked at: what has arrived of it, what of it is shown, and what follows. A page
 * that compares runs makes one of these for each. Never touches the DOM or the network.
 */
import { computed, signal } from "@preact/signals";
import { FIRST_RUN } from "../data/backend";
import { ancestry, compiledRows, subjectRows } from "../data/rows";
import type { Bundle, Step } from "../data/messages/bundle";
import type { ApiProblem } from "../data/messages/job";
import type { Rule, RuleMatches } from "../data/messages/rule";
import type { Row, Run } from "../data/messages/run";
import { firstFrom, passingSteps, stepsByRule } from "../model/filter";
import { type MatchPlace, type PassMatches, passesByRule, placeAmong } from "../model/matches";
import { Replay } from "../model/replay";
import type { Timeline } from "../model/timeline";
import { short } from "./format";
import { FIRST_VIEW, isOfKernel, type View } from "./link/view";

export type RunState = ReturnType<typeof createRunState>;

/** What tells a run from another one; `name` is the letter that it is open as. */
export const keyOf = (name: string, of: Run): string => `${name} ${of.started} ${of.file}`;

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

/** The state of a run of which nothing has arrived yet. */
export function createRunState() {
  /** The letter that it is open as. */
  const runName = signal(FIRST_RUN);
  const run = signal<Run | null>(null);
  /** Which run it is: another one at the same address has numbers of its own; "" before any. */
  const runKey = computed(() => (run.value ? keyOf(runName.value, run.value) : ""));
  /** The program still runs. Unlike `run` it does not change with every message. */
  const isLive = computed(() => run.value?.live === true);
  const rows = signal<readonly Row[]>([]);
  /** Whether `rows` are what the run has: a page that needs none of them is shown before. */
  const rowsArrived = signal(false);
  /** Whether there is something to look at, as far as is known. */
  const hasRows = computed(
    () => run.value !== null && (!rowsArrived.value || rows.value.length > 0),
  );
  const rules = signal<ReadonlyMap<number, Rule>>(new Map());

  const view = signal<View>(FIRST_VIEW);
  const bundle = signal<Bundle | null>(null);
  /** All states of `bundle`, checked; set together with it. */
  const timeline = signal<Timeline | null>(null);
  /** The rewrite that is being fetched, and since when. */
  const loading = signal<{ rewrite: number; since: number } | null>(null);
  const loadError = signal<(ApiProblem & { rewrite: number }) | null>(null);
  /** A step shown while the scrubber is dragged; null otherwise. */
  const preview = signal<number | null>(null);
  /** The slot under the pointer. */
  const hovered = signal<number | null>(null);

  /** Steps of the loaded pass: 1..count. */
  const stepCount = computed(() => bundle.value?.steps.length ?? 0);

  /** Whether the pass in the view is the one that is loaded. */
  const arrived = computed(() => bundle.value?.rewrite === view.value.rewrite);

  /** The pass in the view could not be read: what is loaded belongs to another one. */
  const unreadable = computed(
    () => !arrived.value && loadError.value?.rewrite === view.value.rewrite,
  );

  let lastStep = 0;
  /**
   * The current step, always within the loaded pass; while another pass is on its way, the step that
   * was looked at, so that no panel shows one that was not asked for.
   */
  const step = computed(() => (lastStep = arrived.value ? wantedStep() : lastStep));

  function wantedStep(): number {
    const asked = preview.value ?? view.value.step ?? firstStep(bundle.value, view.value.rule);
    return Math.max(0, Math.min(asked, stepCount.value));
  }

  const currentStep = computed<Step | null>(() => bundle.value?.steps[step.value - 1] ?? null);

  const currentRule = computed<Rule | null>(() => {
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
  const sides = computed<{ before: Replay; after: Replay; step: number } | null>(() => {
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

  const filtered = computed(
    () => ruleFilter.value !== null || opFilter.value !== null || nodeFilter.value !== null,
  );

  /** Whether a rule is all that is filtered to: its matches go on in other passes. */
  const onlyRule = computed(
    () => ruleFilter.value !== null && opFilter.value === null && nodeFilter.value === null,
  );

  /** Steps (1-based) that pass the filters, ascending. */
  const passing = computed<readonly number[]>(() => {
    const filters = { rule: ruleFilter.value, op: opFilter.value, node: nodeFilter.value };
    return bundle.value ? passingSteps(bundle.value, filters) : [];
  });

  /** The steps of each rule of the loaded pass, most frequent rule first. */
  const firings = computed<ReadonlyMap<number, readonly number[]>>(() =>
    bundle.value ? stepsByRule(bundle.value) : new Map<number, readonly number[]>(),
  );

  /** Row of the rewrite that is being looked at. */
  const currentRow = computed<Row | null>(() => {
    const id = view.value.rewrite;
    return id === null ? null : (rewriteRows.value.get(id) ?? null);
  });

  const rewriteRows = computed<ReadonlyMap<number, Row>>(
    () => new Map(rows.value.filter((r) => r.kind === "rewrite").map((r) => [r.id, r])),
  );

  /** For each row, that of the kernel compiled on request that it belongs to; -1 for none. */
  const compiledRowOf = computed(() => compiledRows(rows.value));

  /** The row of what was compiled on request, in whose passes the current one is; null for none. */
  const currentCompilation = computed<Row | null>(() => {
    const row = currentRow.value;
    return row ? (rows.value[compiledRowOf.value[row.row] ?? -1] ?? null) : null;
  });

  /**
   * The context of the kernel whose page is open; null: none is. What was compiled of a kernel on
   * request stands on the page of that kernel.
   */
  const kernelPage = computed(() => (view.value.page === "overview" ? namedKernel.value : null));

  /** The program's kernel that the view names, by its context; null where it names none. */
  const namedKernel = computed(() => {
    const { kernel } = view.value;
    if (kernel === null) return null;
    const row = rows.value.find((r) => r.kind === "context" && r.id === kernel);
    return (row?.target ? rows.value[row.parent]?.id : undefined) ?? kernel;
  });

  /**
   * The program's kernel that the view names, or that the current pass belongs to; null for a pass of
   * a schedule. On a page about one kernel there is always one, if the run has any: else the first.
   */
  const currentKernel = computed<Row | null>(() => {
    const named = namedKernel.value;
    if (named !== null)
      return rows.value.find((r) => r.kind === "context" && r.id === named) ?? null;
    if (kernelOfPass.value || !isOfKernel(view.value.page)) return kernelOfPass.value;
    return rows.value.find((r) => r.kind === "context" && isKernel(r)) ?? null;
  });

  const isKernel = (r: Row): boolean => r.label === "kernel" && !r.target;

  /** The program's kernel that the current pass belongs to; null for a pass of a schedule. */
  const kernelOfPass = computed<Row | null>(() => {
    const row = currentRow.value;
    return row ? (ancestry(rows.value, row.row).find(isKernel) ?? null) : null;
  });

  /** The schedule that the current pass belongs to; null where a kernel is looked at. */
  const currentSchedule = computed<Row | null>(() => {
    const row = currentRow.value;
    if (!row || currentKernel.value) return null;
    return ancestry(rows.value, row.row).find((r) => r.label === "schedule") ?? null;
  });

  /** For each row that of the subject that it belongs to: a kernel, a schedule, or another context. */
  const subjectRowOf = computed(() => subjectRows(rows.value));

  /** All subjects of the run, in order. */
  const subjects = computed(() => rows.value.filter((r) => subjectRowOf.value[r.row] === r.row));

  /** The subject that is looked at; null for a pass that stands in no context. */
  const currentSubject = computed<Row | null>(() => {
    const row = currentRow.value;
    const at = row ? subjectRowOf.value[row.row] : undefined;
    return currentKernel.value ?? rows.value[at ?? -1] ?? null;
  });

  /** Steps that the server has and the loaded pass does not show yet. */
  const newSteps = computed(() => {
    const row = currentRow.value;
    const b = bundle.value;
    if (!row || !b || b.rewrite !== row.id || b.truncated !== null || !run.value?.live) return 0;
    return Math.max(0, row.steps - b.steps.length);
  });

  /** The names of the rules of the run, each once, in order. */
  const ruleNames = computed(() => [...new Set([...rules.value.values()].map((r) => r.name))].sort());
  /** A rule's name, also for one that has not arrived yet. */
  const ruleName = (id: number): string => short(rules.value.get(id)?.name ?? `rule ${id}`);

  /** The last answer about where rules matched, and the run that it is about. */
  const answered = signal<{ run: string; answer: RuleMatches } | null>(null);

  /** What is known of the run that is shown. */
  const ruleMatches = computed(() =>
    answered.value?.run === runKey.value ? answered.value.answer : null,
  );

  const keepMatches = (answer: RuleMatches, of: string): void => {
    answered.value = { run: of, answer };
  };

  const matchedPasses = computed(() =>
    passesByRule(ruleMatches.value, (rewrite) => rewriteRows.value.get(rewrite)?.row),
  );

  /** The nearest pass after (or before) another one in which the rule matched. */
  const nextPassOf = (rule: number, from: number, direction: 1 | -1): PassMatches | null => {
    const passes = matchedPasses.value.get(rule) ?? [];
    const row = (rewrite: number): number => rewriteRows.value.get(rewrite)?.row ?? -1;
    const here = row(from);
    const later = (p: PassMatches): boolean => (row(p.rewrite) - here) * direction > 0;
    return (direction > 0 ? passes.find(later) : passes.findLast(later)) ?? null;
  };

  /** Of the passes in which the rule matched the one nearest to another, in rows; the later of two. */
  const nearestPassOf = (rule: number, to: number): PassMatches | null => {
    const row = (rewrite: number): number => rewriteRows.value.get(rewrite)?.row ?? 0;
    const [before, after] = [nextPassOf(rule, to, -1), nextPassOf(rule, to, 1)];
    if (!before || !after) return before ?? after;
    return row(to) - row(before.rewrite) < row(after.rewrite) - row(to) ? before : after;
  };

  /** Which match of its rule the current step is, of all in the run; null until that is known. */
  const matchPlace = computed<MatchPlace | null>(() => {
    const at = currentStep.value;
    const passes = at && matchedPasses.value.get(at.rule);
    if (!at || !passes || !arrived.value) return null;
    const within = firstFrom(firings.value.get(at.rule) ?? [], step.value);
    return placeAmong(passes, bundle.value?.rewrite ?? -1, within);
  });

  return {
    runName,
    run,
    runKey,
    isLive,
    rows,
    rowsArrived,
    hasRows,
    rules,
    view,
    bundle,
    timeline,
    loading,
    loadError,
    preview,
    hovered,
    stepCount,
    arrived,
    unreadable,
    step,
    currentStep,
    currentRule,
    sides,
    filtered,
    onlyRule,
    passing,
    firings,
    currentRow,
    rewriteRows,
    compiledRowOf,
    currentCompilation,
    kernelPage,
    namedKernel,
    kernelOfPass,
    currentKernel,
    currentSchedule,
    subjectRowOf,
    subjects,
    currentSubject,
    newSteps,
    ruleName,
    ruleNames,
    ruleMatches,
    keepMatches,
    nextPassOf,
    nearestPassOf,
    matchPlace,
  };
}
