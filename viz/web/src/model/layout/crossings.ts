/**
 * Which straight edges cross, kept up to date while nodes move along their rows.
 *
 * An edge whose one end moves turns about the other. So it meets another edge exactly while the
 * moving node is in one interval of its row: one look at the edges beside it tells the crossings
 * for every place of the node. Edges cross where their straight lines do; two that share an end
 * never do. All x are whole pixels: whole numbers are quick also before the code is optimized.
 */
import type { LayoutGraph } from "./graph";
import type { Rows } from "./order";

/** Farther than any place. */
export const FAR = 1e9;
/** Pairs that there is room for at first. */
const ROOM = 4096;

/** Pairs (edge of a node, other edge) and the places of the node at which they cross. */
export class Meetings {
  size = 0;
  other: Int32Array = new Int32Array(ROOM);
  /** They cross while the node is between these, ends excluded. */
  from: Int32Array = new Int32Array(ROOM);
  to: Int32Array = new Int32Array(ROOM);

  add(other: number, from: number, to: number): void {
    if (this.size === this.other.length) this.grow();
    const i = this.size++;
    this.other[i] = other;
    this.from[i] = from;
    this.to[i] = to;
  }

  /** How many cross with the node at `place`. */
  at(place: number): number {
    const { from, to, size } = this;
    let count = 0;
    for (let i = 0; i < size; i++) if (from[i]! < place && place < to[i]!) count++;
    return count;
  }

  private grow(): void {
    const longer = (list: Int32Array): Int32Array => {
      const copy = new Int32Array(2 * list.length);
      copy.set(list);
      return copy;
    };
    this.other = longer(this.other);
    this.from = longer(this.from);
    this.to = longer(this.to);
  }
}

export class Crossings {
  /** Pairs of edges looked at so far. */
  looked = 0;
  /** Ends of the edges, which are sorted by the row of the upper one. */
  readonly above: Int32Array;
  readonly below: Int32Array;
  /** Edges of v, in and out: `edgeOf[edgeFirst[v]]` .. `edgeOf[edgeFirst[v + 1] - 1]`. */
  readonly edgeFirst: Int32Array;
  readonly edgeOf: Int32Array;
  /** Nodes of which an edge or a neighbour has changed. */
  readonly stale: Uint8Array;
  private readonly top: Int32Array;
  private readonly bottom: Int32Array;
  /** x of the ends. */
  private readonly upper: Int32Array;
  private readonly lower: Int32Array;
  /** The first edge that begins at row r. */
  private readonly begin: Int32Array;
  /** Edges that pass row r: `passing[passFirst[r]]` .. `passing[passFirst[r + 1] - 1]`. */
  private readonly passFirst: Int32Array;
  private readonly passing: Int32Array;
  /** Edges found near another one. */
  private readonly close: Int32Array;

  constructor(
    g: LayoutGraph,
    row: Int32Array,
    rows: Rows,
    private readonly x: Int32Array,
  ) {
    const { first, to } = g.nearUsers;
    const m = to.length;
    const count = rows.first.length - 1;
    const above = new Int32Array(m);
    const below = new Int32Array(m);
    const top = new Int32Array(m);
    const bottom = new Int32Array(m);
    const upper = new Int32Array(m);
    const lower = new Int32Array(m);
    const begin = new Int32Array(count + 1);
    const passFirst = new Int32Array(count + 2);
    const edgeFirst = new Int32Array(g.n + 1);
    let e = 0;
    for (let r = 0; r < count; r++) {
      begin[r] = e;
      for (let i = rows.first[r]!; i < rows.first[r + 1]!; i++) {
        const v = rows.nodes[i]!;
        for (let j = first[v]!; j < first[v + 1]!; j++, e++) {
          const u = to[j]!;
          above[e] = v;
          below[e] = u;
          top[e] = r;
          bottom[e] = row[u]!;
          upper[e] = x[v]!;
          lower[e] = x[u]!;
          edgeFirst[v + 1]!++;
          edgeFirst[u + 1]!++;
          // Differences: one more passes from row r + 1 on, one less from the end on.
          passFirst[r + 2]!++;
          passFirst[row[u]! + 1]!--;
        }
      }
    }
    begin[count] = e;
    for (let r = 0; r <= count; r++) passFirst[r + 1]! += passFirst[r]!;
    for (let r = 0; r <= count; r++) passFirst[r + 1]! += passFirst[r]!;
    for (let v = 0; v < g.n; v++) edgeFirst[v + 1]! += edgeFirst[v]!;
    const passing = new Int32Array(passFirst[count]!);
    const edgeOf = new Int32Array(2 * m);
    const passAt = passFirst.slice();
    const edgeAt = edgeFirst.slice();
    for (e = 0; e < m; e++) {
      edgeOf[edgeAt[above[e]!]!++] = e;
      edgeOf[edgeAt[below[e]!]!++] = e;
      for (let r = top[e]! + 1; r < bottom[e]!; r++) passing[passAt[r]!++] = e;
    }
    this.above = above;
    this.below = below;
    this.top = top;
    this.bottom = bottom;
    this.upper = upper;
    this.lower = lower;
    this.begin = begin;
    this.passFirst = passFirst;
    this.passing = passing;
    this.edgeFirst = edgeFirst;
    this.edgeOf = edgeOf;
    this.stale = new Uint8Array(g.n).fill(1);
    this.close = new Int32Array(m);
  }

