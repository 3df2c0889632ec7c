/**
 * The view as text after the `#` of the address, and back. Pure. A link from a stranger is data:
 * numbers are checked, unknown keys and bad values fall back to the default.
 */

export type Mode = "side" | "merged" | "text";
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
};

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
  const text = q.toString();
  return text ? `#${text}` : "";
}

/** The view that a hash names. */
export function fromHash(hash: string): View {
  const q = new URLSearchParams(hash.replace(/^#/, ""));
  const natural = (key: string): number | null => {
    const text = q.get(key);
    if (text === null || !/^\d{1,12}$/.test(text)) return null;
    return Number(text);
  };
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
  };
}

/** True if going from `a` to `b` is a jump: it gets an entry of its own in the history. */
export function isJump(a: View, b: View): boolean {
  if (a.rewrite !== b.rewrite) return a.rewrite !== null;
  if (a.rule !== b.rule || a.op !== b.op || a.node !== b.node) return true;
  return a.step !== null && b.step !== null && Math.abs(a.step - b.step) > 1;
}
