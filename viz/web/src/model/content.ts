/**
 * What a content node says: its strings looked up in the tables of the bundle.
 *
 * Tolerates indices that the tables lack (they read as ""). Never formats for one place only.
 */
import type { Bundle } from "../data/messages/bundle";

function look(table: string[], index: number | undefined): string {
  return index === undefined ? "" : (table[index] ?? "");
}

export const opOf = (b: Bundle, c: number): string => look(b.ops, b.nodes.op[c]) || "?";
export const dtypeOf = (b: Bundle, c: number): string => look(b.dtypes, b.nodes.dtype[c]);
export const argOf = (b: Bundle, c: number): string => look(b.args, b.nodes.arg[c]);
export const shapeOf = (b: Bundle, c: number): string => look(b.shapes, b.nodes.shape[c]);
export const deviceOf = (b: Bundle, c: number): string => look(b.devices ?? [], b.nodes.device?.[c]);
/** What source `i` is to the node, such as "lhs"; "" where that is not said. */
export const roleOf = (b: Bundle, c: number, i: number): string =>
  b.roles ? (look(b.roles, b.nodes.role?.[c]).split(",", i + 1)[i] ?? "") : "";
/** The role of a source that only comes before its user. */
export const ORDER = "order";
export const tagOf = (b: Bundle, c: number): string => look(b.tags, b.nodes.tag[c]);
export const rangesOf = (b: Bundle, c: number): string => b.nodes.ranges[c] ?? "";
/** Trace-wide node id as the page shows it. */
export const uidOf = (b: Bundle, c: number): string => `u${b.nodes.id[c] ?? "?"}`;

/** "MUL", "CONST 32", "RANGE gidx0 0..63": op and, where short, argument. */
export function titleOf(b: Bundle, c: number): string {
  const arg = argOf(b, c);
  return arg && arg.length <= 24 ? `${opOf(b, c)} ${arg}` : opOf(b, c);
}
