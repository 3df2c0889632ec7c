/**
 * Keeps run, rows and rules up to date while the run lives, and reconnects to a lost server.
 * Only appends: never moves the view, never touches the loaded pass.
 */
import { batch } from "@preact/signals";
import { asProblem, type Backend } from "../data/backend";
import { mergeRows } from "../data/rows";
import { refreshRules, reloadBundle } from "./actions";
import { keyOf } from "./runState";
import { bundle, connection, fatal, loadError, rows, rowsArrived, run, timeline } from "./state";

const POLL_MS = 500;
/** A finished run is asked now and then, so that a lost server and a rerun show. */
const SETTLED_MS = 4000;
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
    : settled
      ? SETTLED_MS
      : POLL_MS;
  if (lost) connection.value = { ...now, retryAt: Date.now() + pause };
  clearTimeout(timer); // "Try now" may have come while an answer was awaited
  timer = setTimeout(() => void tick(backend), pause);
}

async function tick(backend: Backend): Promise<void> {
  await refresh(backend);
  schedule(backend);
}

async function refresh(backend: Backend, firstPage?: () => Promise<void>): Promise<boolean> {
  try {
    const now = await backend.run();
    const before = run.peek();
    const another = before !== null && keyOf(before) !== keyOf(now);
    if (firstPage) {
      run.value = now;
      await firstPage();
    }
    const known = another ? 0 : rows.peek().length;
    const compiled = JSON.stringify(before?.compilations) !== JSON.stringify(now.compilations);
    const tree =
      now.live || before === null || another || before.live || compiled
        ? await backend.tree(known)
        : null;
    if (before === null || another) await refreshRules();
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
    return true;
  } catch (thrown) {
    failures += 1;
    const problem = asProblem(thrown, "api/run");
    // A server that was started again answers, but has another key.
    const why = problem.lost
      ? "Connection lost"
      : `${problem.what}. ${problem.hint.replace(/\.$/, "")}`;
    if (problem.lost || run.peek()) connection.value = { kind: "lost", retryAt: Date.now(), why };
    if (run.peek() === null) fatal.value = problem;
    return false;
  }
}
