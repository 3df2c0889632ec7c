/**
 * The search of an exported file, without a server: the hits of viz/views/search/find.py, in the
 * same groups and the same order. Like a server's, an answer may be partial: it says how far the
 * search is, and asking again goes on.
 */
import type { Row } from "../messages/run";
import type { SearchHit, SearchIndex, SearchResult } from "../messages/search";
import { MAX_LINES, type Examined, type Line, type Task } from "./examine";
import type { Examiner } from "./examiner";
import type { Place } from "./match";
import { findNames, indexOfRows, isCompiled, processOf, type NameHit } from "./names";
import { isStructural, parseShape, ShapeError } from "./shape";
import { casefold, first, strip } from "./text";

/** An entry of the file, and the places of answers in it. */
export interface Part {
  packed: string;
  at: number[];
}

/** What is searched. */
export interface Held {
  rows: readonly Row[];
  /** null in a file that has none. */
  index: SearchIndex | null;
  /** The ops, case-folded, whose two sources may stand in either order. */
  commutative: readonly string[];
  /** Where the answer about a rewrite or kernel is. */
  pathOf(what: "bundle" | "kernel" | "passTexts", number: number): string;
  /** The entries with the answers at these paths, and how many the file does not have. */
  parts(paths: readonly string[]): { parts: Part[]; missing: number };
}

/** The groups, in the order in which they are shown, and how many hits of each are. */
const KINDS = ["kernel", "call", "rule", "pass", "group", "op", "file", "source", "text", "node"] as const;
const GROUPS = [...KINDS, "compiled"] as const;
const PER_GROUP = 50;
/** Characters of a query that count. */
const MAX_QUERY = 200;
/** How long one answer takes, about, ms. */
const SLICE = 250;
/** Queries whose progress is kept. */
const KEPT = 8;
const NOTHING: SearchResult = { hits: [], totals: {}, total: 0, truncated: null, problem: null };
const HINT = "Open the file with `uopviz open`, or export the run again.";

interface Progress {
  task: Task;
  names: readonly NameHit[];
  parts: readonly Part[];
  /** How many of `parts` have been looked through. */
  done: number;
  /** How many answers the file does not have, or not as a whole. */
  missing: number;
  lines: Line[];
  places: Place[];
}

export class OfflineSearch {
  private readonly progress = new Map<string, Progress>();
  private readonly rowOf: ReadonlyMap<number, number>;

  constructor(
    private readonly held: Held,
    private readonly examiner: Pick<Examiner, "run">,
  ) {
    const live = held.rows.filter((row) => row.status !== "gone");
    this.rowOf = new Map(live.map((row) => [row.id, row.row]));
  }

  /** Rejects with an AbortError once given up, and with what cannot be read. */
  async search(query: string, signal?: AbortSignal): Promise<SearchResult> {
    const wanted = strip(first(query, MAX_QUERY));
    if (!wanted) return NOTHING;
    let progress: Progress;
    try {
      progress = this.progress.get(wanted) ?? this.begin(wanted);
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error;
      return { ...NOTHING, problem: { what: error.what, where: error.where, hint: error.hint } };
    }
    this.keep(wanted, progress);
    const until = performance.now() + SLICE;
    while (progress.done < progress.parts.length && performance.now() < until) {
      const { done } = progress;
      const { packed, at } = progress.parts[done]!;
      const found = await this.examiner.run({ packed, at, task: progress.task }, signal);
      if (progress.done === done) add(progress, found); // nobody else has asked for it meanwhile
    }
    return this.result(progress);
  }

  private begin(wanted: string): Progress {
    const { rows, index } = this.held;
    const found = { done: 0, lines: [], places: [] };
    const live = rows.filter((row) => row.status !== "gone");
    if (isStructural(wanted, index?.ops)) {
      const task: Task = { kind: "structure", shape: parseShape(wanted, this.held.commutative) };
      const passes = live.filter((row) => row.kind === "rewrite");
      const paths = passes.map((row) => this.held.pathOf("bundle", row.id));
      return { ...found, task, names: [], ...this.held.parts(paths) };
    }
    const text = casefold(wanted);
    const kernels = live.filter((row) => row.label === "kernel" && row.status !== "open");
    const paths = [
      ...kernels.map((row) => this.held.pathOf("kernel", row.id)),
      ...live.filter((row) => row.text).map((row) => this.held.pathOf("passTexts", row.id)),
    ];
    return {
      ...found,
      task: { kind: "lines", wanted: text },
      names: findNames(text, index ?? indexOfRows(rows)),
      ...this.held.parts(paths),
    };
  }

