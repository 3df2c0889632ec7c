/** Everything that changes what is looked at. Panels, keys and the palette call these. */
import { batch } from "@preact/signals";
import { asProblem, isAbort, type Backend, type RunData } from "../data/backend";
import type { Bundle } from "../data/messages/bundle";
import type { ApiProblem } from "../data/messages/job";
import type { Row } from "../data/messages/run";
import { Timeline } from "../model/timeline";
import { changeEntry, looking, pushAddress, replaceAddress } from "./link/address";
import type { AnyLinkPart, LinkChange } from "./link/part";
import { LONGEST, putRun, runOfLink, traceNamed } from "./link/named";
import { hashOf, Query } from "./link/query";
import { nextPassing } from "../model/filter";
import { baseName, count } from "./format";
import type { MatchPlace } from "../model/matches";
import {
  announcement,
  keepMatches,
  matchPlace,
  namedKernel,
  nextPassOf,
  nearestPassOf,
  otherLink,
  ruleMatches,
  bundle,
  compiledRowOf,
  currentCompilation,
  currentKernel,
  currentRow,
  currentStep,
  filtered,
  onlyRule,
  firings,
  isLive,
  kernelOfPass,
  kernelPage,
  loadError,
  loading,
  openRuns,
  ownProblems,
  passing,
  rewriteRows,
  rows,
  ruleName,
  rules,
  run,
  runKey,
  runName,
  step,
  stepCount,
  timeline,
  view,
} from "./state";
import { slotOfNode } from "../model/slots";
import {
  BENCH,
  isJump,
  isOfKernel,
  readsPass,
  readView,
  writeView,
  type Page,
  type View,
} from "./link/view";

let backend: Backend | null = null;
let fetching: AbortController | null = null;

/** Gives the actions their data. Call once, before anything else here. */
export function connect(to: Backend): void {
  backend = to;
}

/** The back end of this page: all of its runs. */
export function allData(): Backend {
  if (!backend) throw new Error("connect() comes first");
  return backend;
}

/** The run that the panels show. */
export const data = (): RunData => allData().of(runName.peek());

let parts: readonly AnyLinkPart[] = [];

/** The parts of a link besides the view, in their order in the address. Call once. */
export function linkWith(all: readonly AnyLinkPart[]): void {
  parts = all;
}

/** Changes the view, parts of panels, the address and, on a jump, the history. */
export function go(
  change: Partial<View>,
  history: "auto" | "push" | "replace" = "auto",
  ...others: readonly LinkChange[]
): void {
  const from = view.peek();
  const to: View = { ...from, ...change };
  // A filter leaves the reader at the step that is shown, also where the pass itself chose it.
  const filters = ["rule", "op", "node"] as const;
  const kept = to.rewrite === from.rewrite && bundle.peek()?.rewrite === to.rewrite;
  if (kept && to.step === null && !("step" in change) && filters.some((f) => to[f] !== from[f]))
    to.step = step.peek();
  // An implied step ("the pass's first change") becomes a stated one as soon as something moves.
  const was: View = { ...from, step: from.step ?? step.peek() };
  const jumps = isJump(was, to) || others.some((part) => part.isJump);
  const push = history === "push" || (history === "auto" && jumps);
  const left = push ? looking() : null; // before the panes go on
  batch(() => {
    view.value = to;
    for (const part of others) part.make();
    // Before what follows the view: it may replace the address, and means the new entry.
    if (push) pushAddress(addressNow(), left);
    else replaceAddress(addressNow());
  });
  ensureBundle();
}

/** Takes the view from the address: at the start, and on Back and Forward. What a link says of
 * another run is not shown; where that run is open, it is shown in place of this one, and else the
 * link is kept until it is. */
export function readAddress(): void {
  changeEntry();
  const hash = location.hash;
  const name = runOfLink(hash, filesOfRuns());
  if (name !== null && name !== runName.peek()) {
    showOther(name);
    return;
  }
  const isOther = name === null;
  const query = new Query(isOther ? "" : hash);
  batch(() => {
    otherLink.value = isOther ? { name: traceNamed(hash), hash } : null;
    view.value = readView(query);
    for (const part of parts) part.read(query);
  });
  ensureBundle();
  findNode();
}

