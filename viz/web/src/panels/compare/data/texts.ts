/**
 * The texts of the selected scope: which there are on either side, which are shown, and what they
 * hold. One that was not recorded is compiled for both sides on request.
 */
import { batch, computed, effect, signal } from "@preact/signals";
import { asProblem, isAbort } from "../../../data/backend";
import { follow } from "../../../data/jobs";
import type { SourceDifference, SourceName } from "../../../data/messages/compare";
import type { ApiProblem } from "../../../data/messages/job";
import type { Artifact, KernelPlace } from "../../../data/messages/kernel";
import type { UserFile } from "../../../data/messages/run";
import {
  inOrder,
  mostColumns,
  usedColumns,
  usualColumns,
  withColumn,
} from "../../../parts/kernel/choice";
import {
  chooseColumns,
  columnKey,
  kindOf,
  possibleColumns,
  targetOf,
} from "../../../parts/kernel/columns";
import type { Compiling } from "../../../parts/kernel/kernel";
import { originMap } from "../../../parts/kernel/lines";
import { PYTHON, userText } from "../../../parts/kernel/userText";
import { allData } from "../../../state/actions";
import { run } from "../../../state/state";
import { Watched } from "../../../state/watched";
import { compareLink, numbersOf, show } from "./link";
import { pairData, runData, type Side } from "./ask";
import {
  differences,
  type LineRow,
  merged,
  type Merged,
  rowsOfSide,
  rowsOfTexts,
  type SideTexts,
  stretches,
} from "./merged";
import { comparison, isOpen, isTextSeen, runsKey, scope, scopeKey, watchedScope } from "./store";

const SIDES = ["a", "b"] as const;
const OWN = `${PYTHON}:`;

interface Known {
  artifacts: readonly Artifact[];
  origins: ReadonlyMap<number, readonly number[]>;
  places: readonly KernelPlace[];
}

/** Whether texts of the scope are looked at. */
const isSeen = (): boolean =>
  isOpen() && isTextSeen() && (scope.value?.kind ?? "other") !== "other";

function watchedKernel(side: Side): Watched<Known> {
  const context = computed(() => scope.value?.[side] ?? 0);
  return new Watched<Known>(
    "api/kernels",
    () => isSeen() && context.value > 0,
    async (abort) => {
      const of = context.peek();
      if (scope.peek()?.kind === "schedule") {
        const { artifacts, origins } = await runData(side).schedule(of, abort);
        return { artifacts, origins: originMap(origins), places: [] };
      }
      const [kernel, origins] = await Promise.all([
        runData(side).kernel(of, abort),
        // Without them lines still link exactly.
        runData(side)
          .origins(of, abort)
          .catch(() => null),
      ]);
      const { artifacts, places = [] } = kernel;
      return { artifacts, origins: originMap(origins), places };
    },
    undefined,
    () => `${runsKey.value} ${context.value}`,
  );
}

const watchedFiles = (side: Side): Watched<UserFile[]> =>
  new Watched<UserFile[]>(
    "api/user-lines",
    () => isSeen() && (kernels[side].answer.value?.places.length ?? 0) > 0,
    (abort) => runData(side).userLines(abort),
    undefined,
    () => runsKey.value,
  );

const kernels = { a: watchedKernel("a"), b: watchedKernel("b") };
const files = { a: watchedFiles("a"), b: watchedFiles("b") };

/** What is known of a side's kernel, for its links. */
export const originsAt = (side: Side): Known["origins"] =>
  kernels[side].answer.value?.origins ?? new Map<number, number[]>();

/** Whether a run has the text of none of the user's lines, as a variant of the other one has not: then
 * there is nothing to compare them with. */
const isUntold = computed(() => SIDES.some((side) => files[side].answer.value?.length === 0));

const own = (side: Side): ReturnType<typeof userText> => {
  if (isUntold.value) return null;
  const places = kernels[side].answer.value?.places ?? [];
  const answer = files[side].answer.value ?? (files[side].error.value ? [] : null);
  return answer && places.length ? userText(answer, places) : null;
};
const owns = { a: computed(() => own("a")), b: computed(() => own("b")) };

/** The texts of both sides of a column. */
export function textsOf(key: string): SideTexts {
  const of = (side: Side): SideTexts[Side] => {
    if (key === OWN) return owns[side].value;
    const found = kernels[side].answer.value?.artifacts.find((a) => columnKey(a) === key);
    return found && !found.error ? { artifact: found } : null;
  };
  return { a: of("a"), b: of("b") };
}

/** A text that a side could not be compiled to. */
export const failedText = (key: string): ApiProblem | null =>
  SIDES.flatMap((side) => kernels[side].answer.value?.artifacts ?? []).find(
    (a) => columnKey(a) === key && a.error,
  )?.error ?? null;

