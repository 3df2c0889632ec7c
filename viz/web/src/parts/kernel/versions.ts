/**
 * Versions of texts that the user edits, the newest last: each text that was run, and the one that is
 * being written. Kept for the session of this browser tab, within a budget, and never in the trace.
 */
import { signal } from "@preact/signals";

/** What the compiler is told when it makes a program of a kernel. An edited text runs in the place of
 * that program's, with its grid and its loops, so it goes with the choices of the text that it began as. */
export interface Choices {
  /** The optimisations, as text; null: those that the compiler chooses. */
  opts: string | null;
  /** Names of rules that are left out. */
  skip: readonly string[];
}

export const COMPILERS: Choices = { opts: null, skip: [] };

export const sameChoices = (a: Choices, b: Choices): boolean =>
  a.opts === b.opts && a.skip.join(" ") === b.skip.join(" ");

export interface Version extends Choices {
  text: string;
  /** Milliseconds since 1970. */
  at: number;
  /** draft: being written, not run yet. */
  state: "draft" | "ran" | "failed";
}

type Kept = ReadonlyMap<string, readonly Version[]>;

const KEY = "uopviz.edits";
/** Versions of one column, and characters of all of them. */
export const MOST_VERSIONS = 20;
const MOST_CHARS = 1_500_000;

const kept = signal<Kept>(load());

/** The versions of a text, by the name of the text in the session. */
export const versionsOf = (name: string): readonly Version[] => kept.value.get(name) ?? [];

/** Keeps a version; it takes the place of a draft and of an equal text. */
export function keepVersion(name: string, version: Version): void {
  const next = new Map(kept.peek());
  const mine = withVersion(next.get(name) ?? [], version);
  next.delete(name); // to the end: what is edited now is dropped last
  next.set(name, mine);
  kept.value = withinBudget(next);
  try {
    sessionStorage.setItem(KEY, JSON.stringify([...kept.peek()]));
  } catch {
    // Storage is denied or full: the versions last as long as the page.
  }
}

export function withVersion(all: readonly Version[], version: Version): readonly Version[] {
  const isSame = (v: Version): boolean => v.text === version.text && sameChoices(v, version);
  const others = all.filter((v) => !isSame(v) && v.state !== "draft");
  const same = all.find(isSame);
  const state = version.state === "draft" && same ? same.state : version.state;
  return [...others, { ...version, state }].slice(-MOST_VERSIONS);
}

/** Drops the oldest versions, of the texts that were edited longest ago first. */
export function withinBudget(all: Kept, most = MOST_CHARS): Kept {
  let size = [...all.values()].flat().reduce((sum, v) => sum + v.text.length, 0);
  const next = new Map<string, readonly Version[]>();
  for (const [name, versions] of all) {
    let from = 0;
    while (size > most && from < versions.length) size -= versions[from++]!.text.length;
    if (from < versions.length) next.set(name, versions.slice(from));
  }
  return next;
}

function load(): Kept {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
    return new Map(Array.isArray(stored) ? stored.filter(isEntry) : []);
  } catch {
    return new Map(); // storage is denied or holds something else
  }
}

const isEntry = (value: unknown): value is [string, Version[]] =>
  Array.isArray(value) &&
  typeof value[0] === "string" &&
  Array.isArray(value[1]) &&
  value[1].every(isVersion);

function isVersion(value: unknown): value is Version {
  if (typeof value !== "object" || value === null) return false;
  const v = value as Record<string, unknown>;
  const states: unknown[] = ["draft", "ran", "failed"];
  if (typeof v.text !== "string" || typeof v.at !== "number") return false;
  const { opts, skip } = v;
  const chosen = (opts === null || typeof opts === "string") && Array.isArray(skip);
  return chosen && skip.every((name) => typeof name === "string") && states.includes(v.state);
}
