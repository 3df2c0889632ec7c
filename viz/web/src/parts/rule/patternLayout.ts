/**
 * Where the nodes of a pattern stand when it is drawn small: sources above, the root below.
 * Rows are filled from the left; a node stands below the middle of its sources, or further right.
 * Pure. Patterns from a trace may nest without end, so depth and size are bounded.
 */
import { short } from "../../state/format";
import type { Pat } from "../../data/messages/rule";
import { dtypeWords, opWords, sourceWords } from "./patternWords";

export interface PatNode {
  /** Which child of the pattern it is, from the whole pattern down: "" for the whole, "1.0". */
  path: string;
  /** "MUL", "x", "any". */
  text: string;
  /** Second line of the box: dtype or argument that is asked for. */
  note: string;
  /** Behind the note: "any order". */
  badge: string;
  name: string | null;
  /** A name without an op: matches any node. */
  kind: "var" | "op" | "any" | "more";
  x: number;
  /** The middle of the box. */
  y: number;
  width: number;
  height: number;
}

export interface PatEdge {
  /** That of the source. */
  path: string;
  x1: number;
  y1: number;
  x2: number;
  y2: number;
}

export interface PatDrawing {
  nodes: PatNode[];
  edges: PatEdge[];
  width: number;
  height: number;
  /** Nodes beyond the bound that are not drawn. */
  left: number;
}

/** Between rows, where the edges are, and between boxes. */
const ROW_GAP = 18;
const GAP = 8;
const CHAR = 6.7;
export const NOTE_CHAR = 6;
const HEIGHT = 22;
const TALL = 38;
const MOST_NODES = 60;

interface Placed {
  node: PatNode;
  sources: Placed[];
  depth: number;
}

/** Which alternative of a pattern is drawn, by its path; null: none of them, only how many there are. */
export type Choose = (path: string, alternatives: readonly Pat[]) => Pat | null;

const NONE: Choose = () => null;

export function layoutPattern(root: Pat, choose: Choose = NONE): PatDrawing {
  let drawn = 0;
  let left = 0;
  let deepest = 0;
  const ends: number[] = [];

  const place = (whole: Pat, depth: number, path: string): Placed | null => {
    if (drawn >= MOST_NODES) {
      left += 1;
      return null;
    }
    drawn += 1;
    deepest = Math.max(deepest, depth);
    const pat = chosenOf(whole, path, choose);
    const node = describe(pat, path);
    const sources = sourcesOf(pat).flatMap((s, i) => place(s, depth + 1, below(path, i)) ?? []);
    const half = node.width / 2;
    const middle = sources.length ? (sources[0]!.node.x + sources.at(-1)!.node.x) / 2 : 0;
    node.x = Math.max(middle, (ends[depth] ?? 1) + half);
    ends[depth] = node.x + half + GAP;
    return { node, sources, depth };
  };

  const tree = place(root, 0, "");
  const nodes: PatNode[] = [];
  const edges: PatEdge[] = [];
  const heights = new Array<number>(deepest + 1).fill(HEIGHT);
  const measure = (p: Placed): void => {
    heights[p.depth] = Math.max(heights[p.depth]!, p.node.height);
    p.sources.forEach(measure);
  };
  if (tree) measure(tree);
  const middles = heights.map((own, depth) =>
    heights.slice(depth + 1).reduce((y, above) => y + above + ROW_GAP, own / 2 + 1),
  );
  const collect = (p: Placed): void => {
    p.node.y = middles[p.depth]!;
    nodes.push(p.node);
    for (const [i, s] of p.sources.entries()) {
      collect(s);
      const spread =
        (i - (p.sources.length - 1) / 2) * Math.min(14, p.node.width / (p.sources.length + 1));
      edges.push({
        path: s.node.path,
        x1: s.node.x,
        y1: s.node.y + s.node.height / 2,
        x2: p.node.x + spread,
        y2: p.node.y - p.node.height / 2,
      });
    }
  };
  if (tree) collect(tree);
  return {
    nodes,
    edges,
    width: Math.max(20, ...ends.map((end) => end - GAP)) + 2,
    height: heights.reduce((y, own) => y + own + ROW_GAP, 2 - ROW_GAP),
    left,
  };
}

export const below = (path: string, child: number): string =>
  path === "" ? `${child}` : `${path}.${child}`;

/** Alternatives may stand in alternatives; a hostile pattern has no end of them. */
const DEEPEST = 8;

/** The pattern itself, or the alternative that is chosen of it. */
export function chosenOf(whole: Pat, path: string, choose: Choose): Pat {
  let pat = whole;
  for (let i = 0; i < DEEPEST && pat.anyOf?.length; i++) {
    const next = choose(path, pat.anyOf);
    if (!next) break;
    pat = next;
  }
  return pat;
}

export function sourcesOf(pat: Pat): Pat[] {
  if (pat.src.kind === "any") return [];
  if (pat.src.kind === "repeat") return [pat.src.of];
  return pat.src.of;
}

function describe(pat: Pat, path: string): PatNode {
  const either = pat.anyOf?.length ? `one of ${pat.anyOf.length}` : "";
  const name = pat.name === null ? null : short(pat.name, 24);
  const ops = opWords(pat.op);
  const bare = !ops && !either;
  const text = ops || either || (name ?? "any");
  const note = [pat.arg ? clipArg(pat.arg) : "", dtypeWords(pat.dtype)].filter(Boolean).join(", ");
  const badge = sourceWords(pat);
  const label = name && !bare ? text.length + name.length + 1 : text.length;
  const below = note.length * NOTE_CHAR + badgeWidth(badge) + (note && badge ? 6 : 0);
  return {
    path,
    text,
    note,
    badge,
    name: pat.name,
    kind: bare ? (pat.name ? "var" : "any") : "op",
    x: 0,
    y: 0,
    width: Math.max(26, Math.max(label * CHAR, below) + 14),
    height: note || badge ? TALL : HEIGHT,
  };
}

export const badgeWidth = (badge: string): number => (badge ? badge.length * NOTE_CHAR + 8 : 0);
const clipArg = (arg: string): string => (arg.length > 16 ? `${arg.slice(0, 15)}…` : arg);
