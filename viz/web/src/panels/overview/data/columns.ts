/** Columns of the table of kernels: only those that the trace has something for. Pure. */
import type { Peak } from "../../../data/messages/kernel";
import type { KernelLine } from "../../../data/messages/overview";
import { type Mark, rankOf } from "../../../parts/check/marks";
import { speedOf, type Speed } from "../../../parts/speed";
import type { Column } from "../../../ui/SortHead";

/** A kernel with what follows from it. */
export interface Line extends KernelLine {
  key: string;
  speed: Speed;
  /** The time that is listed: of launches, or of compiling where nothing was launched. */
  time: number;
  /** Whether its steps are right; null where that cannot be said. */
  check: Mark | null;
}

export type ColumnKey =
  | "calls"
  | "name"
  | "check"
  | "devices"
  | "launches"
  | "time"
  | "spread"
  | "flops"
  | "bytes"
  | "regs"
  | "steps";

export interface TableColumn extends Column<Line> {
  key: ColumnKey;
  /** As in grid-template-columns. */
  width: string;
}

/** `peakOf` gives the peaks of the machine on which the run was recorded, `checkOf` the mark of a kernel
 * by its context. */
export function linesOf(
  kernels: readonly KernelLine[],
  by: "run" | "compile" | "steps",
  peakOf: (device: string) => Peak | undefined,
  checkOf: (context: number) => Mark | null,
): Line[] {
  return kernels.map((k, i) => ({
    ...k,
    key: k.context < 0 ? `launched ${k.device} ${k.name} ${i}` : String(k.context),
    speed: speedOf(k.flops, k.bytes, k.spread?.median, peakOf(k.device)),
    time: by === "run" ? k.us : k.compileUs,
    check: k.context < 0 ? null : checkOf(k.context),
  }));
}

/** "CPU, CPU:1" */
export const devicesOf = (line: Line): string =>
  (line.devices ?? [line.device]).filter((name) => name).join(", ");

/** Whether a line stands for copies between two devices: those are launches without a kernel. */
export const isCopy = (line: Line): boolean =>
  line.context < 0 && /^copy \S+ to \S+$/.test(line.name);

const registers = (line: Line): number => Number(line.registers[0]?.value ?? -1) || 0;

const ALL: readonly TableColumn[] = [
  {
    key: "calls",
    name: "Call",
    value: (l) => l.calls || l.name,
    width: "minmax(96px, 1.6fr)",
    title: "The calls of the program that this kernel computes",
  },
  { key: "name", name: "Kernel", value: (l) => l.name, width: "minmax(96px, 1fr)" },
  {
    key: "check",
    name: "Check",
    value: (l) => (l.check ? rankOf(l.check) : -1),
    right: true,
    width: "46px",
    title: "Whether its steps are right: ✓ proved, ~ sampled, ○ not checked, ≠ a step differs",
  },
  {
    key: "devices",
    name: "Device",
    value: (l) => devicesOf(l),
    width: "minmax(56px, 0.4fr)",
    title: "The devices that the kernel ran on",
  },
  { key: "launches", name: "Launches", value: (l) => l.launches, right: true, width: "58px" },
  { key: "time", name: "Time", value: (l) => l.time, right: true, width: "98px" },
  {
    key: "spread",
    name: "Per launch",
    value: (l) => l.spread?.median ?? -1,
    right: true,
    width: "var(--spread, 104px)",
    title:
      "Median launch time, and the distribution from the fastest launch to the 95th percentile",
  },
  {
    key: "flops",
    name: "GFLOP/s",
    value: (l) => l.speed.gflops,
    right: true,
    width: "52px",
    title:
      "Floating-point operations per second of the median launch, and their share of this machine's measured peak",
  },
  {
    key: "bytes",
    name: "GB/s",
    value: (l) => l.speed.gbytes,
    right: true,
    width: "52px",
    title:
      "Bytes of the arguments per second of the median launch, and their share of this machine's measured peak, which caches can exceed",
  },
  {
    key: "regs",
    name: "Registers",
    value: registers,
    right: true,
    width: "58px",
    title: "Registers per thread, where the compiler reports them",
  },
  {
    key: "steps",
    name: "Steps",
    value: (l) => l.steps,
    right: true,
    width: "52px",
    title: "Rewrite steps of its compilation",
  },
];

/** Whether any kernel has something for a column. */
const HAS: Readonly<Record<ColumnKey, (line: Line) => boolean>> = {
  calls: (l) => l.calls !== "",
  name: () => true,
  check: (l) => l.check !== null,
  devices: () => true,
  launches: (l) => l.launches > 0,
  time: (l) => l.time > 0,
  spread: (l) => l.spread !== null,
  flops: (l) => l.speed.gflops > 0,
  bytes: (l) => l.speed.gbytes > 0,
  regs: (l) => l.registers.length > 0,
  steps: (l) => l.steps > 0,
};

/** `shares`: whether speeds have a share of the machine's peaks beside them, now or once it is
 * measured; their columns are as wide before. `awaited`: whether marks of checks are still to come, for
 * which there is room before. */
export function columnsFor(
  lines: readonly Line[],
  by: "run" | "compile" | "steps",
  shares: boolean,
  awaited = false,
): TableColumn[] {
  const devices = new Set(lines.flatMap((line) => line.devices ?? []));
  const has = (key: ColumnKey): boolean =>
    key === "check" && awaited
      ? lines.some(HAS.steps)
      : lines.some(HAS[key]) && (key !== "devices" || devices.size > 1);
  return ALL.filter(({ key }) => has(key)).map((c) => {
    if (c.key === "time" && by !== "run") return { ...c, name: "Compile time" };
    return shares && (c.key === "flops" || c.key === "bytes") ? { ...c, width: "88px" } : c;
  });
}
