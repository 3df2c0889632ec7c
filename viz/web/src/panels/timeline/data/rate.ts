/** How fast a kernel ran: operations and bytes of one launch, over its time. */
import { effect, signal } from "@preact/signals";
import { data } from "../../../state/actions";
import { runKey, view } from "../../../state/state";
import { isAbort } from "../../../data/backend";
import { kernelNamed } from "./jump";
import { litName, timelineData } from "./store";

interface Work {
  name: string;
  /** Of one launch; 0: not recorded. */
  flops: number;
  bytes: number;
}

/** The work of the kernel that is picked; null while it is not known. */
export const work = signal<Work | null>(null);

/** Fetches it for what is picked while the timeline is open. */
export function startWork(): void {
  let fetching: AbortController | null = null;
  effect(() => {
    void runKey.value;
    fetching?.abort();
    const name = timelineData.value?.names[litName.value];
    const kernel = name === undefined ? undefined : kernelNamed(name);
    if (view.value.page !== "timeline" || !kernel || name === undefined) {
      work.value = null;
      return;
    }
    const mine = (fetching = new AbortController());
    data()
      .kernel(kernel.id, mine.signal)
      .then(
        ({ flops, bytes }) => (work.value = { name, flops, bytes }),
        (thrown: unknown) => {
          // A rate is missing then, and what is wrong is said where the kernel is shown.
          if (!isAbort(thrown)) work.value = null;
        },
      );
  });
}

/** "12.3 GFLOP/s, 45.6 GB/s" for a launch of so many microseconds; "" where nothing is known. */
export function rateText({ flops, bytes }: Work, us: number): string {
  if (us <= 0) return "";
  const each = (amount: number, unit: string): string =>
    amount > 0 ? `${giga(amount / us / 1e3)} ${unit}` : "";
  return [each(flops, "GFLOP/s"), each(bytes, "GB/s")].filter(Boolean).join(", ");
}

const giga = (n: number): string => (n >= 100 ? n.toFixed(0) : n.toPrecision(3));
