/** The overview's data, and what of it is listed. Asks only while the overview is open. */
import { computed, signal } from "@preact/signals";
import type { Peak } from "../../data/messages/kernel";
import type { Overview } from "../../data/messages/overview";
import type { UserFile } from "../../data/messages/run";
import { knowPeaks, peaks } from "../../parts/peaks";
import { data } from "../../state/actions";
import { isLive, kernelPage, runKey, view } from "../../state/state";
import { Watched } from "../../state/watched";
import { sorted } from "../../ui/SortHead";
import { columnsFor, linesOf, type Line } from "./table/columns";
import { textsOf } from "./run/texts";
import { overviewLink } from "./link";
import { keepPlaces } from "./table/places";

/** Kernels that are listed before "more" is asked for. */
export const FEW_KERNELS = 12;

export const watched = new Watched<Overview>(
  "api/overview",
  () => view.value.page === "overview" && kernelPage.value === null,
  (abort) => {
    knowPeaks();
    return data().overview(abort);
  },
);
export const overview = watched.answer;

/** The recorded text of the user's files; asked for once there are lines to show. */
export const watchedLines = new Watched<UserFile[]>(
  "api/user-lines",
  () =>
    view.value.page === "overview" &&
    kernelPage.value === null &&
    (overview.value?.lines.length ?? 0) > 0,
  (abort) => data().userLines(abort),
);
const texts = computed(() => textsOf(watchedLines.answer.value ?? []));
/** Whether the texts have arrived, or will not. */
export const textsKnown = computed(
  () => watchedLines.answer.value !== null || watchedLines.error.value !== null,
);
/** The text of a line of the user's program; "" where it was not recorded. */
export const textOf = (file: string, line: number): string =>
  texts.value.get(`${file}:${line}`) ?? "";

/** The peaks of the machine on which the run was recorded: of this one, or not known. */
export const peakOf = (device: string): Peak | undefined =>
  overview.value?.here ? peaks.value.get(device) : undefined;

const lines = computed(() => {
  const o = overview.value;
  return o ? linesOf(o.kernels, o.by, peakOf) : [];
});
export const columns = computed(() => {
  const o = overview.value;
  return columnsFor(lines.value, o?.by ?? "run", o?.here === true);
});

/** What was listed last, in order, and in which way: a run that goes on moves none of it. */
let listed: { of: string; keys: readonly string[] } = { of: "", keys: [] };
/** Counts the reader's wishes to sort anew. */
const sortedAnew = signal(0);

const inOrder = computed(() => sorted(lines.value, columns.value, overviewLink.value.order));

/** The kernels in the order in which they are listed. */
export const kernels = computed<readonly Line[]>(() => {
  const of = `${runKey.value} ${overviewLink.value.order} ${sortedAnew.value}`;
  const same = of === listed.of && listed.keys.length > 0;
  const made = same ? keepPlaces(listed.keys, inOrder.value, (l) => l.key) : inOrder.value;
  listed = { of, keys: made.map((l) => l.key) };
  return made;
});

/** Whether kernels came or changed so that another order would be the right one. */
export const isStale = computed(() =>
  kernels.value.some((line, i) => line.key !== inOrder.value[i]?.key),
);

export function sortAnew(): void {
  sortedAnew.value += 1;
}

const kept = new Map<string, { run: string; keys: readonly string[] }>();

/** The first few of a list, those that were there before in their places while the run goes on. */
export function fewOf<T>(
  name: string,
  items: readonly T[],
  n: number,
  keyOf: (t: T) => string,
): T[] {
  const before = kept.get(name);
  const first = items.slice(0, n);
  const same = before?.run === runKey.value && isLive.value;
  const made = same ? keepPlaces(before.keys, first, keyOf) : first;
  kept.set(name, { run: runKey.value, keys: made.map(keyOf) });
  return made;
}
