/** Lineages as they are needed: fetched for the node that is looked at, kept for the run. */
import { computed, effect, signal } from "@preact/signals";
import { data } from "../../../state/actions";
import { bundle, rows, run, sides, view } from "../../../state/state";
import { asProblem, isAbort } from "../../../data/backend";
import { MOST_NEEDED, nodeHistory, type History, type Lineages } from "../../../data/lineage";
import { kernelArtifacts } from "../../../parts/kernel/kernel";
import { lineIndex, linesOf } from "../../../parts/kernel/lines";
import { nodeOrigins } from "../../../parts/kernel/link";
import { scopeRow } from "./scope";
import type { ApiProblem } from "../../../data/messages/job";
import type { Lineage } from "../../../data/messages/lineage";

const POLL_MS = 30;
/** As many as one history may need, or they would take each other's place for ever. */
const KEPT = MOST_NEEDED;

const lineages = signal<Lineages>(new Map());
/** The scope that is being read, and how much of it has been. */
export const reading = signal<{ scope: number; progress: number } | null>(null);
export const historyError = signal<ApiProblem | null>(null);
/** The reader gave up on this scope. */
const cancelled = signal<number | null>(null);

/** Trace-wide id of the selected node; null for none. */
export const selectedNode = computed<number | null>(() => {
  const b = bundle.value;
  const both = sides.value;
  const { slot } = view.value;
  if (!b || !both || slot === null) return null;
  const now = both.after.nodeOf(slot);
  const c = now >= 0 ? now : both.before.nodeOf(slot);
  return c >= 0 ? (b.nodes.id[c] ?? null) : null;
});

const scope = computed<number | null>(() => {
  const b = bundle.value;
  const row = b && rows.value.find((r) => r.kind === "rewrite" && r.id === b.rewrite);
  return row ? scopeRow(rows.value, row) : null;
});

/** The history of the selected node, as far as its lineages are here. */
export const history = computed<History | null>(() => {
  const b = bundle.value;
  if (!b || scope.value === null || selectedNode.value === null) return null;
  return nodeHistory(lineages.value, scope.value, b.rewrite, selectedNode.value);
});

/** The lines that were made of the selected node, or of what became of it, per source. */
export const linesOfHistory = computed(() => {
  const uid = selectedNode.value;
  if (uid === null) return [];
  const last = history.value?.rows.at(-1)?.node;
  return kernelArtifacts.value.flatMap((artifact) => {
    const of = (id: number): readonly number[] =>
      linesOf(lineIndex(artifact), nodeOrigins.value, id).lines;
    const own = of(uid);
    const lines = own.length || last === undefined ? own : of(last);
    return lines.length ? [{ artifact, lines }] : [];
  });
});

/** The scope whose lineage is wanted next; null while the history is closed, or complete. */
const wanted = computed<number | null>(() => {
  const { page, tab } = view.value;
  if (page !== "graphs" || tab !== "node" || selectedNode.value === null) return null;
  if (scope.value !== null && !lineages.value.has(scope.value)) return scope.value;
  return history.value?.needs ?? null;
});

/** Fetches what the Node tab needs while it is open. */
export function startHistory(): void {
  let fetching: AbortController | null = null;
  let of = "";
  effect(() => {
    const now = run.value;
    const key = now
      ? `${now.started} ${now.file} ${now.live ? now.totals.steps : ""} ${now.compilations?.join(" ")}`
      : "";
    if (key !== of) lineages.value = new Map();
    of = key;
  });
  effect(() => {
    const next = wanted.value;
    fetching?.abort();
    fetching = null;
    if (next === null || next === cancelled.value) {
      reading.value = null;
      return;
    }
    fetching = new AbortController();
    void read(next, fetching.signal);
  });
}

async function read(next: number, signal: AbortSignal): Promise<void> {
  historyError.value = null;
  reading.value = { scope: next, progress: 0 };
  try {
    for (;;) {
      const found = await data().lineage(next, signal);
      if (signal.aborted) return;
      if (found.done) {
        keep(next, found);
        return;
      }
      reading.value = { scope: next, progress: found.progress };
      await new Promise((done) => setTimeout(done, POLL_MS));
      signal.throwIfAborted();
    }
  } catch (thrown) {
    if (isAbort(thrown) || signal.aborted) return;
    historyError.value = asProblem(thrown, `history of ${next}`);
    keep(next, null);
  }
}

function keep(of: number, lineage: Lineage | null): void {
  const kept = [...lineages.peek()].slice(1 - KEPT);
  reading.value = null;
  lineages.value = new Map([...kept, [of, lineage]]);
}

/** Ends the reading; `again` takes it up. */
export function cancelHistory(): void {
  cancelled.value = reading.peek()?.scope ?? null;
}

export function readAgain(): void {
  cancelled.value = null;
  historyError.value = null;
  lineages.value = new Map([...lineages.peek()].filter(([, lineage]) => lineage !== null));
}

/** Whether the reader has cancelled what is wanted. */
export const waiting = computed(() => wanted.value !== null && wanted.value === cancelled.value);

/** Whether all of the history is here that will be: read, given up on, or failed. */
export const settled = computed(
  () => reading.value === null && (wanted.value === null || waiting.value),
);