let showOther: (name: string) => void = () => undefined;

/** Who shows another run that is open, and then reads the address again. Call once. */
export function switchWith(show: (name: string) => void): void {
  showOther = show;
}

/** The names of the traces' files of all open runs, by letters. */
function filesOfRuns(): Map<string, string> {
  const files = new Map(openRuns.peek().map((one) => [one.name, fileName(one.file)]));
  return files.set(runName.peek(), fileName(run.peek()?.file));
}

/** Opens a pass; at `at`, or at its first change. The selection belongs to a pass and goes. */
export function openRewrite(id: number, at: number | null = null): void {
  if (view.peek().rewrite === id) {
    if (view.peek().page !== "graphs")
      go({ page: "graphs", kernel: null, step: at ?? view.peek().step });
    else if (at !== null) goStep(at);
    return;
  }
  go({ page: "graphs", kernel: null, rewrite: id, step: at, slot: null, uid: null, node: null });
}

/** Opens a pass at a step with a node selected, by its trace-wide id. */
export function openNode(rewrite: number, step: number, uid: number): void {
  const same = view.peek().rewrite === rewrite;
  const change = { page: "graphs", kernel: null, rewrite, step, uid, tab: "node" } as const;
  go(same ? change : { ...change, slot: null, node: null }, "push");
  if (same && bundle.peek()?.rewrite === rewrite) findNode();
}

/** Selects the slot that holds the node that the view names, now that its pass is here. */
function findNode(): void {
  const { uid, rewrite } = view.peek();
  const b = bundle.peek();
  const t = timeline.peek();
  if (uid === null || !b || !t || b.rewrite !== rewrite) return;
  const slot = slotOfNode(t, uid, step.peek());
  if (slot === null) announce(`u${uid} is not in this pass`);
  else if (slot !== view.peek().slot) go({ slot }, "replace");
}

/** Selects where the pass failed, when it is opened there and nothing else is wanted. */
function findFailure(): void {
  const { slot, uid } = view.peek();
  const error = bundle.peek()?.error;
  const at = error?.slot ?? -1;
  if (!error || at < 0 || slot !== null || uid !== null) return;
  if (step.peek() === Math.min(error.step, stepCount.peek())) go({ slot: at }, "replace");
}

let entering: (page: Page) => readonly LinkChange[] = () => [];

/** What a page gives up of its own part of the link when one comes to it. Call once. */
export function enterWith(changes: (page: Page) => readonly LinkChange[]): void {
  entering = changes;
}

/** Opens a page, with the same kernel, pass and step. The overview is that of the run. */
export function setPage(page: Page): void {
  const here = view.peek().page;
  if (page === here && (page !== "overview" || kernelPage.peek() === null)) return;
  const named = namedKernel.peek();
  const says = named !== null && (isOfKernel(page) || (page === "graphs" && !kernelOfPass.peek()));
  go({ page, kernel: says ? named : null }, "auto", ...entering(page));
}

/** Puts a kernel on the workbench, by its context. */
export function openWorkbench(context: number): void {
  go({ page: BENCH, kernel: context });
}

/** Opens the page of a kernel, by its context. */
export function openKernel(context: number): void {
  go({ page: "overview", kernel: context });
}

/** Follows a link of the page itself: what it says is shown, and the pass that was looked at stays
 * for the graphs where it names none. */
export function followLink(hash: string): void {
  const query = new Query(hash);
  const to = readView(query);
  const { rewrite, step: at, slot } = view.peek();
  const left = looking();
  batch(() => {
    view.value = to.rewrite === null ? { ...to, rewrite, step: at, slot } : to;
    for (const part of parts) part.read(query);
    pushAddress(addressNow(), left); // before what follows the view, as in `go`
  });
  ensureBundle();
}

/** Goes to what a link says that was of another run, now that this run is open. */
export function followOther(): void {
  const link = otherLink.peek();
  if (!link || runOfLink(link.hash, filesOfRuns()) !== runName.peek()) return;
  if (location.hash !== link.hash) pushAddress(link.hash, looking());
  readAddress();
}

