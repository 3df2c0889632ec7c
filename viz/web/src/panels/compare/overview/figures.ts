/** The figures of the two sides: in words, as ratios, and as columns that sort. Pure. */
import type { Both, Change, ComparedTotal, ScopePair } from "../../../data/messages/compare";
import { figureOf, intervalWords, type Said, saidOfTimes, saidOnce } from "../../../parts/ratio";
import { bytes, count, micros, plural } from "../../../state/format";
import type { Column } from "../../../ui/SortHead";

export type Unit = ComparedTotal["unit"];

/** "1.31 ms", "9.4 MB", "4,942"; an en dash where that side does not say. */
export function figure(n: number | null, unit: Unit): string {
  if (n === null) return "–";
  return unit === "us" ? micros(n) : unit === "B" ? bytes(n) : count(n);
}

/** B in times of A; null where that says nothing. */
export const ratio = ({ a, b }: Both<number>): number | null =>
  a === null || b === null || a <= 0 || b < 0 ? null : b / a;

/** "0.78×"; "same" for what is the same. */
export function ratioText({ a, b }: Both<number>): string {
  if (a === null || b === null) return "";
  if (a === b) return "same";
  const r = ratio({ a, b });
  return r === null ? "" : figureOf(r);
}

/** How the times of a kernel compare; null where a side was not launched. */
export function timesOf({ us }: ScopePair): Said | null {
  if (us.ratio) return saidOfTimes(us.ratio, true);
  const r = ratio(us);
  return r === null ? null : saidOnce(r);
}

/** Where that comes from, for a title. */
export const timesTitle = ({ us, state }: ScopePair): string =>
  us.ratio
    ? `95% interval ${intervalWords(us.ratio)}, of ${plural(us.ratio.n, "launch", "launches")} or more`
    : state === "equal"
      ? "The same code: times differ by chance"
      : "Too few launches to tell, or the same code";

/** "463 → 427", or one figure for both where they are the same. */
export function change({ a, b }: Both<number>, unit: Unit = ""): string {
  if (a === null && b === null) return "";
  return a === b ? figure(a, unit) : `${figure(a, unit)} → ${figure(b, unit)}`;
}

export interface ScopeColumn extends Column<ScopePair> {
  width: string;
  /** null: it is no figure. */
  of: ((s: ScopePair) => Both<number>) | null;
  unit: Unit;
  /** Left out in a narrow window. */
  wide?: boolean;
}

/** What a ratio sorts by: what grew first; what is on one side only last. */
const byRatio =
  (of: (s: ScopePair) => Both<number>) =>
  (s: ScopePair): number =>
    ratio(of(s)) ?? -1;

/** The most registers of any target. */
export function registersOf({ registers }: ScopePair): Both<number> {
  const most = (side: "a" | "b"): number | null =>
    registers.reduce<number | null>((n, r) => {
      const own = r[side];
      return own === null ? n : Math.max(n ?? 0, own);
    }, null);
  return { a: most("a"), b: most("b") };
}

const FIGURES: readonly Omit<ScopeColumn, "value">[] = [
  {
    ...{ key: "steps", name: "Steps", width: "minmax(88px, 1fr)", unit: "" },
    of: (s) => s.steps,
    title: "Rule matches in its passes",
  },
  {
    ...{ key: "nodes", name: "Nodes", width: "minmax(80px, 1fr)", unit: "", wide: true },
    of: (s) => s.nodes,
    title: "Nodes of its last graph",
  },
  {
    ...{ key: "lines", name: "Lines", width: "minmax(80px, 1fr)", unit: "" },
    of: (s) => s.lines,
    title: "Lines of the source text that runs",
  },
  {
    ...{ key: "regs", name: "Registers", width: "minmax(76px, 1fr)", unit: "", wide: true },
    of: registersOf,
    title: "Registers, the most of any target",
  },
  {
    ...{ key: "bytes", name: "Bytes", width: "minmax(120px, 1.3fr)", unit: "B", wide: true },
    of: (s) => s.bytes,
    title: "Bytes that a launch moves, as estimated",
  },
  {
    ...{ key: "time", name: "Time", width: "minmax(122px, 1.4fr)", unit: "us" },
    of: (s) => s.us,
    title: "Median of a launch",
  },
];

/** The columns that have something to say about these scopes. */
export function columnsOf(scopes: readonly ScopePair[]): readonly ScopeColumn[] {
  const known = FIGURES.filter((c) =>
    scopes.some((s) => {
      const { a, b } = c.of!(s);
      return a !== null || b !== null;
    }),
  );
  return [
    {
      ...{ key: "name", name: "Kernel", width: "minmax(160px, 2.6fr)", unit: "", of: null },
      value: (s) => s.name.b ?? s.name.a ?? "",
    },
    ...known.map((c) => ({ ...c, right: true, value: byRatio(c.of!) })),
  ];
}

export const SIGNS: Record<Change, { sign: string; class: string; words: string }> = {
  changed: { sign: "◆", class: "sig mov", words: "changed" },
  added: { sign: "+", class: "sig add", words: "only in B" },
  removed: { sign: "−", class: "sig del", words: "only in A" },
  equal: { sign: "=", class: "sig eq", words: "equal" },
};

/** Whether a scope has the text in a name or call. */
export function matches(s: ScopePair, query: string): boolean {
  const q = query.trim().toLowerCase();
  return !q || [s.name.a, s.name.b, s.call].some((text) => text?.toLowerCase().includes(q));
}
