/**
 * Where the nodes of a pattern stand when it is drawn small: sources above, the root below.
 * A tidy tree: every leaf takes its own room, a parent stands over the middle of its sources.
 * Pure. Patterns from a trace may nest without end, so depth and size are bounded.
 */
import { short } from "../../app/format";
import type { Pat } from "../../data/types";

export interface PatNode {
  /** "MUL", "x", "any". */
  text: string;
  /** Below the text: dtype or argument that is asked for. */
  note: string;
  name: string | null;
  /** A name without an op: matches any node. */
  kind: "var" | "op" | "any" | "more";
  x: number;
  y: number;
  width: number;
}

export interface PatEdge {
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

const ROW = 40;
const GAP = 8;
const CHAR = 6.7;
const NOTE_CHAR = 6.4;
const HEIGHT = 22;
const MOST_NODES = 60;

interface Placed {
  node: PatNode;
  sources: Placed[];
  depth: number;
}

export function layoutPattern(root: Pat): PatDrawing {
  let drawn = 0;
  let left = 0;
  let deepest = 0;
  let cursor = 0;

  const place = (pat: Pat, depth: number): Placed | null => {
    if (drawn >= MOST_NODES) {
      left += 1;
      return null;
    }
    drawn += 1;
    deepest = Math.max(deepest, depth);
    const node = describe(pat);
    const start = cursor;
    const sources = sourcesOf(pat).flatMap((s) => place(s, depth + 1) ?? []);
    const half = Math.max(node.width, node.note.length * NOTE_CHAR) / 2;
    const middle = sources.length ? (sources[0]!.node.x + sources.at(-1)!.node.x) / 2 : 0;
    node.x = Math.max(middle, start + half);
    cursor = Math.max(cursor, node.x + half + GAP);
    return { node, sources, depth };
  };

  const tree = place(root, 0);
  const nodes: PatNode[] = [];
  const edges: PatEdge[] = [];
  const collect = (p: Placed): void => {
    p.node.y = (deepest - p.depth) * ROW + HEIGHT / 2 + 1;
    nodes.push(p.node);
    for (const [i, s] of p.sources.entries()) {
      collect(s);
      const spread =
        (i - (p.sources.length - 1) / 2) * Math.min(14, p.node.width / (p.sources.length + 1));
      edges.push({
        x1: s.node.x,
        y1: s.node.y + HEIGHT / 2,
        x2: p.node.x + spread,
        y2: p.node.y - HEIGHT / 2,
      });
    }
  };
  if (tree) collect(tree);
  return {
    nodes,
    edges,
    width: Math.max(20, cursor - GAP) + 2,
    height: deepest * ROW + HEIGHT + 16,
    left,
  };
}

function sourcesOf(pat: Pat): Pat[] {
  if (pat.src.kind === "any") return [];
  if (pat.src.kind === "repeat") return [pat.src.of];
  return pat.src.of;
}

function describe(pat: Pat): PatNode {
  const either = pat.anyOf?.length ? `one of ${pat.anyOf.length}` : "";
  const name = pat.name === null ? null : short(pat.name, 24);
  const ops = short(
    pat.op.length > 2 ? `${pat.op[0]}|+${pat.op.length - 1}` : pat.op.join("|"),
    32,
  );
  const bare = !ops && !either;
  const text = ops || either || (name ?? "any");
  const notes = [
    pat.arg ? clipArg(pat.arg) : "",
    pat.dtype.length > 2 ? `${pat.dtype.length} dtypes` : short(pat.dtype.join("|"), 24),
    pat.src.kind === "permuted" ? "any order" : "",
    pat.src.kind === "repeat" ? "all sources" : "",
    pat.allowAny ? "more sources" : "",
  ].filter(Boolean);
  const label = name && !bare ? text.length + name.length + 1 : text.length;
  return {
    text,
    note: notes.join(", "),
    name: pat.name,
    kind: bare ? (pat.name ? "var" : "any") : "op",
    x: 0,
    y: 0,
    width: Math.max(26, label * CHAR + 14),
  };
}

const clipArg = (arg: string): string => (arg.length > 16 ? `${arg.slice(0, 15)}…` : arg);