  /** The queries asked for last. */
  private keep(wanted: string, progress: Progress): void {
    this.progress.delete(wanted);
    this.progress.set(wanted, progress);
    for (const oldest of this.progress.keys()) {
      if (this.progress.size <= KEPT) break;
      this.progress.delete(oldest);
    }
  }

  private result(progress: Progress): SearchResult {
    const groups = new Map(GROUPS.map((group) => [group, [] as SearchHit[]]));
    const add = (id: number, kind: SearchHit["kind"], text: string, more = {}): void => {
      const hit = {
        row: this.rowOf.get(id) ?? -1,
        kind,
        text,
        step: null,
        node: null,
        passes: 1,
        source: null,
      };
      groups.get(isCompiled(id) ? "compiled" : kind)!.push({ ...hit, ...more });
    };
    for (const { id, kind, text } of progress.names) add(id, kind, text);
    for (const kind of ["source", "text"] as const)
      for (const { entry, text, source } of limited(progress.lines.filter((l) => l.kind === kind)))
        add(entry, kind, text, { source });
    for (const places of this.histories(progress.places)) {
      const { rewrite, text, step, node, count } = places[0]!;
      const more = count > 1 ? ` and ${(count - 1).toLocaleString("en-US")} more` : "";
      add(rewrite, "node", text + more, { step, node, passes: places.length });
    }
    const found = [...groups].filter(([, hits]) => hits.length);
    const share = progress.parts.length ? progress.done / progress.parts.length : 1;
    return {
      hits: found.flatMap(([, hits]) => hits.slice(0, PER_GROUP)),
      totals: Object.fromEntries(found.map(([group, hits]) => [group, hits.length])),
      total: found.reduce((sum, [, hits]) => sum + hits.length, 0),
      truncated:
        share < 1 ? `${Math.min(99, Math.round(share * 100))}% of the run searched so far.` : null,
      problem: share < 1 ? null : this.leftOut(progress),
    };
  }

  /** The places of each node in the passes of one kernel, in their order. */
  private histories(places: readonly Place[]): Iterable<Place[]> {
    const found = new Map<string, Place[]>();
    for (const place of inOrder(places, (p) => p.rewrite)) {
      const key = `${this.contextOf(place.rewrite)} ${place.node}`;
      const known = found.get(key);
      if (known) known.push(place);
      else found.set(key, [place]);
    }
    return found.values();
  }

  /** The kernel or schedule of a pass. A row comes after the one that it is in. */
  private contextOf(rewrite: number): number {
    const { rows } = this.held;
    let row = rows[this.rowOf.get(rewrite) ?? -1];
    while (row && row.kind !== "context" && row.parent < row.row) row = rows[row.parent];
    return row?.kind === "context" ? row.id : -1;
  }

  /** What could not be searched because the file does not have it. */
  private leftOut({ task, missing }: Progress): SearchResult["problem"] {
    const where = "this exported file";
    if (missing) {
      const what = task.kind === "lines" ? "texts of kernels and passes" : "passes";
      return { what: `${missing} ${what} are not in this file as a whole`, where, hint: HINT };
    }
    if (task.kind === "structure" || this.held.index) return null;
    return { what: "this file has no index of rules, ops and places", where, hint: HINT };
  }
}

function add(progress: Progress, { places, lines, partial }: Examined): void {
  progress.done++;
  progress.places.push(...places);
  progress.lines.push(...lines);
  progress.missing += partial;
}

const inOrder = <T>(items: readonly T[], number: (item: T) => number): T[] =>
  [...items].sort((a, b) => number(a) - number(b));

/** The first lines of each process, entry by entry. */
function limited(lines: readonly Line[]): Line[] {
  const counts = new Map<number, number>();
  return inOrder(lines, (line) => line.entry).filter(({ entry }) => {
    const process = processOf(entry);
    const count = (counts.get(process) ?? 0) + 1;
    counts.set(process, count);
    return count <= MAX_LINES;
  });
}
