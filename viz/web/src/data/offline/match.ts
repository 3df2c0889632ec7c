/**
 * Where a pass first has a node of a structure: what viz/views/search/structures.py finds in a
 * trace, found in the message of that pass. Pure.
 */
import type { Bundle } from "../messages/bundle";
import { partsOf, type Shape } from "./shape";
import { asNumber, casefold, first, strip } from "./text";

/** The state after `step` steps is the first that has such a node. */
export interface Place {
  rewrite: number;
  step: number;
  /** Trace-wide number of the node. */
  node: number;
  /** How many such nodes come with it there. */
  count: number;
  /** The node with its argument and its sources' ops. */
  text: string;
}

type Bindings = ReadonlyMap<string, number>;

/** Nodes of one pass that are visited to count its hits. */
const MAX_COUNTED = 20_000;
const MAX_SOURCES = 8;
const MAX_ARG = 40;

export function findShape(bundle: Bundle, shape: Shape): Place | null {
  const matching = new Matcher(bundle).matching(shape);
  if (!matching.includes(1)) return null;
  const above = aboveOf(bundle, matching);
  const start = firstWith(bundle, matching, above);
  if (!start) return null;
  const { node, count } = nearest(bundle, start.root, matching, above);
  return {
    rewrite: bundle.rewrite,
    step: start.step,
    node: bundle.nodes.id[node]!,
    count,
    text: describe(bundle, node),
  };
}

/** Which contents of one pass are as described. */
class Matcher {
  private readonly tests = new Map<Shape, (at: number) => boolean>();

  constructor(private readonly bundle: Bundle) {}

  /** 1 for those. */
  matching(shape: Shape): Uint8Array {
    const mask = this.candidates(shape);
    const names = [...partsOf(shape)].flatMap(({ name }) => (name === null ? [] : [name]));
    if (new Set(names).size < names.length)
      for (let i = 0; i < mask.length; i++)
        if (mask[i] && this.binds(shape, i, new Map()).next().done) mask[i] = 0;
    return mask;
  }

  /** Which match where equal names may be different nodes. */
  private candidates(shape: Shape): Uint8Array {
    const { src } = this.bundle.nodes;
    const mask = Uint8Array.from(src, (_, i) => (this.isLike(shape, i) ? 1 : 0));
    if (!shape.src) return mask;
    const inner = shape.src.map((part) => this.candidates(part));
    const swaps = shape.commutes;
    for (let i = 0; i < mask.length; i++) {
      if (!mask[i]) continue;
      const of = src[i]!;
      const direct = inner.every((part, at) => part[of[at]!]);
      const swapped = swaps && inner[0]![of[1]!] && inner[1]![of[0]!];
      if (!direct && !swapped) mask[i] = 0;
    }
    return mask;
  }

  /** Whether a content itself is as described, whatever its sources are. */
  private isLike(shape: Shape, at: number): boolean {
    let test = this.tests.get(shape);
    if (!test) this.tests.set(shape, (test = this.test(shape)));
    return test(at);
  }

  /** Asks once per text of the bundle. */
  private test({ ops, dtype, arg, src, rest }: Shape): (at: number) => boolean {
    const { bundle } = this;
    const { nodes } = bundle;
    const op = bundle.ops.map((text) => ops === null || ops.includes(casefold(text)));
    const type = bundle.dtypes.map((text) => dtype === null || casefold(text) === dtype);
    const args = bundle.args.map((text) => arg === null || isArg(text, arg));
    const noArg = arg === null || isArg("", arg);
    return (at) => {
      const count = nodes.src[at]!.length;
      return (
        op[nodes.op[at]!] === true &&
        type[nodes.dtype[at]!] === true &&
        (args[nodes.arg[at]!] ?? noArg) &&
        (src === null || count === src.length || (rest && count > src.length))
      );
    };
  }

  /** Every way to bind names so that `shape` matches a content that is a candidate. */
  private *binds(shape: Shape, at: number, known: Bindings): Generator<Bindings> {
    if (shape.name !== null) {
      if ((known.get(shape.name) ?? at) === at) yield new Map(known).set(shape.name, at);
    } else if (this.isLike(shape, at)) {
      const sources = this.bundle.nodes.src[at]!;
      const parts = shape.src ?? [];
      yield* this.bindAll(parts, sources, known);
      if (shape.commutes) yield* this.bindAll([...parts].reverse(), sources, known);
    }
  }

  /** The same of several, one after the other. */
  private *bindAll(
    parts: readonly Shape[],
    sources: readonly number[],
    known: Bindings,
  ): Generator<Bindings> {
    const [part, ...rest] = parts;
    if (part === undefined) {
      yield known;
      return;
    }
    for (const bound of this.binds(part, sources[0]!, known))
      yield* this.bindAll(rest, sources.slice(1), bound);
  }
}

/** Whether an argument is what a query writes; numbers are compared as such. */
const isArg = (shown: string, wanted: string): boolean =>
  shown === wanted || asNumber(shown) === asNumber(wanted);

/** Which contents have a hit among themselves and all below them; sources come before users. */
function aboveOf(bundle: Bundle, matching: Uint8Array): Uint8Array {
  const above = matching.slice();
  const { src } = bundle.nodes;
  for (let i = 0; i < above.length; i++) if (src[i]!.some((s) => above[s])) above[i] = 1;
  return above;
}

/** The state that first has a hit, and the content by which it came. */
function firstWith(
  { nodes, initial, root, steps }: Bundle,
  matching: Uint8Array,
  above: Uint8Array,
): { step: number; root: number } | null {
  const input = initial.node[initial.slot.indexOf(root)] ?? -1;
  if (above[input]) return { step: 0, root: input };
  for (let k = 0; k < steps.length; k++) {
    const { after, set } = steps[k]!;
    if (above[after]) return { step: k + 1, root: after };
    const rebuilt = set.flatMap(([, node]) => (matching[node] ? [node] : []));
    if (rebuilt.length) {
      const lowest = rebuilt.reduce((a, b) => (nodes.id[b]! < nodes.id[a]! ? b : a));
      return { step: k + 1, root: lowest };
    }
  }
  return null;
}

/** The hit nearest to a content, and how many there are below that. */
function nearest(
  bundle: Bundle,
  root: number,
  matching: Uint8Array,
  above: Uint8Array,
): { node: number; count: number } {
  const { src } = bundle.nodes;
  const seen = new Set([root]);
  let node = -1;
  let count = 0;
  for (let level = [root]; level.length && seen.size < MAX_COUNTED;) {
    const below: number[] = [];
    for (const at of level) {
      if (matching[at]) {
        if (node < 0) node = at;
        count++;
      }
      for (const source of src[at]!)
        if (above[source] && !seen.has(source)) {
          seen.add(source);
          below.push(source);
        }
    }
    level = below;
  }
  return { node, count };
}

function describe(bundle: Bundle, at: number): string {
  const parts = bundle.nodes.src[at]!.slice(0, MAX_SOURCES).map((s) => label(bundle, s));
  return parts.length ? `${label(bundle, at)}(${parts.join(", ")})` : label(bundle, at);
}

function label({ nodes, ops, args }: Bundle, at: number): string {
  const arg = first(args[nodes.arg[at]!] ?? "", MAX_ARG);
  return strip(`${ops[nodes.op[at]!] ?? "?"} ${arg}`);
}
