/** Which two runs are compared, and what of them is looked at, as the panel's part of a link. */
import { go } from "../../../state/actions";
import { LinkPart } from "../../../state/link/part";

export const TABS = ["kernels", "rules", "passes", "environment"] as const;
export type Tab = (typeof TABS)[number];

export interface CompareLink {
  /** Letters of the runs. */
  a: string;
  b: string;
  tab: Tab;
  /** Also what is equal. */
  all: boolean;
  /** Column that sorts, "-" in front for descending; "" as the answer has them: most changed first. */
  order: string;
  query: string;
  /** "3.4": the kernel or schedule that is selected, by its number in A and in B, 0 for none; null:
   * the first that differs. */
  scope: string | null;
  /** Which texts of it stand side by side: "ptx:sm_90"; null: those that differ first. */
  sources: readonly string[] | null;
  /** Both sides of a text in one column. */
  unified: boolean;
  /** "12.14": the passes that are walked through, as in `scope`; null: the overview. */
  walk: string | null;
  /** Row of their alignment; null: the first that differs. */
  row: number | null;
  /** "40.3": states of A and of B that are shown in place of the row's. */
  states: string | null;
  merged: boolean;
  /** All nodes, not only those around what differs. */
  whole: boolean;
  /** Slot of the joint graph that is selected. */
  slot: number | null;
  /** The text below the graphs is open. */
  text: boolean;
}

const PAIR = /^\d{1,12}\.\d{1,12}$/;
const RUN = /^[A-Z]$/;
const ORDER = /^-?[a-z]{1,16}$/;
const SOURCES = /^[^\n]{1,480}$/;
const MOST_SOURCES = 4;
const LONGEST_QUERY = 200;

const FIRST: CompareLink = {
  a: "A",
  b: "B",
  tab: "kernels",
  all: false,
  order: "",
  query: "",
  scope: null,
  sources: null,
  unified: true,
  walk: null,
  row: null,
  states: null,
  merged: false,
  whole: false,
  slot: null,
  text: false,
};

export const compareLink = new LinkPart<CompareLink>({
  first: FIRST,
  read: (q) => ({
    a: q.matching("ca", RUN) ?? FIRST.a,
    b: q.matching("cb", RUN) ?? FIRST.b,
    tab: q.oneOf("ct", TABS),
    all: q.matching("cd", /^all$/) !== null,
    order: q.matching("co", ORDER) ?? "",
    query: q.text("cq", LONGEST_QUERY),
    scope: q.matching("cs", PAIR),
    sources: q.matching("ck", SOURCES)?.split("|").slice(0, MOST_SOURCES) ?? null,
    unified: q.matching("cu", /^0$/) === null,
    walk: q.matching("cp", PAIR),
    row: q.natural("cr"),
    states: q.matching("cz", PAIR),
    merged: q.matching("cm", /^1$/) !== null,
    whole: q.matching("cg", /^all$/) !== null,
    slot: q.natural("cn"),
    text: q.matching("cx", /^1$/) !== null,
  }),
  write(link, put) {
    put("ca", link.a !== FIRST.a && link.a);
    put("cb", link.b !== FIRST.b && link.b);
    put("ct", link.tab !== FIRST.tab && link.tab);
    put("cd", link.all && "all");
    put("co", link.order);
    put("cq", link.query);
    put("cs", link.scope);
    put("ck", link.sources?.join("|") ?? null);
    put("cu", !link.unified && "0");
    put("cp", link.walk);
    put("cr", link.row);
    put("cz", link.states);
    put("cm", link.merged && 1);
    put("cg", link.whole && "all");
    put("cn", link.slot);
    put("cx", link.text && 1);
  },
  isJump: (a, b) =>
    a.walk !== b.walk ||
    a.a !== b.a ||
    a.b !== b.b ||
    (a.walk !== null && a.row !== null && b.row !== null && Math.abs(a.row - b.row) > 1),
});

/** Shows something else of the pair; a jump gets an entry of its own in the history. What is typed
 * into the filter of one tab is not for those of another. */
export function show(change: Partial<CompareLink>, history?: "replace" | "push"): void {
  const isOtherTab = change.tab !== undefined && change.tab !== compareLink.peek().tab;
  go({}, history, compareLink.with(isOtherTab ? { query: "", ...change } : change));
}

/** The two numbers of "3.4"; 0: none on that side. */
export function numbersOf(pair: string): readonly [a: number, b: number] {
  const [a = 0, b = 0] = pair.split(".").map(Number);
  return [a, b];
}

export const pairOf = (a: number | null, b: number | null): string => `${a ?? 0}.${b ?? 0}`;

/** Compares other runs, from the start: numbers of kernels and passes are those of a run. */
export function compareRuns(a: string, b: string): void {
  const { tab, all, order, unified, merged } = compareLink.peek();
  show({ ...FIRST, a, b, tab, all, order, unified, merged });
}