/** The name of a trace's file, as links have it. */
export const fileName = (path = ""): string => baseName(path).slice(0, LONGEST);

/** The address of what is shown now. */
function addressNow(): string {
  const hash = hashOf((put) => {
    putRun(runName.peek(), put);
    writeView(view.peek(), put);
    for (const part of parts) part.write(put);
  });
  return hash || location.pathname + location.search;
}

export function goStep(k: number): void {
  const bounded = Math.max(0, Math.min(k, stepCount.peek()));
  if (bounded === step.peek() && view.peek().step !== null) return;
  go({ step: bounded });
}

/** Whether a step may lie that way: in this pass, or, with one rule filtered to, in another. */
export const canStep = (direction: 1 | -1): boolean =>
  onlyRule.value || (direction > 0 ? step.value < stepCount.value : step.value > 0);

/** One step on or back; with filters on, to the next step that passes them. */
export function stepBy(direction: 1 | -1): void {
  if (!filtered.peek()) {
    goStep(step.peek() + direction);
    return;
  }
  const to = nextPassing(passing.peek(), step.peek(), direction > 0);
  const { rule } = view.peek();
  if (to !== null) goStep(to);
  else if (rule !== null && onlyRule.peek()) void crossPasses(rule, direction);
  else
    announce(
      direction > 0 ? "No later step matches the filters" : "No earlier step matches the filters",
    );
}

/** The next (or previous) match of the current step's rule: in this pass, or else in another. */
export function nextMatch(direction: 1 | -1): void {
  const rule = view.peek().rule ?? currentStep.peek()?.rule ?? null;
  if (rule === null || !bundle.peek()) return;
  const to = nextPassing(firings.peek().get(rule) ?? [], step.peek(), direction > 0);
  if (to === null) {
    void crossPasses(rule, direction);
    return;
  }
  go({ step: to });
  void knowMatches().then(sayMatch);
}

/** A match that is wanted in a pass that is on its way: the first of the rule there, or the last. */
let wantedMatch: { rewrite: number; rule: number; direction: 1 | -1 } | null = null;

/** Opens the nearest pass after (or before) this one in which the rule matched, at that match. */
async function crossPasses(rule: number, direction: 1 | -1): Promise<void> {
  const from = view.peek().rewrite;
  const known = await knowMatches();
  if (from === null || view.peek().rewrite !== from) return;
  const next = nextPassOf(rule, from, direction);
  if (next) {
    wantedMatch = { rewrite: next.rewrite, rule, direction };
    openRewrite(next.rewrite);
  } else if (known)
    announce(`No ${direction > 0 ? "later" : "earlier"} match of ${ruleName(rule)} in this run`);
}

/** The graphs at a match of the rule, filtered to it: in this pass, or else in the nearest one. False
 * if it matched nowhere, or that cannot be said; true also if the reader has gone elsewhere meanwhile. */
export async function openMatch(rule: number): Promise<boolean> {
  const from = view.peek();
  const here = bundle.peek()?.rewrite === from.rewrite ? firings.peek().get(rule)?.[0] : undefined;
  const filtered = { page: "graphs", kernel: null, rule, op: null, tab: "step" } as const;
  if (here !== undefined) {
    go({ ...filtered, step: here }, "push");
    return true;
  }
  if (rules.peek().get(rule)?.matches === 0 && !isLive.peek()) return false;
  const known = await knowMatches();
  const { page, kernel, rewrite } = view.peek();
  if (page !== from.page || kernel !== from.kernel || rewrite !== from.rewrite) return true;
  const nearest = known ? nearestPassOf(rule, from.rewrite ?? -1) : null;
  if (!nearest) return false;
  const there = { rewrite: nearest.rewrite, step: null, slot: null, uid: null, node: null };
  go({ ...filtered, ...there }, "push");
  return true;
}

/** Reads where rules matched, to the end, unless that is known; false if it cannot be read. */
async function knowMatches(): Promise<boolean> {
  if (ruleMatches.peek()?.done && !isLive.peek()) return true;
  try {
    const of = runKey.peek();
    do keepMatches(await data().ruleMatches(), of);
    while (runKey.peek() === of && !ruleMatches.peek()?.done);
    return runKey.peek() === of;
  } catch (thrown) {
    announce(`Matches in other passes: ${asProblem(thrown, "api/rule-matches").what}`);
    return false;
  }
}

