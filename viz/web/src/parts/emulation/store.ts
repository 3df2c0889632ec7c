/** The emulation of the current kernel: asked for, and followed until it is there. */
import { batch, computed, effect, signal, untracked } from "@preact/signals";
import { asProblem, isAbort } from "../../data/backend";
import type { Emulation } from "../../data/messages/emulation";
import { follow } from "../../data/jobs";
import type { ApiProblem } from "../../data/messages/job";
import { columnKey, kindName, kindOf } from "../kernel/columns";
import { kernel, progress } from "../kernel/kernel";
import { runOpts } from "../run/RunHow";
import { type Edit, editOf, outcomeOf } from "../run/edits";
import { data, go, reportProblem } from "../../state/actions";
import { EMULATOR } from "../../state/link/view";
import { run, view } from "../../state/state";
import { emulatorLink } from "./link";
import { capital } from "../../state/format";

type State =
  | { kind: "idle" }
  | { kind: "cancelled" }
  | { kind: "running"; progress: string }
  | { kind: "done" }
  /** `text`: what was to be emulated, where it was edited. */
  | { kind: "error"; error: ApiProblem; text: string | null };

export const state = signal<State>({ kind: "idle" });
/** What is shown: the last emulation of the kernel, also while another one is made. */
export const emulation = signal<Emulation | null>(null);
/** Whether the text that the user edits is emulated, where there is one. */
export const wantsEdited = signal(true);
/** What was emulated of the kernel before, here or by the exporter of the run, the newest last; null:
 * not known yet. */
export const held = signal<readonly Emulation[] | null>(null);
let job: AbortController | null = null;

export const isOpen = computed(() => view.value.page === EMULATOR);

/** The emulated devices that are here. */
export const devices = computed(() =>
  (run.value?.devices ?? []).filter((name) => name.includes(":EMU")),
);
export const device = computed(() => {
  const wanted = emulatorLink.value.device;
  const known = wanted !== null && devices.value.includes(wanted);
  return known ? wanted : (devices.value[0] ?? null);
});

/** A text that can be emulated: of the compiler for a device, or as the user has edited it. */
export interface Text {
  device: string;
  column: string;
  /** "PTX sm_90". */
  title: string;
  edited: boolean;
}

export const texts = computed<readonly Text[]>(() =>
  devices.value.flatMap((name) => {
    const column = columnOf(name);
    if (column === null) return [];
    const title = `${kindName(kindOf(column))} ${column.slice(column.indexOf(":") + 1)}`;
    const plain = { device: name, column, title, edited: false };
    return editOf(column) ? [plain, { ...plain, edited: true }] : [plain];
  }),
);

/** The column whose text a device runs, the one that is being edited first. */
function columnOf(name: string): string | null {
  const all = (run.value?.editable ?? []).filter((e) => e.device === name && !e.missing);
  const columns = all.map(columnKey);
  return columns.find((column) => editOf(column)) ?? columns[0] ?? null;
}

/** The column whose text is emulated, where it can be edited. */
export const emulatedColumn = computed(() =>
  device.value === null ? null : columnOf(device.value),
);

/** The edit that would be emulated. */
const edit = (): Edit | undefined => {
  const column = emulatedColumn.value;
  return column === null ? undefined : editOf(column);
};

/** Whether the text that was emulated is an edited one, which has changed since. */
export const isOutdated = computed(
  () => emulation.value?.source != null && edit()?.text !== emulation.value.text,
);

/** Follows the kernel: what was emulated belongs to one, and goes with it. `left`: what else does. */
export function startEmulator(left: () => void): void {
  let last: number | null = null;
  effect(() => {
    const context = kernel.value?.context ?? null;
    job?.abort();
    batch(() => {
      state.value = { kind: "idle" };
      emulation.value = null;
      wantsEdited.value = true;
      held.value = null;
    });
    if (context === null) return;
    if (last !== null && last !== context)
      untracked(() => {
        left();
        const here = emulatorLink.with({ block: 0, warp: 0, at: 0 });
        if (isOpen.peek()) go({}, "replace", here);
        else here.make();
      });
    last = context;
    untracked(takeHeld);
  });
  // What the page is for is shown without a question: an emulator checks every access.
  effect(() => {
    if (isOpen.value && state.value.kind === "idle" && held.value && canEmulate() && device.value)
      void untracked(emulate);
  });
}

