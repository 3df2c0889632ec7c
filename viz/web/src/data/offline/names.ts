/** What a search finds by name: kernels, calls, rules, passes, groups, ops and places. Pure. */
import type { Row } from "../messages/run";
import type { SearchHit, SearchIndex } from "../messages/search";
import { casefold } from "./text";

/** Numbers of the processes of a run begin at multiples of this (viz/views/runs/process.py). */
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

/** Hits in the order of the index. `wanted` is case-folded. */
export function findNames(wanted: string, { texts, hits }: SearchIndex): NameHit[] {
  const kinds = texts.map(
    ({ kinds }) => kinds.find(([, text]) => casefold(text).includes(wanted))?.[0],
  );
  return hits.entry.flatMap((id, i) => {
    const at = hits.text[i]!;
    const kind = kinds[at];
    return kind ? [{ id, kind, text: texts[at]!.shown }] : [];
  });
}

/** What a file that has no index is searched by: the names of its rows. */
export function indexOfRows(rows: readonly Row[]): SearchIndex {
  const live = rows.filter((row) => row.status !== "gone" && row.id % STRIDE !== 0);
  live.sort((a, b) => a.id - b.id);
  const texts = live.map((row) => ({
    shown: row.name,
    kinds: [[kindOf(row), row.name]] as [SearchHit["kind"], string][],
  }));
  const hits = { entry: live.map((row) => row.id), text: live.map((_, i) => i) };
  return { ops: [], texts, hits, done: true };
}

const kindOf = (row: Row): SearchHit["kind"] =>
  row.kind === "rewrite" ? "pass" : row.label === "kernel" ? "kernel" : "group";
