/** The same kernel on each device of the machine. */
import { computed } from "@preact/signals";
import type { RunResult } from "../../../data/messages/kernel";
import { kernel } from "../../../parts/kernel/kernel";
import { launch, runs } from "../../../parts/run/RunBox";
import { COMPILERS } from "../../../parts/kernel/versions";
import { run } from "../../../state/state";

export interface DeviceRow {
  device: string;
  made: RunResult | undefined;
}

export const deviceRows = computed<readonly DeviceRow[]>(() =>
  (run.value?.devices ?? []).map((device) => ({
    device,
    made: runs.value.find((r) => r.device === device && r.opts === null && r.source === null),
  })),
);

/** Runs the kernel as the compiler makes it. */
export const runOn = (device: string): Promise<unknown> =>
  launch({ device, ...COMPILERS, source: null });

/** One device after the other; ends at the first that fails. */
export async function runOnDevices(): Promise<void> {
  const context = kernel.peek()?.context;
  for (const { device } of deviceRows.peek()) {
    if (kernel.peek()?.context !== context) return;
    if ((await launch({ device, ...COMPILERS, source: null })) !== null) return;
  }
}
