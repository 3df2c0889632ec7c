/**
 * What a search finds by name: kernels, calls, rules, passes, groups, ops and places, from answers
 * that the page holds. As viz/views/search/index.py finds it in a trace, in the same order. Pure.
 */
import type { Rule } from "../messages/rule";
import type { Row } from "../messages/run";
import type { SearchHit, SearchIndex } from "../messages/search";
import { casefold, splitOrigin } from "./text";

/** Numbers of the processes of a run begin at multiples of this (viz/views/process.py). */
const STRIDE = 1_000_000_000;

/** Those from this one on are kernels compiled on request. */
const MAX_PROCESSES = 256;

export const processOf = (id: number): number => Math.floor(id / STRIDE);
/** Whether a context or rewrite is of a kernel that was compiled on request. */
export const isCompiled = (id: number): boolean => processOf(id) >= MAX_PROCESSES;

/** A hit, by the number of its context or rewrite. */
export interface NameHit {
  id: number;
  kind: SearchHit["kind"];
  text: string;
}

const shown = (where: string, call: string): string => (call ? `${call} at ${where}` : where);

/** Hits of all kinds together, each kind in its order. `wanted` is case-folded. */
export function findNames(
  wanted: string,
  rows: readonly Row[],
  rules: readonly Rule[],
  index: SearchIndex | null,
): NameHit[] {
  const has = (text: string): boolean => casefold(text).includes(wanted);
  const entries = rows
    .filter((row) => row.status !== "gone" && row.id % STRIDE !== 0)
    .sort((a, b) => a.id - b.id);
  const named = entries.filter((row) => has(row.name));
  const found: NameHit[] = named.map((row) => ({ id: row.id, kind: kindOf(row), text: row.name }));
  if (index) found.push(...inSteps(index, rules, entries, has));
  for (const row of entries)
    if (row.kind === "rewrite" && has(row.caller))
      found.push({ id: row.id, kind: "file", text: shown(...splitOrigin(row.caller)) });
  // What a run's processes have follows each other.
  return found.sort((a, b) => processOf(a.id) - processOf(b.id));
}

const kindOf = (row: Row): SearchHit["kind"] =>
  row.kind === "rewrite" ? "pass" : row.label === "kernel" ? "kernel" : "group";

function* inSteps(
  index: SearchIndex,
  rules: readonly Rule[],
  rows: readonly Row[],
  has: (text: string) => boolean,
): Generator<NameHit> {
  const names = new Map(rows.map((row) => [row.id, row.name]));
  for (const [i, text] of index.calls.names.entries()) {
    const id = index.calls.context[i]!;
    if (has(text)) yield { id, kind: "call", text: `${names.get(id) ?? ""}: ${text}` };
  }
  const inFile = index.places.map(([where]) => has(where));
  const onCall = index.places.map(([where, call]) => call !== "" && has(`${where} ${call}`));
  const called = new Set(index.called);
  const places = pairs(index.place.rewrite, index.place.place);
  for (const [id, at] of places)
    if (onCall[at] && !inFile[at] && !called.has(id))
      yield { id, kind: "call", text: shown(...index.places[at]!) };
  const wanted = new Map(
    rules.flatMap((rule) => (has(rule.name) || has(rule.equation) ? [[rule.id, rule.name]] : [])),
  );
  for (const [id, rule] of pairs(index.rule.rewrite, index.rule.rule)) {
    const text = wanted.get(rule);
    if (text !== undefined) yield { id, kind: "rule", text };
  }
  const ops = index.ops.map(has);
  for (const [id, op] of pairs(index.op.rewrite, index.op.op))
    if (ops[op]) yield { id, kind: "op", text: index.ops[op]! };
  for (const [id, at] of places)
    if (inFile[at]) yield { id, kind: "file", text: shown(...index.places[at]!) };
}

const pairs = (rewrites: readonly number[], values: readonly number[]): [number, number][] =>
  rewrites.map((rewrite, i) => [rewrite, values[i]!]);