/** "Match 3 of 41 in this run, pass 7 of 19". */
export function placeOfMatch({ match, matches, pass, passes }: MatchPlace): string {
  const at = `Match ${count(match)} of ${count(matches)} in this run`;
  return `${at}, pass ${count(pass)} of ${count(passes)}`;
}

function sayMatch(): void {
  const at = matchPlace.peek();
  if (at) announce(placeOfMatch(at));
}

/** The next pass that changed something: of the run, or of what was compiled on request. */
export function nextRewrite(direction: 1 | -1): void {
  const of = compiledRowOf.peek();
  const inside = currentCompilation.peek()?.row ?? -1;
  const order = rows
    .peek()
    .filter((r) => r.kind === "rewrite" && (r.steps > 0 || r.status === "error"))
    .filter((r) => of[r.row] === inside);
  const current = view.peek().rewrite;
  const row = current === null ? undefined : rewriteRows.peek().get(current);
  const at = row?.row ?? -1;
  const next = direction > 0 ? order.find((r) => r.row > at) : order.findLast((r) => r.row < at);
  if (next) openRewrite(next.id);
  else announce(direction > 0 ? "This is the last pass" : "This is the first pass");
}

/** The next (or previous) kernel, in the order of the run: its page, or its first pass that changed something. */
export function nextKernel(direction: 1 | -1): void {
  const isRun = view.peek().page === "overview" && kernelPage.peek() === null;
  const from = isRun ? null : (currentKernel.peek() ?? currentRow.peek());
  const at = from?.row ?? (direction > 0 ? -1 : Infinity);
  const kernels = rows.peek().filter((r) => r.label === "kernel" && !r.target);
  const next =
    direction > 0 ? kernels.find((r) => r.row > at) : kernels.findLast((r) => r.row < at);
  if (next) openSubject(next.row);
  else announce(direction > 0 ? "This is the last kernel" : "This is the first kernel");
}

/** Opens a kernel, schedule or other subject of the run, by its row, on the page that is open where that
 * shows kernels; what is no kernel, in the graphs. */
export function openSubject(row: number): void {
  const to = rows.peek()[row];
  if (!to) return;
  const { page } = view.peek();
  if (to.kind === "rewrite") openRewrite(to.id);
  else if (to.label === "kernel" && page === "overview") openKernel(to.id);
  else if (to.label === "kernel" && isOfKernel(page)) go({ page, kernel: to.id });
  else if (!openContext(row)) go({ page: "graphs", kernel: to.id, rewrite: null });
}

/** The first pass below a context that changed something (or else its first pass); null for none. */
export function firstPass(row: number): number | null {
  const inside = new Set([row]);
  let first: number | null = null;
  for (const r of rows.peek()) {
    if (!inside.has(r.parent) || r.target) continue;
    inside.add(r.row);
    if (r.kind !== "rewrite") continue;
    if (r.steps > 0 || r.status === "error") return r.id;
    first ??= r.id;
  }
  return first;
}

/** Opens the first pass below a context; false where it has none. */
export function openContext(row: number): boolean {
  const first = firstPass(row);
  if (first !== null) openRewrite(first);
  return first !== null;
}

/** The passes below a row that changed something or failed, in order. */
export function passesIn(root: Row, all: readonly Row[] = rows.peek()): Row[] {
  const inside = new Set([root.row]);
  const passes: Row[] = [];
  for (const r of all) {
    if (!inside.has(r.parent) || r.target) continue;
    inside.add(r.row);
    if (r.kind === "rewrite" && (r.steps > 0 || r.status === "error")) passes.push(r);
  }
  return passes;
}

/**
 * Opens the passes of a kernel, its own or those that it was compiled with on request: the pass of
 * the same name as the current one; or, with `last`, the last one that changed something.
 */
