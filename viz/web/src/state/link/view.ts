/**
 * The view as text after the `#` of the address, and back. Pure. A link from a stranger is data:
 * numbers are checked, unknown keys and bad values fall back to the default.
 */

export type Mode = "side" | "merged" | "text";
export type Page = "graphs" | "timeline" | "rules";
export type ScopeName = "change" | "all";

/** What is being looked at. Everything here survives reload, Back and a copied link. */
export interface View {
  rewrite: number | null;
  /** 0 is the input graph, k is the state after step k. null: the pass's own first change. */
  step: number | null;
  slot: number | null;
  mode: Mode;
  scope: ScopeName;
  /** Filters; null when off. Rule id, op name, slot. */
  rule: number | null;
  op: string | null;
  node: number | null;
  tab: "step" | "node";
  /** A node, by its trace-wide id, that is selected once the pass is there. */
  uid: number | null;
  page: Page;
  /** Timeline: the stretch that is shown, in microseconds (null: all), what is selected
   * ("e12": context or pass 12, "l3.7": launch 7 of track 3, "n:name": all of that name), marks. */
  time: readonly [number, number] | null;
  pick: string | null;
  marks: readonly number[];
  /** Rules: column that sorts, "-" in front for descending; per pass; of this pass only; those
   * that never matched; what is searched for. */
  sort: string;
  perPass: boolean;
  pass: string | null;
  never: boolean;
  query: string;
}

export const FIRST_VIEW: View = {
  rewrite: null,
  step: null,
  slot: null,
  mode: "side",
  scope: "change",
  rule: null,
  op: null,
  node: null,
  tab: "step",
  uid: null,
  page: "graphs",
  time: null,
  pick: null,
  marks: [],
  sort: "-us",
  perPass: false,
  pass: null,
  never: false,
  query: "",
};

const PAGES: readonly Page[] = ["graphs", "timeline", "rules"];
const PICK = /^(?:e\d{1,12}|l\d{1,6}\.\d{1,9}|n:[^\n]{1,200})$/;
const PASS = /^[^\n]{1,200}$/;
const SORT = /^-?[a-zA-Z]{1,16}$/;
const MOST_MARKS = 20;
const OP_NAME = /^[A-Za-z_][A-Za-z0-9_.]{0,63}$/;

/** `#r=7&k=42&s=12&m=merged`: only what differs from the default. */
export function toHash(view: View): string {
  const q = new URLSearchParams();
  const put = (key: string, value: number | string | null): void => {
    if (value !== null) q.set(key, String(value));
  };
  put("r", view.rewrite);
  put("k", view.step);
  put("s", view.slot);
  if (view.mode !== "side") q.set("m", view.mode);
  if (view.scope !== "change") q.set("g", view.scope);
  put("rule", view.rule);
  put("op", view.op);
  put("node", view.node);
  if (view.tab !== "step") q.set("tab", view.tab);
  put("u", view.uid);
  if (view.page !== "graphs") q.set("v", view.page);
  if (view.time) q.set("t", view.time.map(plain).join("_"));
  put("i", view.pick);
  if (view.marks.length) q.set("mk", view.marks.map(plain).join("_"));
  if (view.sort !== "-us") q.set("o", view.sort);
  if (view.perPass) q.set("by", "pass");
  put("in", view.pass);
  if (view.never) q.set("only", "never");
  if (view.query) q.set("q", view.query);
  const text = q.toString();
  return text ? `#${text}` : "";
}

/** Nanoseconds are as fine as it gets. */
const plain = (us: number): string => String(Number(us.toFixed(3)));

/** The view that a hash names. */
export function fromHash(hash: string): View {
  const q = new URLSearchParams(hash.replace(/^#/, ""));
  const natural = (key: string): number | null => {
    const text = q.get(key);
    if (text === null || !/^\d{1,12}$/.test(text)) return null;
    return Number(text);
  };
  const matching = (key: string, form: RegExp): string | null => {
    const text = q.get(key);
    return text !== null && form.test(text) ? text : null;
  };
  const times = (key: string): number[] =>
    (q.get(key) ?? "")
      .split("_")
      .filter((text) => /^\d{1,15}(?:\.\d{1,3})?$/.test(text))
      .map(Number);
  const [from, to] = times("t");
  const mode = q.get("m");
  const op = q.get("op");
  return {
    rewrite: natural("r"),
    step: natural("k"),
    slot: natural("s"),
    mode: mode === "merged" || mode === "text" ? mode : "side",
    scope: q.get("g") === "all" ? "all" : "change",
    rule: natural("rule"),
    op: op !== null && OP_NAME.test(op) ? op : null,
    node: natural("node"),
    tab: q.get("tab") === "node" ? "node" : "step",
    uid: natural("u"),
    page: PAGES.find((p) => p === q.get("v")) ?? "graphs",
    time: from !== undefined && to !== undefined && from < to ? [from, to] : null,
    pick: matching("i", PICK),
    marks: times("mk").slice(0, MOST_MARKS),
    sort: matching("o", SORT) ?? "-us",
    perPass: q.get("by") === "pass",
    pass: matching("in", PASS),
    never: q.get("only") === "never",
    query: (q.get("q") ?? "").slice(0, 200),
  };
}

/** True if going from `a` to `b` is a jump: it gets an entry of its own in the history. */
export function isJump(a: View, b: View): boolean {
  if (a.page !== b.page) return true;
  if (a.page === "timeline" && a.pick !== b.pick) return a.pick !== null;
  if (a.rewrite !== b.rewrite) return a.rewrite !== null;
  if (a.rule !== b.rule || a.op !== b.op || a.node !== b.node) return true;
  return a.step !== null && b.step !== null && Math.abs(a.step - b.step) > 1;
}
