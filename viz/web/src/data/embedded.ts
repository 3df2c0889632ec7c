/**
 * The back end of an exported file: every answer lies in the page itself. An entry is a gzipped JSON
 * array in base64, keyed by the API paths that its items answer, with spaces between them. Never
 * touches the network.
 */
import { PATHS } from "./answers";
import {
  baseOf,
  DataError,
  pairQuestions,
  pathOf,
  questions,
  RUNS,
  type Ask,
  type Backend,
  type RunData,
} from "./backend";
import { withBrowser } from "./browser";
import { Examiner } from "./offline/examiner";
import { rulePageOf } from "./offline/rulePage";
import { commutativeIn } from "./offline/shape";
import { OfflineSearch, type Part } from "./offline/search";
import { unpack } from "./offline/unpack";
import type { RunName } from "./messages/run";

const BLOCKS = 'script[type="application/json"][id^="uopviz-data"]';

interface Entry {
  packed: string;
  /** Unpacked when it is first asked for. */
  items: Promise<unknown[]> | null;
}

/** The embedded back end, or null if this page carries no data. */
export function embeddedBackend(doc: Document = document): Backend | null {
  const blocks = doc.querySelectorAll(BLOCKS);
  if (!blocks.length) return null;
  const places = new Map<string, { entry: Entry; at: number }>();
  for (const block of blocks)
    for (const [paths, packed] of Object.entries(
      JSON.parse(block.textContent || "{}") as Record<string, unknown>,
    )) {
      if (typeof packed !== "string") continue;
      const entry: Entry = { packed, items: null };
      paths.split(" ").forEach((path, at) => places.set(path, { entry, at }));
    }

  const ask: Ask = async (path) => {
    const place = places.get(path);
    if (!place)
      throw new DataError(
        "Not included in this file",
        path,
        "Export again with this kernel, or open the trace itself with `uopviz open`.",
      );
    const items = await (place.entry.items ??= unpack(place.entry.packed));
    return items[place.at];
  };

  /** The entries that have the answers at these paths. */
  function parts(paths: readonly string[]): { parts: Part[]; missing: number } {
    const found = new Map<Entry, Part>();
    let missing = 0;
    for (const path of paths) {
      const place = places.get(path);
      if (!place) {
        missing++;
        continue;
      }
      const { entry, at } = place;
      if (!found.has(entry)) found.set(entry, { packed: entry.packed, at: [] });
      found.get(entry)!.at.push(at);
    }
    return { parts: [...found.values()], missing };
  }

  const runs = new Map<string, RunData>();
  return {
    runs: async () => (await ask(RUNS)) as RunName[],
    of: (run) => {
      if (!runs.has(run))
        runs.set(
          run,
          heldRun(run, ask, parts, (path) => places.has(path)),
        );
      return runs.get(run)!;
    },
    compare: (a, b) => pairQuestions(a, b, ask),
    server: null,
  };
}

/** What is worked out of the trace, of any node and rule, cannot be listed in a file beforehand. */
function needsTrace(): Promise<never> {
  return Promise.reject(
    new DataError(
      "This answer needs the trace",
      "an exported file",
      "Open this file with `uopviz open`, or the trace itself, to ask why a rule did not fire.",
    ),
  );
}

/** The run of this name. */
function heldRun(
  run: string,
  ask: Ask,
  parts: (paths: readonly string[]) => { parts: Part[]; missing: number },
  has: (path: string) => boolean,
): RunData {
  const held = questions(run, ask);
  const base = baseOf(run);

  async function startSearch(): Promise<OfflineSearch> {
    const index = has(base + PATHS.searchIndex) ? await held.searchIndex() : null;
    const { rows } = await held.tree(0);
    const at = (what: "bundle" | "kernel" | "passTexts", number: number): string => base + pathOf(what, number);
    const commutative = commutativeIn((await held.run()).dialect);
    return new OfflineSearch({ rows, index, commutative, pathOf: at, parts }, new Examiner());
  }

  let search: Promise<OfflineSearch> | null = null;
  /** Begun with the first query. */
  async function searching(): Promise<OfflineSearch> {
    try {
      return await (search ??= startSearch());
    } catch (thrown) {
      search = null;
      throw thrown;
    }
  }

  return {
    ...held,
    whyNot: needsTrace,
    rulesAt: needsTrace,
    nearMisses: needsTrace,
    passRules: needsTrace,
    acted: needsTrace,
    rulePage: async (rule) => {
      const all = await held.rules();
      const page = rulePageOf(rule, all, await held.ruleTotals(), await held.ruleMatches());
      if (page) return page;
      throw new DataError(
        `There is no rule ${rule} in this run`,
        "rule-page",
        "The link may be of another run.",
      );
    },
    run: async () => withBrowser({ ...(await held.run()), live: false, devices: [], editable: [] }),
    tree: (since) => (since ? Promise.resolve({ rows: [], total: since }) : held.tree(0)),
    shadersOf: async (context, { opts, skip }) => {
      if ((opts !== null && opts !== "") || skip.length)
        throw new DataError(
          "Other optimizations need the compiler",
          "an exported file",
          "Open this file with `uopviz open` to compile the kernel otherwise.",
        );
      const found = await held.shaders(context);
      if ("error" in found) throw new DataError(found.error.what, found.error.where, found.error.hint);
      return opts === "" ? { ...found, made: found.plain } : found;
    },
    search: async (query, signal) => (await searching()).search(query, signal),
    server: null,
  };
}