export function openPasses(root: Row, last = false): void {
  const passes = passesIn(root);
  const row = currentRow.peek();
  const alike = last ? [] : passes.filter((r) => r.name === row?.name);
  const target = alike[0] ?? (last ? passes.at(-1) : passes[0]);
  if (target) openRewrite(target.id);
  else announce("None of these passes changed anything");
}

export function select(slot: number | null): void {
  if (slot !== view.peek().slot) go({ slot, uid: null });
}

/** Turns a filter on, or off when it is on already. */
export function toggleRuleFilter(rule: number): void {
  go({ rule: view.peek().rule === rule ? null : rule });
}
export function toggleNodeFilter(slot: number): void {
  go({ node: view.peek().node === slot ? null : slot });
}
export function clearFilters(): void {
  go({ rule: null, op: null, node: null });
}

/** Says it to those who listen; a second time, too, though the words are the same. "" takes away what
 * was said. */
export function announce(text: string): void {
  announcement.value = text && announcement.peek() === text ? `${text}\u00a0` : text;
}

export function reportProblem(problem: ApiProblem): void {
  ownProblems.value = [...ownProblems.peek(), problem].slice(-100);
}

/** Fetches the pass in the view, on a page that reads it, unless it is here or on its way. */
export function ensureBundle(): void {
  const { rewrite: wanted, page } = view.peek();
  const coming = loading.peek()?.rewrite;
  if (wanted === null || coming === wanted || !readsPass(page)) return;
  if (bundle.peek()?.rewrite !== wanted) void fetchBundle(wanted);
  else if (coming !== undefined) stopLoading(); // it would take the place of the one in the view
}

/** Fetches the current pass again, keeping step and selection: live steps, or a retry. */
export function reloadBundle(): void {
  const wanted = view.peek().rewrite;
  if (wanted !== null) void fetchBundle(wanted);
}

/** What is on its way is not wanted any more. */
export function stopLoading(): void {
  fetching?.abort();
  fetching = null; // what arrives all the same is not wanted
  loading.value = null;
}

export function cancelLoading(): void {
  if (!loading.peek()) return;
  stopLoading();
  const shown = bundle.peek();
  if (shown) go({ rewrite: shown.rewrite, step: null, slot: null }, "replace");
}

async function fetchBundle(rewrite: number): Promise<void> {
  fetching?.abort();
  const mine = new AbortController();
  fetching = mine;
  batch(() => {
    loading.value = { rewrite, since: performance.now() };
    loadError.value = null;
  });
  try {
    const loaded = await data().bundle(rewrite, mine.signal);
    if (fetching !== mine) return;
    const checked = new Timeline(loaded);
    await knowRules(loaded);
    if (fetching !== mine) return;
    const match = wantedIn(loaded);
    batch(() => {
      timeline.value = checked;
      bundle.value = loaded;
      loading.value = null;
      if (match !== null) go({ step: match }, "replace");
    });
    if (match !== null) sayMatch();
    findNode();
    findFailure();
  } catch (thrown) {
    if (isAbort(thrown) || fetching !== mine) return;
    batch(() => {
      loading.value = null;
      loadError.value = { ...pick(asProblem(thrown, `pass ${rewrite}`)), rewrite };
    });
  }
}

/** The step of the match that the pass was opened for; null without one. */
function wantedIn(b: Bundle): number | null {
  const wanted = wantedMatch;
  if (wanted?.rewrite !== b.rewrite) return null;
  wantedMatch = null;
  const is = (s: Bundle["steps"][number]): boolean => s.rule === wanted.rule;
  const at = wanted.direction > 0 ? b.steps.findIndex(is) : b.steps.findLastIndex(is);
  return at < 0 ? null : at + 1;
}

const pick = ({ what, where, hint }: ApiProblem): ApiProblem => ({ what, where, hint });

/** Fetches the rules again if a step names one that has not arrived. */
async function knowRules(b: Bundle): Promise<void> {
  const known = rules.peek();
  if (!b.steps.some((s) => !known.has(s.rule))) return;
  await refreshRules();
}

export async function refreshRules(): Promise<void> {
  const of = runName.peek();
  const found = await data().rules();
  if (runName.peek() === of) rules.value = new Map(found.map((rule) => [rule.id, rule]));
}
