/**
 * The part of the graph around a step's change, and labels for what it leaves out.
 *
 * All of a small graph; else a walk from the changed slots, breadth first, with a budget of nodes.
 * What lies beyond is folded into groups ("5 more: MAX, STORE, SINK"), each hanging at the shown
 * nodes it touches. Counts stop at a limit and say so. Costs the budget, never the size of the
 * graph; the same step always gives the same answer.
 */
import { opOf } from "../content";
import type { StepDiff } from "../diff";
import { HUB } from "../layout/graph";
import { BoxGraph } from "./boxes";
import type { Fold } from "./fold";
import { groupAt } from "../ops";
import type { Replay } from "../replay";

export interface NeighbourhoodOptions {
  /** Changed nodes to show at most; the users of a replaced constant can be thousands. */
  changed: number;
  /** Unchanged nodes to show at most. */
  budget: number;
  /** Leave constants out (they are then part of their users' labels). */
  foldConstants: boolean;
  /** Slots that the reader opened; shown where they hang at what is shown. */
  opened: ReadonlySet<number>;
  /** Slots that were selected far from the change: shown with the way to them, if it is short. */
  brought: ReadonlySet<number>;
  /** Slots that are folded whatever they are: they would have to leave the place they have. */
  without: ReadonlySet<number>;
  /** Boxes that count as one node, known by their heads. */
  fold: Fold | null;
}

export const AROUND: NeighbourhoodOptions = {
  changed: 40,
  budget: 20,
  foldConstants: false,
  opened: new Set(),
  brought: new Set(),
  without: new Set(),
  fold: null,
};

/** Hidden nodes that hang together at the edge of what is shown. */
export interface Group {
  /** Hidden users of shown nodes ("below") or hidden sources of them ("above"). */
  side: "above" | "below";
  /** The shown nodes it touches. */
  anchors: number[];
  /** Its nodes next to the anchors; they open on a click. The first lends its place. */
  heads: number[];
  /** Nodes counted, and whether there are more than were counted. */
  count: number;
  more: boolean;
  /** Its ops, the most frequent first. */
  names: string[];
  label: string;
}

export interface Neighbourhood {
  shown: Set<number>;
  groups: Group[];
}

/** From a node, at most this many users and sources are followed. */
const FAN = 12;
/** A selected node is shown with the nodes between it and the change: so many, of so many looked at. */
const WAY = 8;
const WAY_LOOKED_AT = 4000;
/** Hidden nodes counted for the groups of a step. */
const COUNTED = 600;
const NAMES = 3;
/** A state of fewer nodes is shown as it is. */
const SMALL = 60;
/** Groups of up to this many nodes are shown instead; what appears then may leave such groups, too. */
const TINY = 3;
const ROUNDS = 40;
function newGroup(side: Group["side"]): Group {
  return { side, anchors: [], heads: [], count: 0, more: false, names: [], label: "" };
}

/** Marks what is shown among what groups have claimed. */
const SHOWN = newGroup("above");

/** What is shown, and the groups around it with their nodes counted. */
export function neighbourhood(
  before: Replay,
  after: Replay,
  diff: StepDiff,
  options: NeighbourhoodOptions,
): Neighbourhood {
  const { shown, folding } = walk(before, after, diff, options);
  const groups = folding.gather(shown);
  // As `walk` counted, so that no group gets less than it had there; then on from that.
  folding.count(groups, COUNTED, TINY);
  folding.count(groups, COUNTED);
  folding.name(groups);
  return { shown, groups };
}

/** The slots that `neighbourhood` needs a place for: what is shown, and the first of each group. */
export function placesOf(
  before: Replay,
  after: Replay,
  diff: StepDiff,
  options: NeighbourhoodOptions,
): Set<number> {
  const { shown, folding } = walk(before, after, diff, options);
  const places = new Set(shown);
  for (const g of folding.gather(shown)) places.add(g.heads[0]!);
  return places;
}

function walk(
  before: Replay,
  after: Replay,
  diff: StepDiff,
  options: NeighbourhoodOptions,
): { shown: Set<number>; folding: FarParts } {
  const { bundle } = after;
  const graph = new BoxGraph(before, after, options.fold);
  const folded = (s: number): boolean =>
    options.foldConstants &&
    !diff.nodes.has(s) &&
    groupAt(bundle, graph.content(s)) === "const" &&
    after.srcOf(s).length === 0;
  const { without } = options;
  const hidden = (s: number): boolean => without.has(s) || folded(s);
  const keep = (found: number[]): number[] =>
    options.foldConstants ? found.filter((t) => !folded(t)) : found;
  const sources: Near = (s, limit) => keep(graph.sources(s, limit));
  const users: Near = (s, limit) => keep(graph.users(s, limit));

  const focus = diff.focus.filter((s) => !without.has(graph.at(s)));
  const shown = new Set<number>(focus.slice(0, options.changed).map((s) => graph.at(s)));
  if (!shown.size && graph.has(bundle.root)) shown.add(graph.at(bundle.root));
  if (Math.max(before.count, after.count) < SMALL)
    for (const replay of [before, after])
      for (const s of replay.slots()) if (!hidden(graph.at(s))) shown.add(graph.at(s));
  // Sources before users at each distance: what a rule matched is above its root.
  let frontier = [...shown];
  let left = options.budget;
  while (frontier.length && left > 0) {
    const next: number[] = [];
    for (const near of [sources, users])
      for (const s of frontier) {
        for (const t of near(s, FAN)) {
          if (left <= 0 || shown.has(t) || without.has(t)) continue;
          shown.add(t);
          next.push(t);
          left--;
        }
      }
    frontier = next;
  }
  const opened = [...options.opened].map((s) => graph.at(s));
  addOpened(shown, opened.filter((s) => graph.has(s) && !without.has(s)), sources, users);
  for (const s of options.brought)
    if (graph.has(graph.at(s)) && !without.has(graph.at(s)))
      for (const t of wayTo(graph.at(s), shown, sources, users)) if (!without.has(t)) shown.add(t);
  const folding = new FarParts(bundle, graph, sources, users);
  // A label that stands for a few nodes takes their room and tells less.
  for (let round = 0; round < ROUNDS; round++) {
    const groups = folding.gather(shown);
    folding.count(groups, COUNTED, TINY);
    const tiny = groups.filter((g) => g.count <= TINY && !g.more).flatMap((g) => g.heads);
    const more = tiny.filter((s) => !without.has(s));
    if (!more.length) break;
    for (const s of more) shown.add(s);
  }
  return { shown, folding };
}