const sources = computed(() => watchedScope.answer.value?.sources ?? []);
export const sourceOf = (key: string): SourceName | undefined =>
  sources.value.find((s) => columnKey(s) === key);

/** Whether the scope can be compiled on request: a kernel whose text was not edited. */
export const canCompile = computed(() => {
  const runs = comparison.value?.runs;
  return (
    allData().server !== null &&
    scope.value?.kind === "kernel" &&
    !runs?.a?.edited &&
    !runs?.b?.edited
  );
});
const targets = computed(() => (canCompile.value ? (run.value?.targets ?? []) : []));

/** Columns that there can be: the users' lines, the texts at hand, what targets would give. */
export const possible = computed<readonly string[]>(() => {
  const mine = owns.a.value || owns.b.value ? [OWN] : [];
  const here = sources.value.map(columnKey);
  const chosen = chooseColumns([], targets.value, Infinity);
  return [...new Set([...mine, ...here, ...chosen, ...possibleColumns([], targets.value)])];
});

/** The columns that are shown: those that were chosen, or the users' lines and the texts that differ
 * first. Each takes two places where the sides stand beside each other. */
export const shown = computed<readonly string[]>(() => {
  const { sources: chosen, unified } = compareLink.value;
  if (chosen) return chosen;
  const rank = (s: SourceName): number => (s.equal ? 2 : s.a && s.b ? 0 : 1);
  const first = [...sources.value].sort((x, y) => rank(x) - rank(y)).map(columnKey);
  const mine = unified && (owns.a.value || owns.b.value) ? [OWN] : [];
  const room = unified ? usualColumns.value : Math.max(1, usualColumns.value >> 1);
  return [...mine, ...first.slice(0, room - mine.length)];
});

/** Shows a column, in place of the one used longest ago where there is no room, or hides it; one that
 * has to be compiled is asked for with that. */
export function toggle(key: string): void {
  const now = shown.peek();
  if (now.includes(key)) {
    show({ sources: now.filter((k) => k !== key) }, "replace");
    return;
  }
  const most = compareLink.peek().unified ? mostColumns.peek() : mostColumns.peek() >> 1;
  const next = withColumn(now, key, usedColumns.peek(), most);
  usedColumns.value = [...usedColumns.peek().filter((k) => k !== key), key];
  show({ sources: inOrder(next, run.peek()?.kinds ?? []) }, "replace");
  if (!sourceOf(key)) compile(targetOf(key));
}

/** What differs in the texts that are shown, by column; or why that is not known. */
const found = signal<ReadonlyMap<string, SourceDifference | ApiProblem>>(new Map());
const put = <T>(map: ReadonlyMap<string, T>, key: string, value: T): ReadonlyMap<string, T> =>
  new Map([...map, [key, value]]);
const isProblem = (one: SourceDifference | ApiProblem): one is ApiProblem => "what" in one;
let asking = new AbortController();
const asked = new Set<string>();

/** Another state of the text is another question. */
const keyOfState = (s: SourceName): string => `${columnKey(s)} ${s.a} ${s.b} ${s.equal}`;

function ask(s: SourceName): void {
  const key = keyOfState(s);
  const { signal: mine } = asking;
  asked.add(key);
  const [of, beside] = numbersOf(scopeKey.peek());
  pairData()
    .sources(of, beside, s.kind, s.target, mine)
    .then((answer) => void (mine.aborted || (found.value = put(found.peek(), key, answer))))
    .catch((thrown: unknown) => {
      if (!isAbort(thrown) && !mine.aborted)
        found.value = put(found.peek(), key, asProblem(thrown, "api/compare/sources"));
    });
}

/** Asks again for a text that could not be read. */
export function askAgain(key: string): void {
  for (const side of SIDES) if (kernels[side].error.value) kernels[side].retry();
  const s = sourceOf(key);
  if (s) ask(s);
}

/** Call once. */
export function startTexts(): void {
  for (const side of SIDES) {
    kernels[side].start();
    files[side].start();
  }
  effect(() => {
    void runsKey.value;
    void scopeKey.value;
    asking.abort();
    for (const job of jobs.values()) job.abort();
    asking = new AbortController();
    asked.clear();
    jobs.clear();
    batch(() => {
      found.value = new Map();
      compiling.value = new Map();
    });
  });
  effect(() => {
    if (!isSeen()) return;
    for (const s of sources.value)
      if (shown.value.includes(columnKey(s)) && !asked.has(keyOfState(s))) ask(s);
  });
}

/** What a comparison says of a text; null while it is on its way, and where it failed. */
export function differenceOf(key: string): SourceDifference | null {
  const s = sourceOf(key);
  const one = s && found.value.get(keyOfState(s));
  return one && !isProblem(one) ? one : null;
}

