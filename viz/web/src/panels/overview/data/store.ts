/** The overview's data, and what of it is listed. Asks only while the overview is open. */
import { computed, signal } from "@preact/signals";
import type { Peak } from "../../../data/messages/kernel";
import type { Overview } from "../../../data/messages/overview";
import type { UserFile } from "../../../data/messages/run";
import { isAwaited, marks } from "../../../parts/check/checks";
import type { Mark } from "../../../parts/check/marks";
import { knowPeaks, peaks } from "../../../parts/peaks";
import { data } from "../../../state/actions";
import { kernelPage, rows, runKey, view } from "../../../state/state";
import { Watched } from "../../../state/watched";
import { sorted } from "../../../ui/SortHead";
import { columnsFor, linesOf, type Line } from "./columns";
import { textsOf } from "./texts";
import { overviewLink } from "./link";
import { keepPlaces } from "./places";

/** Kernels that are listed before "more" is asked for. */
export const FEW_KERNELS = 12;

export const watched = new Watched<Overview>(
  "api/overview",
  () => view.value.page === "overview" && kernelPage.value === null,
  async (abort) => {
    // Shares of peaks that arrived after the kernels would move their speeds.
    const [found] = await Promise.all([data().overview(abort), knowPeaks()]);
    return found;
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

/** The marks of kernels, by their contexts. */
const checks = computed(() => {
  const all = new Map<number, Mark>();
  for (const row of rows.value) {
    const mark = row.kind === "context" ? marks.value[row.row] : null;
    if (mark) all.set(row.id, mark);
  }
  return all;
});

const lines = computed(() => {
  const o = overview.value;
  return o ? linesOf(o.kernels, o.by, peakOf, (context) => checks.value.get(context) ?? null) : [];
});
export const columns = computed(() => {
  const o = overview.value;
  return columnsFor(lines.value, o?.by ?? "run", o?.here === true, isAwaited.value);
});

/** The kernels in the order in which they are listed. */
export const kernels = computed<readonly Line[]>(() => {
  const inOrder = sorted(lines.value, columns.value, overviewLink.value.order);
  return steady("kernels", overviewLink.value.order, inOrder, (l) => l.key);
});

/** What was listed last under a name, and in which way. */
const listed = new Map<string, { of: string; keys: readonly string[] }>();
/** Counts how often the pointer or the focus has left a list. */
const departures = signal(0);

/** A list of a run that may go on, in order; while the pointer or the focus is on it, whatever it
 * has stays where it is. `of`: how it is sorted. */
export function steady<T>(
  name: string,
  of: string,
  inOrder: readonly T[],
  keyOf: (t: T) => string,
): readonly T[] {
  void departures.value;
  const before = listed.get(name);
  const sorting = `${runKey.value} ${of}`;
  const isHeld = before?.of === sorting && isUsed(name);
  const made = isHeld ? keepPlaces(before.keys, inOrder, keyOf) : inOrder;
  listed.set(name, { of: sorting, keys: made.map(keyOf) });
  return made;
}

const isUsed = (name: string): boolean =>
  document.querySelector(`[data-steady="${name}"]`)?.matches(":hover, :focus-within") === true;

/** For the element around the lines of such a list. */
export const steadyList = (name: string) => ({
  "data-steady": name,
  onPointerLeave: depart,
  onFocusOut: depart,
});

function depart(): void {
  departures.value += 1;
}