/** Adds what the reader opened and still hangs at what is shown; at other steps it stays folded. */
function addOpened(shown: Set<number>, opened: number[], sources: Near, users: Near): void {
  let left = opened.filter((s) => !shown.has(s));
  for (;;) {
    const hang = left.filter((s) =>
      [...sources(s, Infinity), ...users(s, Infinity)].some((t) => shown.has(t)),
    );
    if (!hang.length) return;
    for (const s of hang) shown.add(s);
    left = left.filter((s) => !shown.has(s));
  }
}

/** A shortest way from a slot to what is shown, the slot first; it alone if that is far. */
function wayTo(slot: number, shown: ReadonlySet<number>, sources: Near, users: Near): number[] {
  const from = new Map<number, number>([[slot, -1]]);
  let left = WAY_LOOKED_AT;
  for (const [s] of from) {
    if (shown.has(s)) {
      const way: number[] = [];
      for (let t = from.get(s)!; t >= 0; t = from.get(t)!) way.unshift(t);
      return way.length <= WAY ? way : [slot];
    }
    for (const near of [users, sources])
      for (const t of near(s, FAN)) {
        if (left-- <= 0) return [slot];
        if (!from.has(t)) from.set(t, s);
      }
  }
  return [slot];
}

/** Neighbours in either state, each once, at most `limit`. */
type Near = (slot: number, limit: number) => number[];

/** Groups of hidden neighbours of what is shown; those that share a neighbour are one group. */
class FarParts {
  private readonly claimed = new Map<number, Group>();
  private readonly ops = new Map<Group, Map<string, number>>();
  private readonly hubs = new Set<Group>();

  constructor(
    private readonly bundle: Replay["bundle"],
    private readonly graph: BoxGraph,
    private readonly sources: Near,
    private readonly users: Near,
  ) {}

  /** The groups with the nodes next to what is shown; forgets those of an earlier call. */
  gather(shown: ReadonlySet<number>): Group[] {
    const { claimed, ops, hubs } = this;
    for (const made of [claimed, ops, hubs]) made.clear();
    const groups: Group[] = [];
    for (const s of shown) claimed.set(s, SHOWN);
    for (const side of ["below", "above"] as const) {
      const near = side === "below" ? this.users : this.sources;
      for (const anchor of shown) {
        const all = near(anchor, HUB);
        const hub = all.length >= HUB;
        const hidden = all.filter((t) => claimed.get(t) !== SHOWN);
        if (!hidden.length) continue;
        // A hub's group stays its own: it would pull in what hangs at every other node.
        const shared = hub
          ? undefined
          : hidden.map((t) => claimed.get(t)).find((g) => g?.side === side && !hubs.has(g));
        const group = shared ?? newGroup(side);
        if (!shared) {
          groups.push(group);
          ops.set(group, new Map());
          if (hub) hubs.add(group);
        }
        group.anchors.push(anchor);
        for (const t of hidden)
          if (!claimed.has(t)) {
            this.claim(t, group);
            group.heads.push(t);
          }
        if (hub) group.count += near(anchor, Infinity).length - all.length;
      }
    }
    return groups.filter((g) => g.heads.length > 0);
  }

  /**
   * Each group grows in its own direction, all at one pace, into what nobody has claimed: by
   * `budget` nodes in all, and no group beyond `enough`.
   */
  count(groups: readonly Group[], budget: number, enough = Infinity): void {
    const { claimed, hubs } = this;
    const growing = new Set(groups.filter((g) => !hubs.has(g) && g.count <= enough));
    let frontier = [...claimed].filter(([, g]) => growing.has(g)).map(([s]) => s);
    let left = budget;
    while (frontier.length && left > 0) {
      const next: number[] = [];
      for (const s of frontier) {
        const group = claimed.get(s)!;
        if (group.count > enough) continue;
        for (const t of group.side === "below" ? this.users(s, FAN) : this.sources(s, FAN)) {
          if (claimed.has(t)) continue;
          if (left-- <= 0) {
            group.more = true;
            break;
          }
          this.claim(t, group);
          next.push(t);
        }
      }
      frontier = next;
    }
  }

  /** Labels such as "5 more: MAX, STORE, SINK". */
  name(groups: readonly Group[]): void {
    for (const group of groups) {
      const names = [...this.ops.get(group)!].sort((a, b) => b[1] - a[1]).map(([name]) => name);
      group.names = names;
      const rest = names.length > NAMES ? ", ..." : "";
      const count = group.count.toLocaleString("en");
      group.label = `${count}${group.more ? "+" : ""} more: ${names.slice(0, NAMES).join(", ")}${rest}`;
    }
  }

  private claim(s: number, group: Group): void {
    this.claimed.set(s, group);
    group.count += this.graph.weight(s);
    const names = this.ops.get(group)!;
    const op = opOf(this.bundle, this.graph.content(s));
    names.set(op, (names.get(op) ?? 0) + 1);
  }
}
