/**
 * What the devices of this machine can do, as far as it was measured here; measuring it on the
 * user's wish. An exported file knows nothing of the machine that it is read on.
 */
import { batch, signal } from "@preact/signals";
import { asProblem } from "../data/backend";
import { follow } from "../data/jobs";
import type { Peak } from "../data/messages/kernel";
import { data, reportProblem } from "../state/actions";
import { capital } from "../state/format";

export const peaks = signal<ReadonlyMap<string, Peak>>(new Map());
/** What is being measured says how far it is; null: nothing is. */
export const measuring = signal<string | null>(null);
/** Whether what was measured before is known: until then measuring is not offered. */
export const peaksKnown = signal(false);
let asked: Promise<void> | null = null;

/** Reads what was measured before, once. Done when it is known, or cannot be. */
export function knowPeaks(): Promise<void> {
  const { server } = data();
  if (!server) return Promise.resolve();
  asked ??= server.peaks().then(
    (known) =>
      batch(() => {
        peaks.value = new Map(known.map((peak) => [peak.device, peak]));
        peaksKnown.value = true;
      }),
    () => void (asked = null), // a server that is lost says so elsewhere
  );
  return asked;
}

/** Measures a device: takes a few seconds. */
export async function measure(device: string): Promise<void> {
  const { server } = data();
  if (!server || measuring.peek() !== null) return;
  measuring.value = `Measuring ${device}`;
  try {
    const told = (said: string): void => {
      if (said && said !== "starting")
        measuring.value = capital(said);
    };
    const never = new AbortController().signal;
    const found = await follow<Peak>(server, () => server.measure(device), told, never);
    peaks.value = new Map([...peaks.peek(), [found.device, found]]);
  } catch (thrown) {
    reportProblem(asProblem(thrown, device));
  } finally {
    measuring.value = null;
  }
}
