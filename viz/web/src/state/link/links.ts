/** Addresses within the page, as links name them. Pure. */

const address = (fields: Record<string, string | number>): string => {
  const q = new URLSearchParams();
  for (const [key, value] of Object.entries(fields)) q.set(key, String(value));
  return `#${q}`;
};

/** The page of a kernel. */
export const kernelAt = (context: number): string => address({ kernel: context });

/** A pass in the graphs, at a step or at its first change. */
export const passAt = (rewrite: number, step: number | null = null): string =>
  address(step === null ? { r: rewrite } : { r: rewrite, k: step });

/** A step of a pass of another run. */
export const stepOfRun = (run: string, rewrite: number, step: number): string =>
  address({ r: rewrite, k: step, ...(run === "A" ? {} : { run }) });

/** A node of a state of a pass of another run, selected. */
export const nodeOfRun = (run: string, rewrite: number, step: number, slot: number): string =>
  address({ r: rewrite, k: step, s: slot, tab: "node", ...(run === "A" ? {} : { run }) });

/** A page without more. */
export const pageAt = (page: "graphs" | "timeline" | "rules"): string => address({ v: page });

/** Rules of that name. */
export const rulesNamed = (name: string): string => address({ v: "rules", q: name.slice(0, 200) });

/** The page of a rule. */
export const ruleAt = (rule: number): string => address({ v: "rules", ru: rule });

/** The page of a rule of another run. */
export const ruleOfRun = (run: string, rule: number): string =>
  address({ v: "rules", ru: rule, ...(run === "A" ? {} : { run }) });

/** Where a rule nearly fires in a pass. */
export const nearMissesAt = (rewrite: number, rule: number): string =>
  address({ r: rewrite, tab: "why", why: rule, near: 1 });

/** A stretch of the timeline, microseconds. */
export const timeAt = ([from, to]: readonly [number, number]): string =>
  address({ v: "timeline", t: `${Math.floor(from)}_${Math.ceil(Math.max(to, from + 1))}` });

/** What memory holds where it is fullest. */
export const atPeak = (): string => address({ v: "timeline", i: "peak" });

/** All spans and launches of one name in the timeline. */
export const spansNamed = (name: string): string =>
  address({ v: "timeline", i: `n:${name.slice(0, 200)}` });

/** A context or pass in the timeline. */
export const spanAt = (entry: number): string => address({ v: "timeline", i: `e${entry}` });

/** Two passes of two runs, in step; 0 for none on that side. */
export const passesInStep = (runs: readonly [string, string], a: number, b: number): string =>
  address({ v: "compare", ca: runs[0], cb: runs[1], cp: `${a}.${b}` });

/** A kernel in two runs: what differs in it, without the kernels of other names. */
export const kernelsCompared = (
  runs: readonly [string, string],
  a: number,
  b: number,
  name: string,
): string =>
  address({ v: "compare", ca: runs[0], cb: runs[1], cs: `${a}.${b}`, cq: name.slice(0, 200) });

/** What differs between two runs, by their letters: the panel of that page leaves these out where
 * they are A and B. */
export const compareAt = (a: string, b: string): string =>
  address({
    v: "compare",
    ...(a === "A" ? {} : { ca: a }),
    ...(b === "B" ? {} : { cb: b }),
  });