/** Shows what was emulated of the kernel before, where something was. */
function takeHeld(): void {
  const k = kernel.peek();
  if (!k || !run.peek()?.emulated?.includes(k.context)) {
    held.value = [];
    return;
  }
  data()
    .emulated(k.context)
    .then((found) => {
      if (kernel.peek() !== k) return;
      const newest = found.findLast(isAsked) ?? (data().server ? undefined : found.at(-1));
      batch(() => {
        held.value = found;
        if (newest && state.peek().kind === "idle") show(newest);
      });
    })
    .catch((thrown: unknown) => {
      held.value = [];
      reportProblem(asProblem(thrown, k.name));
    });
}

/** Whether an emulation is what the address asks for, on the first device where it names none: of the
 * compiler's text, unless the reader has edited it. */
function isAsked(of: Emulation): boolean {
  const { block, warp } = emulatorLink.peek();
  const on = emulatorLink.peek().device ?? device.peek(); // an exported file has no devices
  return (
    (on === null || of.device === on) &&
    of.walk.block === block &&
    of.walk.warp === warp &&
    (of.source === null || of.text === edit()?.text)
  );
}

/** Shows an emulation: where the reader was, or where the warp's fault is. */
export function show(result: Emulation): void {
  const before = emulation.peek();
  const { at } = emulatorLink.peek();
  const last = Math.max(0, result.walk.line.length - 1);
  const stays = before === null || before.text === result.text;
  const to = result.walk.fault ? last : stays ? Math.min(at, last) : 0;
  batch(() => {
    emulation.value = result;
    state.value = { kind: "done" };
    const { device: name, walk } = result;
    const change = { device: name, block: walk.block, warp: walk.warp, at: to };
    if (isOpen.peek()) go({}, "replace", emulatorLink.with(change));
    else emulatorLink.with(change).make();
  });
}

/** Whether there is something to emulate; the devices may not be known yet. */
export const canEmulate = (): boolean =>
  data().server !== null &&
  kernel.value !== null &&
  progress.value === "finished" &&
  (run.value?.targets ?? []).length > 0;

/** Whether the device of some emulator runs the text of a column. */
export const canEmulateColumn = (column: string): boolean =>
  canEmulate() && emulates(column) !== null;

const emulates = (column: string): string | null =>
  run.value?.editable.find(
    (e) => e.device.includes(":EMU") && !e.missing && columnKey(e) === column,
  )?.device ?? null;

/** Opens the page of the emulator, which emulates what has not been emulated yet. */
export function openEmulator(): void {
  if (!isOpen.peek()) go({ page: EMULATOR });
}

/** Emulates the text of a column as the user has edited it. */
export function emulateColumn(column: string): void {
  emulateText({ device: emulates(column), edited: true });
  openEmulator();
}

/** Emulates another text, or that of another device. */
export function emulateText({ device: name, edited }: { device: string | null; edited: boolean }): void {
  wantsEdited.value = edited;
  if (name !== null) emulatorLink.with({ device: name }).make();
  void emulate();
}

/** Emulates another warp. */
export function emulateWarp(change: { block?: number; warp?: number }): void {
  go({}, "replace", emulatorLink.with(change));
  void emulate();
}

/** Emulates the kernel, or its edited text. */
export async function emulate(): Promise<void> {
  const { server } = data();
  const k = kernel.peek();
  const on = device.peek();
  if (!server || !k || on === null) return;
  job?.abort();
  const mine = (job = new AbortController());
  state.value = { kind: "running", progress: `Starting on ${on}` };
  const column = emulatedColumn.peek();
  const own = wantsEdited.peek() ? untracked(edit) : undefined;
  const text = own?.text ?? null;
  const source = column !== null && own ? { kind: kindOf(column), text: own.text } : null;
  const { block, warp } = emulatorLink.peek();
  const { opts, skip } = own ?? { opts: runOpts.peek(), skip: [] };
  const how = { device: on, block, warp, opts, skip, source };
  const noted = column !== null && own ? outcomeOf(column, own) : () => undefined;
  try {
    const result = await follow<Emulation>(
      server,
      () => server.emulate(k.context, how),
      (said) => {
        if (!mine.signal.aborted) state.value = { kind: "running", progress: capital(said) };
      },
      mine.signal,
    );
    if (mine.signal.aborted) return;
    show(result);
    noted(null);
  } catch (thrown) {
    if (isAbort(thrown) || mine.signal.aborted) return;
    const error = asProblem(thrown, k.name);
    state.value = { kind: "error", error, text };
    noted(error);
  }
}

export function cancelEmulation(): boolean {
  if (state.peek().kind !== "running") return false;
  job?.abort();
  state.value = { kind: emulation.peek() ? "done" : "cancelled" };
  return true;
}