  /** Do the straight lines of two edges cross? */
  cross(e: number, f: number): boolean {
    const { above, below, top, bottom, upper, lower } = this;
    if (above[e] === above[f] || below[e] === below[f]) return false;
    const te = top[e]!;
    const tf = top[f]!;
    const first = te > tf ? te : tf;
    const last = bottom[e]! < bottom[f]! ? bottom[e]! : bottom[f]!;
    if (first >= last) return false;
    const he = bottom[e]! - te;
    const hf = bottom[f]! - tf;
    const s = (lower[e]! - upper[e]!) * hf;
    const t = (lower[f]! - upper[f]!) * he;
    const at = (upper[e]! - upper[f]!) * he * hf - s * te + t * tf;
    const p = at + (s - t) * first;
    const q = at + (s - t) * last;
    return (p < 0 && q > 0) || (p > 0 && q < 0);
  }

  /** Would edges e of a and f of b cross if a and b had each other's place? */
  crossSwapped(a: number, b: number, e: number, f: number): boolean {
    const { x, above } = this;
    const ends = above[e] === a ? this.upper : this.lower;
    ends[e] = x[b]!;
    ends[f] = x[a]!;
    const crosses = this.cross(e, f);
    ends[e] = x[a]!;
    ends[f] = x[b]!;
    return crosses;
  }

  /** Finds what the edges of v meet while v is within `low` .. `high`, but for edges of `besides`. */
  meet(v: number, besides: number, low: number, high: number, found: Meetings): void {
    const { above, below, top, bottom, upper, lower, close } = this;
    found.size = 0;
    for (let i = this.edgeFirst[v]!; i < this.edgeFirst[v + 1]!; i++) {
      const e = this.edgeOf[i]!;
      const down = above[e] === v;
      // The end that stays, and how many rows v is below it.
      const still = down ? lower[e]! : upper[e]!;
      const row = down ? bottom[e]! : top[e]!;
      const height = down ? top[e]! - row : bottom[e]! - row;
      const k = this.near(e, still < low ? still : low, still > high ? still : high);
      for (let c = 0; c < k; c++) {
        const f = close[c]!;
        const fa = above[f]!;
        const fb = below[f]!;
        if (fa === above[e] || fb === below[e] || fa === besides || fb === besides) continue;
        // x1 and x2: of f, from `still`, in the outer rows that both share.
        const first = top[e]! > top[f]! ? top[e]! : top[f]!;
        const last = bottom[e]! < bottom[f]! ? bottom[e]! : bottom[f]!;
        const slope = (lower[f]! - upper[f]!) / (bottom[f]! - top[f]!);
        const x1 = upper[f]! + slope * (first - top[f]!) - still;
        const x2 = upper[f]! + slope * (last - top[f]!) - still;
        // In the row of the end that stays, f is on one side of it, wherever v is.
        const p = first === row ? x1 * FAR : still + (x1 * height) / (first - row);
        const q = last === row ? x2 * FAR : still + (x2 * height) / (last - row);
        const from = p < q ? p : q;
        const to = p < q ? q : p;
        if (from < to && from < high && to > low)
          found.add(f, from < -FAR ? -FAR : Math.floor(from), to > FAR ? FAR : Math.ceil(to));
      }
    }
  }

  /** Puts edges that share rows with e and reach into left .. right into `close`; how many. */
  private near(e: number, left: number, right: number): number {
    const { begin, upper, lower, passFirst, passing, close } = this;
    const r = this.top[e]!;
    const passEnd = passFirst[r + 1]!;
    const beginEnd = begin[this.bottom[e]!]!;
    let k = 0;
    for (let j = passFirst[r]!; j < passEnd; j++) {
      const f = passing[j]!;
      const a = upper[f]!;
      const b = lower[f]!;
      if ((a > left || b > left) && (a < right || b < right)) close[k++] = f;
    }
    for (let f = begin[r]!; f < beginEnd; f++) {
      const a = upper[f]!;
      const b = lower[f]!;
      if ((a > left || b > left) && (a < right || b < right)) close[k++] = f;
    }
    this.looked += passEnd - passFirst[r]! + beginEnd - begin[r]!;
    return k;
  }

  /** Moves v, for which `found` holds what it meets on the way. */
  move(v: number, place: number, found: Meetings): void {
    const { above, below, stale, x } = this;
    const old = x[v]!;
    for (let i = 0; i < found.size; i++) {
      const from = found.from[i]!;
      const to = found.to[i]!;
      if ((from < old && old < to) === (from < place && place < to)) continue;
      stale[above[found.other[i]!]!] = 1;
      stale[below[found.other[i]!]!] = 1;
    }
    x[v] = place;
    for (let i = this.edgeFirst[v]!; i < this.edgeFirst[v + 1]!; i++) {
      const e = this.edgeOf[i]!;
      if (above[e] === v) this.upper[e] = place;
      else this.lower[e] = place;
      stale[above[e]!] = 1;
      stale[below[e]!] = 1;
    }
  }
}
