/**
 * What is looked at: page, pass, step, selection and filters. All panels follow it, and every link
 * holds it; what a panel adds to a link is its own (part.ts). Pure.
 */
import type { Put, Query } from "./query";

/** The pages, in the order of the top bar. The first is that of a link that names nothing. */
export const PAGES = [
  "overview",
  "graphs",
  "emulator",
  "workbench",
  "compare",
  "timeline",
  "rules",
  "fleet",
] as const;
export type Page = (typeof PAGES)[number];

/** Whether a page is about two runs, whichever is shown. */
export const isOfPair = (page: string): boolean => page === "compare";

/** What is being looked at. Everything here survives reload, Back and a copied link. */
export interface View {
  page: Page;
  /** Context of the kernel that the overview shows in place of the run, null: the run; elsewhere of
   * the kernel that is looked at, null: the one of the pass. */
  kernel: number | null;
  rewrite: number | null;
  /** 0 is the input graph, k is the state after step k. null: the pass's own first change. */
  step: number | null;
  slot: number | null;
  /** A node, by its trace-wide id, that is selected once the pass is there. */
  uid: number | null;
  /** Filters; null when off. Rule id, op name, slot. */
  rule: number | null;
  op: string | null;
  node: number | null;
  /** Which tab is open: the step, the selected node, or why a rule did not fire. */
  tab: Tab;
}

const TABS = ["step", "node", "why"] as const;
export type Tab = (typeof TABS)[number];

export const FIRST_VIEW: View = {
  page: "overview",
  kernel: null,
  rewrite: null,
  step: null,
  slot: null,
  uid: null,
  rule: null,
  op: null,
  node: null,
  tab: "step",
};

const OP_NAME = /^[A-Za-z_][A-Za-z0-9_.]{0,63}$/;

/** The page about one kernel that has its text at the full height. */
export const BENCH: Page = "workbench";
/** The page on which a kernel is emulated. */
export const EMULATOR: Page = "emulator";
/** Whether a page is about one kernel: any of them, where it says none. */
export const isOfKernel = (page: Page): boolean => page === BENCH || page === EMULATOR;
/** Whether a page may name its kernel: the graphs name one that has no passes. */
const namesKernel = (page: Page): boolean =>
  isOfKernel(page) || page === "overview" || page === "graphs";
/** Whether a page shows the graphs of the pass, or what is known of it alone. */
export const readsPass = (page: Page): boolean => page === "graphs" || page === "rules";

/** The page of a link that does not name one: that of what it names. */
const implied = (kernel: number | null, rewrite: number | null): Page =>
  kernel === null && rewrite !== null ? "graphs" : "overview";

/** Writes only what differs from the default. */
export function writeView(view: View, put: Put): void {
  const kernel = namesKernel(view.page) ? view.kernel : null;
  put("r", view.rewrite);
  put("k", view.step);
  put("s", view.slot);
  put("rule", view.rule);
  put("op", view.op);
  put("node", view.node);
  put("tab", view.tab !== "step" && view.tab);
  put("u", view.uid);
  put("kernel", kernel);
  put("v", view.page !== implied(kernel, view.rewrite) && view.page);
}

/** The view that a hash names. */
export function readView(q: Query): View {
  const [kernel, rewrite] = [q.natural("kernel"), q.natural("r")];
  const page = PAGES.find((name) => q.matching("v", /./) === name) ?? implied(kernel, rewrite);
  return {
    page,
    kernel: namesKernel(page) ? kernel : null,
    rewrite,
    step: q.natural("k"),
    slot: q.natural("s"),
    uid: q.natural("u"),
    rule: q.natural("rule"),
    op: q.matching("op", OP_NAME),
    node: q.natural("node"),
    tab: q.oneOf("tab", TABS),
  };
}

/** True if going from `a` to `b` is a jump: it gets an entry of its own in the history. */
export function isJump(a: View, b: View): boolean {
  if (a.page !== b.page || a.kernel !== b.kernel) return true;
  if (a.rewrite !== b.rewrite) return a.rewrite !== null;
  if (a.rule !== b.rule || a.op !== b.op || a.node !== b.node) return true;
  return a.step !== null && b.step !== null && Math.abs(a.step - b.step) > 1;
}
