/** On which device the kernel is run, for which target its texts are, and which text is shown. */
import { computed, signal } from "@preact/signals";
import type { Artifact } from "../../../data/messages/kernel";
import { columnKey, kindOf, kindsOfTarget } from "../../../parts/kernel/columns";
import { compilable, kernel, kernelArtifacts } from "../../../parts/kernel/kernel";
import { PYTHON } from "../../../parts/kernel/userText";
import { deviceFor, editOf } from "../../../parts/run/edits";
import type { Choices } from "../../../parts/kernel/versions";
import { run, runKey, view } from "../../../state/state";
import { compilesUnasked } from "../../../ui/code/since";
import { isHere } from "../../../parts/run/here";
import { goWorkbench, workbenchLink, type WorkbenchLink } from "./link";

export const isOpen = computed(() => view.value.page === "workbench");

/** Devices that run programs, each with its target. */
export const devices = computed<readonly { device: string; target: string }[]>(() => {
  const found = new Map<string, string>();
  for (const { device, target } of run.value?.editable ?? [])
    if (device && (run.value?.devices ?? []).includes(device)) found.set(device, target);
  return [...found].map(([device, target]) => ({ device, target }));
});

/** The device to run on; null where the texts shown are of a target that no device here has. */
export const benchDevice = computed(() => {
  const { device, target } = workbenchLink.value;
  const fitting = devices.value.filter((d) => target === null || d.target === target);
  const asked = fitting.find((d) => d.device === device);
  return asked ?? fitting.find((d) => d.target === kernel.value?.target) ?? fitting[0] ?? null;
});

/** The target whose texts are shown; "" before anything is known. */
export const benchTarget = computed(() => {
  const known = workbenchLink.value.target ?? benchDevice.value?.target;
  if (known !== undefined) return known;
  if (workbenchLink.value.device !== null && !devices.value.length) return "";
  return kernel.value?.artifacts[0]?.target ?? kernel.value?.target ?? "";
});

/** The texts of the target: those that are here, then those that compiling would give. */
export const columns = computed<readonly string[]>(() => {
  const target = benchTarget.value;
  const here = kernelArtifacts.value.filter((a) => a.kind !== PYTHON && a.target === target);
  const others = compilable.value.includes(target)
    ? kindsOfTarget(target).map((kind) => columnKey({ kind, target }))
    : [];
  return [...new Set([...here.map(columnKey), ...others])];
});

/** The text that is shown; null where the kernel has none. */
export const column = computed<string | null>(() => {
  const all = columns.value;
  const wanted = all.find((key) => kindOf(key) === workbenchLink.value.kind);
  return wanted ?? all.find((key) => deviceFor(key) !== null) ?? all[0] ?? null;
});

export const artifact = computed<Artifact | undefined>(() =>
  kernelArtifacts.value.find((a) => columnKey(a) === column.value),
);

/** The text that the user has edited for the device, and its column; null where none is changed. */
export const edited = computed(() => {
  const device = benchDevice.value?.device ?? null;
  const first = column.value === null ? [] : [column.value];
  for (const key of [...first, ...columns.value]) {
    const edit = editOf(key);
    if (edit && edit.text !== edit.base && deviceFor(key) === device) return { key, edit };
  }
  return null;
});

/** What the changed side is compiled with: the choices of the text that is edited, else those of the
 * page. */
export const choices = computed<Choices>(() => {
  const { opts, skip } = edited.value?.edit ?? workbenchLink.value;
  return { opts, skip };
});

/** Targets that the reader has asked for here, of kernels that are not compiled unasked. */
const askedFor = signal<{ run: string; targets: ReadonlySet<string> }>({
  run: "",
  targets: new Set(),
});

/** Whether the kernel may be compiled for a target without a further question. */
export const compilesFor = (target: string): boolean =>
  compilesUnasked.value === true ||
  (askedFor.value.run === runKey.value && askedFor.value.targets.has(target));

/** The reader wants the kernel compiled for a target. */
export function askFor(target: string): void {
  const { run: of, targets } = askedFor.peek();
  const before = of === runKey.peek() ? targets : [];
  askedFor.value = { run: runKey.peek(), targets: new Set([...before, target]) };
}

/** Turns to a device, and the texts of its target. */
export function chooseDevice(device: string): void {
  const found = devices.peek().find((d) => d.device === device);
  if (found) goWorkbench({ device, ...texts(found.target) });
}

export function chooseTarget(target: string): void {
  goWorkbench(texts(target));
}

/** Optimisations name loops as one target has them. */
function texts(target: string): Partial<WorkbenchLink> {
  askFor(target);
  return target === benchTarget.peek() ? { target } : { target, kind: null, opts: null };
}

/** Why the kernel cannot be run here, in one sentence; "" where it can. */
export const whyNot = computed(() => {
  const r = run.value;
  if (kernel.value && isHere(benchDevice.value?.device ?? "")) return "";
  if (r && !r.targets.length)
    return "This trace is of another compiler: its kernels cannot be compiled or run here.";
  if (kernel.value && !compilable.value.length) return "This kernel was not compiled completely.";
  if (!devices.value.length) return "Looking for devices of this machine.";
  if (!benchDevice.value) return `No device of this machine runs ${benchTarget.value}.`;
  return "";
});
