/**
 * Keeps the run that is shown, its rows and rules up to date while it lives, and the list of runs;
 * turns to another run, and reconnects to a lost server. Only appends: while a run is shown, never
 * moves the view, never touches the loaded pass.
 */
import { batch } from "@preact/signals";
import { asProblem, FIRST_RUN, type Backend } from "../data/backend";
import type { RunName } from "../data/messages/run";
import { mergeRows } from "../data/rows";
import { refreshRules, reloadBundle, stopLoading } from "./actions";
import { hasEnded, sawEnd } from "./ending";
import { keyOf } from "./runState";
import {
  bundle,
  connection,
  fatal,
  hovered,
  loadError,
  openRuns,
  preview,
  rows,
  rowsArrived,
  rules,
  run,
  runName,
  timeline,
} from "./state";

const POLL_MS = 500;
/** A finished run is asked now and then, so that a lost server and a rerun show. */
const SETTLED_MS = 4000;
/** Without a server nothing is lost: it may be started again. */
const ENDED_MS = 4000;
const RETRY_MS = [1000, 2000, 3000, 5000, 10000];

/**
 * Fetches everything once, then polls while the run is live. Resolves after the first answer.
 *
 * @param firstPage where a page is open that needs no rows, waits until that is shown: there may be
 * many rows, and they are asked for after it
 */
export async function follow(backend: Backend, firstPage?: () => Promise<void>): Promise<void> {
  const answered = await refresh(backend, firstPage);
  if (!answered || backend.server) schedule(backend);
}

let failures = 0;
/** When the server last answered, as `Date.now` has it: that goes on while a computer sleeps. */
let answeredAt = Date.now();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Asks again at once: the user pressed "Try now", or something was compiled. */
export function retryNow(backend: Backend): void {
  void refreshNow(backend);
}

/** Asks again at once, and resolves after the answer. */
export async function refreshNow(backend: Backend): Promise<void> {
  clearTimeout(timer);
  await tick(backend);
}

function schedule(backend: Backend): void {
  const now = connection.peek();
  const lost = now.kind === "lost";
  const settled = run.peek()?.live === false;
  const pause = lost
    ? RETRY_MS[Math.min(failures, RETRY_MS.length) - 1]!
    : now.kind === "ended"
      ? ENDED_MS
      : settled
        ? SETTLED_MS
        : POLL_MS;
  if (lost) connection.value = { ...now, retryAt: Date.now() + pause };
  clearTimeout(timer); // "Try now" may have come while an answer was awaited
  timer = setTimeout(() => void tick(backend), pause);
}

async function tick(backend: Backend): Promise<void> {
  const answered = await refresh(backend);
  if (!answered || backend.server) schedule(backend);
}

/** Asks which runs are open. Rejects where that is unknown. */
export async function refreshRuns(backend: Backend): Promise<readonly RunName[]> {
  runsAsked = performance.now();
  const found = await backend.runs();
  if (JSON.stringify(found) !== JSON.stringify(openRuns.peek())) openRuns.value = found;
  return openRuns.peek();
}

let runsAsked = -Infinity;
/** Counts the runs that were turned to: the last one wins. */
let turns = 0;

/**
 * Shows another run in place of this one, once its first answer is here; false where it was asked to
 * show yet another one meanwhile. Rejects, and stays, where it does not answer.
 *
 * @param arrived says what of it is looked at, before anything of it is drawn
 */
export async function turnTo(
  backend: Backend,
  name: string,
  arrived: () => void,
): Promise<boolean> {
  const turn = ++turns;
  const now = await backend.of(name).run();
  if (turn !== turns) return false;
  batch(() => {
    stopLoading();
    runName.value = name;
    run.value = now;
    rows.value = [];
    rowsArrived.value = false;
    rules.value = new Map();
    bundle.value = null;
    timeline.value = null;
    loadError.value = null;
    preview.value = null;
    hovered.value = null;
    arrived();
  });
  await refreshNow(backend);
  return true;
}

async function refresh(backend: Backend, firstPage?: () => Promise<void>): Promise<boolean> {
  const name = runName.peek();
  const of = backend.of(name);
  /** Another run is shown now. */
  const isLeft = (): boolean => runName.peek() !== name;
  if (performance.now() - runsAsked >= SETTLED_MS && (backend.server || !openRuns.peek().length))
    refreshRuns(backend).catch(() => undefined); // why not, the run's own answer says
  try {
    const now = await of.run();
    if (isLeft()) return true;
    const before = run.peek();
    const another = before !== null && keyOf(name, before) !== keyOf(name, now);
    if (firstPage) {
      run.value = now;
      await firstPage();
    }
    if (before?.live && !now.live && !another) sawEnd(keyOf(name, now));
    const known = another ? 0 : rows.peek().length;
    const compiled = JSON.stringify(before?.compilations) !== JSON.stringify(now.compilations);
    const isNew = before === null || another || !rowsArrived.peek();
    const tree = now.live || isNew || before.live || compiled ? await of.tree(known) : null;
    if (isNew) await refreshRules();
    if (isLeft()) return true;
    batch(() => {
      if (another) {
        rows.value = [];
        bundle.value = null;
        timeline.value = null;
      }
      if (tree) {
        rows.value = mergeRows(rows.peek(), tree.rows);
        rowsArrived.value = true;
      }
      if (JSON.stringify(before) !== JSON.stringify(now)) run.value = now;
      connection.value = { kind: backend.server ? "connected" : "embedded" };
      fatal.value = null;
    });
    // What failed while the server was away is worth asking again.
    if (another || (failures > 0 && loadError.peek())) reloadBundle();
    failures = 0;
    answeredAt = Date.now();
    return true;
  } catch (thrown) {
    if (isLeft()) return true;
    const problem = asProblem(thrown, "api/run");
    if (!problem.lost && (await wasClosed(backend, name))) return true;
    failures += 1;
    if (problem.lost && hasEnded(run.peek(), Date.now() - answeredAt)) {
      connection.value = { kind: "ended" };
      return false;
    }
    // A server that was started again answers, but has another key.
    const why = problem.lost
      ? "Connection lost"
      : `${problem.what}. ${problem.hint.replace(/\.$/, "")}`;
    if (problem.lost || run.peek()) connection.value = { kind: "lost", retryAt: Date.now(), why };
    if (run.peek() === null) fatal.value = problem;
    return false;
  }
}

let closed: (name: string) => void = () => undefined;

/** Who is told that the run that is shown was closed, from another page. Call once. */
export function onClosed(tell: (name: string) => void): void {
  closed = tell;
}

/** Whether a run is no longer open, while the server goes on. */
async function wasClosed(backend: Backend, name: string): Promise<boolean> {
  if (name === FIRST_RUN || !backend.server) return false;
  try {
    const found = await refreshRuns(backend);
    if (found.some((one) => one.name === name)) return false;
  } catch {
    return false;
  }
  closed(name);
  return true;
}
