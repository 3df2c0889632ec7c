/**
 * The graph that is laid out: nodes 0..n-1 and edges source -> user, as flat arrays.
 *
 * Removes self-loops and repeated edges, breaks cycles (the union of the steps of a pass can hold
 * some) and finds hubs. Never recurses and never depends on anything but its input, so that one
 * graph always gets one picture.
 */

/** Nodes 0..n-1; edge i goes from `src[i]` to its user `user[i]`. May hold loops and cycles. */
export interface LayoutInput {
  n: number;
  src: Int32Array;
  user: Int32Array;
  /** Where given, how far right of its user's middle each edge enters it, px; else all do there. */
  port?: Int32Array | undefined;
  /** Where given, when each edge is seen; else always. */
  seen?: Lifetimes | undefined;
  /** Where given, nodes of one row that are never seen together may get one place. */
  life?: Lifetimes | undefined;
  /** Where given, every node's row and the x of some. */
  held?: Held | undefined;
}

/** What a layout has to keep. */
export interface Held {
  /** Any integers, each node below its sources. */
  row: Int32Array;
  /** NaN where a node may have any. */
  x: Float64Array;
}

/** Steps in which each node or edge is seen, first and last included. */
export interface Lifetimes {
  from: Int32Array;
  to: Int32Array;
}

/** Adjacency lists: the neighbours of v are `to[first[v]] .. to[first[v + 1] - 1]`. */
export interface Adjacency {
  first: Int32Array;
  to: Int32Array;
}

/** From this many users (or sources) on, a node's edges are drawn as stubs. */
export const HUB = 64;

export interface LayoutGraph {
  n: number;
  /** All edges of the acyclic graph, loops and repeats left out. */
  srcs: Adjacency;
  users: Adjacency;
  /** The edges drawn as lines: `srcs` and `users` without those of hubs. */
  nearSrcs: Adjacency;
  nearUsers: Adjacency;
  /** The edges of `users.to` and `nearUsers.to`, by their numbers in the input. */
  edge: Int32Array;
  nearEdge: Int32Array;
  /** Where an edge of the input enters its user. */
  port(edge: number): number;
  /** When an edge of the input is seen. */
  seen(edge: number): { from: number; to: number };
  /** 1 for nodes with `HUB` or more users, 2 for `HUB` or more sources, 3 for both. */
  hub: Uint8Array;
  /** Every node after all its sources. */
  topological: Int32Array;
}

/**
 * Lists by `key`, in the order of the edges: of `value`, or of the edges' numbers without it.
 * Edges with `keep` 0 are left out.
 */
function adjacency(
  n: number,
  key: Int32Array,
  value: Int32Array | null,
  keep: Uint8Array | null = null,
): Adjacency {
  const first = new Int32Array(n + 1);
  const m = key.length;
  for (let e = 0; e < m; e++) if (!keep || keep[e]) first[key[e]! + 1]!++;
  for (let v = 0; v < n; v++) first[v + 1]! += first[v]!;
  const at = first.slice(0, n);
  const to = new Int32Array(first[n]!);
  for (let e = 0; e < m; e++)
    if (!keep || keep[e]) to[at[key[e]!]!++] = value ? value[e]! : e;
  return { first, to };
}

/** Is every edge's end inside 0..n-1? Said once here; all later loops rely on it. */
function checkEnds(input: LayoutInput): void {
  const { n, src, user } = input;
  for (let e = 0; e < src.length; e++) {
    const a = src[e]!;
    const b = user[e]!;
    if (a < 0 || a >= n || b < 0 || b >= n)
      throw new RangeError(`layout: edge ${e} joins ${a} and ${b}, nodes are 0..${n - 1}`);
  }
}

/** Marks with 0 every self-loop and every repeat of an edge; `byUser` lists the edges. */
function uniqueEdges(input: LayoutInput, byUser: Adjacency): Uint8Array {
  const { n, src } = input;
  const keep = new Uint8Array(src.length);
  const seen = new Int32Array(n).fill(-1);
  for (let u = 0; u < n; u++) {
    for (let i = byUser.first[u]!; i < byUser.first[u + 1]!; i++) {
      const e = byUser.to[i]!;
      const s = src[e]!;
      if (s === u || seen[s] === u) continue;
      seen[s] = u;
      keep[e] = 1;
    }
  }
  return keep;
}

/**
 * Depth-first walk from users to sources. Clears `keep` of the edges that close a cycle and
 * returns the nodes in topological order (sources first). Sinks are walked first, then whatever
 * is left (pure cycles), each by index: which edge of a cycle breaks depends on nothing else.
 */
function breakCycles(input: LayoutInput, byUser: Adjacency, keep: Uint8Array): Int32Array {
  const { n, src } = input;
  const hasUser = new Uint8Array(n);
  for (let e = 0; e < src.length; e++) if (keep[e]) hasUser[src[e]!] = 1;
  const topological = new Int32Array(n);
  let done = 0;
  const state = new Uint8Array(n); // 0 new, 1 on the path, 2 done
  const next = byUser.first.slice(0, n);
  const path = new Int32Array(n);
  const walk = (start: number): void => {
    let depth = 0;
    path[0] = start;
    state[start] = 1;
    while (depth >= 0) {
      const v = path[depth]!;
      if (next[v]! >= byUser.first[v + 1]!) {
        state[v] = 2;
        topological[done++] = v;
        depth--;
        continue;
      }
      const e = byUser.to[next[v]!++]!;
      if (!keep[e]) continue;
      const s = src[e]!;
      if (state[s] === 1) keep[e] = 0;
      else if (state[s] === 0) {
        state[s] = 1;
        path[++depth] = s;
      }
    }
  };
  for (let v = 0; v < n; v++) if (!hasUser[v] && state[v] === 0) walk(v);
  for (let v = 0; v < n; v++) if (state[v] === 0) walk(v);
  return topological;
}

export function layoutGraph(input: LayoutInput): LayoutGraph {
  const { n, src, user } = input;
  checkEnds(input);
  const byUser = adjacency(n, user, null);
  const keep = uniqueEdges(input, byUser);
  const topological = breakCycles(input, byUser, keep);
  const users = adjacency(n, src, user, keep);
  const edge = adjacency(n, src, null, keep).to;
  const srcs = adjacency(n, user, src, keep);
  const hub = new Uint8Array(n);
  for (let v = 0; v < n; v++) {
    if (users.first[v + 1]! - users.first[v]! >= HUB) hub[v]! |= 1;
    if (srcs.first[v + 1]! - srcs.first[v]! >= HUB) hub[v]! |= 2;
  }
  for (let e = 0; e < keep.length; e++)
    if (keep[e] && (hub[src[e]!]! & 1 || hub[user[e]!]! & 2)) keep[e] = 0;
  const nearEdge = adjacency(n, src, null, keep).to;
  const { port, seen } = input;
  return {
    n,
    srcs,
    users,
    edge,
    nearEdge,
    port: (e) => port?.[e] ?? 0,
    seen: (e) => ({ from: seen?.from[e] ?? 0, to: seen?.to[e] ?? 0 }),
    nearSrcs: adjacency(n, user, src, keep),
    nearUsers: adjacency(n, src, user, keep),
    hub,
    topological,
  };
}
