/** Optimisations as text and as a list of rows. Pure. */
import type { KernelOpts } from "../../../data/messages/trials/workbench";

export interface OptRow {
  opt: string;
  on: boolean;
  /** Why it does not apply; "" where it does, or is off. */
  why: string;
  /** Its place among those that are on; -1 for none. */
  at: number;
}

/** One that was taken out, and the place in the list where it was. */
export interface TakenOut {
  opt: string;
  before: number;
}

/** "UPCAST(0, 4) NOLOCALS(None, None)" -> its parts. */
export const partsOf = (opts: string): string[] => opts.match(/[A-Z]+\((?:None|[^A-Z])*\)/g) ?? [];

/** Those that are on, in order, and those that are off where they were. `said` is the server's answer
 * about a list: its reasons hold for the same optimisation at the same place. */
export function rowsOf(
  applied: readonly string[],
  taken: readonly TakenOut[],
  said: KernelOpts["opts"],
): OptRow[] {
  const rows = applied.map((opt, at) => {
    const found = said[at];
    return { opt, on: true, why: found?.opt === opt ? found.why : "", at };
  });
  for (const { opt, before } of taken)
    rows.splice(Math.min(before, rows.length), 0, { opt, on: false, why: "", at: -1 });
  return rows;
}

/** What the server is asked: no optimisation ("") is another question than the compiler's choice (null). */
export const questionOf = (about: string, opts: string | null): string =>
  JSON.stringify([about, opts]);