/** Why a text cannot be shown; null where it can, or comes. */
export function problemOf(key: string): ApiProblem | null {
  const s = sourceOf(key);
  const one = s && found.value.get(keyOfState(s));
  const read = kernels.a.error.value ?? kernels.b.error.value ?? watchedScope.error.value;
  return read ?? (one && isProblem(one) && !s.equal ? one : null);
}

/** The lines of both sides of a column in one order; null while they are on their way. */
function rowsOf(key: string, { a, b }: SideTexts): readonly LineRow[] | null {
  if (a && !b) return rowsOfSide("a", a.artifact);
  if (b && !a) return rowsOfSide("b", b.artifact);
  if (!a || !b) return null;
  if (key === OWN) return rowsOfTexts(a.artifact.text, b.artifact.text);
  const difference = differenceOf(key);
  if (difference) return difference.rows;
  // An exported file leaves out what is equal.
  const s = sourceOf(key);
  if (!s?.equal || !found.value.has(keyOfState(s))) return null;
  const lines = Math.min(...[a, b].map((one) => one.artifact.text.split("\n").length));
  return Array.from({ length: lines }, (_, at) => ({ a: at + 1, b: at + 1, state: "same" }));
}

/** Where a text differs: of each difference the line (0-based) of each of its columns. */
export const differencesOf = computed(() => {
  const made = new Map<string, readonly ReadonlyMap<string, number>[]>();
  for (const key of shown.value) {
    const whole = texts.value.get(key);
    if (whole) {
      made.set(
        key,
        differences(whole).map((line) => new Map([[key, line]])),
      );
      continue;
    }
    const rows = compareLink.value.unified ? null : rowsOf(key, textsOf(key));
    if (rows)
      made.set(
        key,
        stretches(rows).map((at) => new Map(SIDES.map((side) => [columnOf(key, side), at[side]]))),
      );
  }
  return made;
});

/** "ptx:sm_90 (A)" of the column of one side; its own name of one that has both. */
export const columnOf = (key: string, side: Side): string =>
  `${key}${targetOf(key) ? " " : ""}(${side.toUpperCase()})`;

interface Place {
  /** Of the text, without its side. */
  key: string;
  side: Side | null;
}

/** Names of the columns, in order, and what they are of. */
export const columns = computed<ReadonlyMap<string, Place>>(
  () =>
    new Map(
      shown.value.flatMap((key): [string, Place][] =>
        compareLink.value.unified
          ? [[key, { key, side: null }]]
          : SIDES.map((side) => [columnOf(key, side), { key, side }]),
      ),
    ),
);

/** The text that a column is of. */
export const textKey = (id: string): string => columns.value.get(id)?.key ?? id;

/** The texts that are shown, by column, as far as they are here. */
export const texts = computed<ReadonlyMap<string, Merged>>(() => {
  const made = new Map<string, Merged>();
  for (const [id, { key, side }] of columns.value) {
    const both = textsOf(key);
    const rows = rowsOf(key, both);
    if (!rows || (side && !both[side])) continue;
    made.set(id, merged(rows, both, { kind: kindOf(id), target: targetOf(id) }, side));
  }
  return made;
});

const jobs = new Map<string, AbortController>();
/** Compiling, or failed to: by target. */
export const compiling = signal<ReadonlyMap<string, Compiling>>(new Map());

/** Compiles the kernel of each side for a target, with the code that is installed now. */
export function compile(target: string): void {
  const pair = scope.peek();
  if (!pair || !canCompile.peek() || jobs.has(target)) return;
  const mine = new AbortController();
  jobs.set(target, mine);
  const note = (what: Compiling): void => {
    if (!mine.signal.aborted) compiling.value = put(compiling.peek(), target, what);
  };
  note({ state: "running", progress: `Compiling for ${target}` });
  const one = async (side: Side): Promise<void> => {
    const { server } = runData(side);
    const context = pair[side];
    if (!server || context === null) return;
    const has = kernels[side].answer.peek()?.artifacts.some((a) => a.target === target && a.passes);
    if (!has)
      await follow(
        server,
        () => server.compile(context, target),
        () => undefined,
        mine.signal,
      );
  };
  Promise.all(SIDES.map(one))
    .then(() => {
      if (mine.signal.aborted) return;
      kernels.a.retry();
      kernels.b.retry();
      watchedScope.retry();
      const next = new Map(compiling.peek());
      next.delete(target);
      compiling.value = next;
    })
    .catch((thrown: unknown) => {
      if (!isAbort(thrown)) note({ state: "error", error: asProblem(thrown, target) });
    })
    .finally(() => {
      if (jobs.get(target) === mine) jobs.delete(target);
    });
}

export function cancelCompile(target: string): void {
  jobs.get(target)?.abort();
  jobs.delete(target);
  const error = { what: "Compiling was cancelled", where: target, hint: "" };
  compiling.value = put(compiling.peek(), target, { state: "error", error });
}
