/** Runs a generator on the main thread in slices, so that the page answers meanwhile. */

/** Time per slice, ms: leaves room for a frame. */
const SLICE = 8;

/** The work was replaced by newer work, and is no longer wanted. */
export class Cancelled extends Error {
  constructor() {
    super("cancelled");
    this.name = "Cancelled";
  }
}

/** The generator's result. `progress` hears the shares that it yields. */
export async function inSlices<T>(
  work: Generator<number, T>,
  signal: AbortSignal,
  progress: (share: number) => void,
): Promise<T> {
  for (;;) {
    if (signal.aborted) throw new Cancelled();
    const until = performance.now() + SLICE;
    do {
      const next = work.next();
      if (next.done) return next.value;
      progress(next.value);
    } while (performance.now() < until);
    await new Promise((resolve) => setTimeout(resolve));
  }
}
