/** The GPU of the browser as one more device of a run whose kernels it can run. */
import type { Run } from "./messages/run";

/** What it is called where devices are named. */
export const BROWSER = "This browser";

/** Why this browser cannot run kernels; "" where it may. */
export function lackingHere(): string {
  if ((navigator as Partial<Navigator>).gpu) return "";
  return isSecureContext
    ? "this browser has no WebGPU (Chrome, Edge, Safari 26 and Firefox 141 have it)"
    : "browsers have WebGPU at secure addresses only: 127.0.0.1, localhost or https";
}

/** A run with the browser among its devices, last, where its kernels are there for WebGPU. A server looks for
 * its own devices first, and one of them is the device that people mean. */
export function withBrowser(run: Run): Run {
  const waits = run.targets.length > 0 && !run.editable.length;
  if (!run.browser || waits) return run;
  const missing = lackingHere();
  return {
    ...run,
    devices: missing ? run.devices : [...run.devices, BROWSER],
    editable: [...run.editable, { ...run.browser, device: missing ? "" : BROWSER, missing }],
  };
}
