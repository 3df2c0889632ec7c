/**
 * A box in words: the index expression as one would write it, or the ops of the copies.
 *
 * Goes through all whole-number arithmetic above the address, also what other addresses share; what
 * is not arithmetic is named: a loop by its letter, a variable by its name, any other node by its
 * id. Texts are cut in the middle while they are put together, so that sharing costs nothing.
 */
import type { Bundle } from "../../data/messages/bundle";
import { argOf, dtypeOf, opOf, rangesOf, uidOf } from "../content";
import { groupAt, wordsAt, wordsOf } from "../ops";
import type { StepDiff } from "../diff";
import type { Replay } from "../replay";
import { addressPorts, isWhole } from "./addresses";
import { countIn, insidesOf } from "./boxes";
import type { Box, Fold } from "./fold";

/** Characters of an expression, and nodes that it is put together from. */
const LONGEST = 400;
const MOST = 600;
const NAME = 16;
/** Ops named for the copies of a block. */
const OPS = 6;

/** How tightly a name, or a call, binds. */
const ATOM = 10;
/** How tightly a negation binds. */
const NOT = 9;
interface Piece {
  text: string;
  binds: number;
  op: string;
}

/** What the address (or arithmetic) in the slot says: "r0*64 + r3*4 + 2"; "" without one. */
export function expressionOf(replay: Replay, slot: number): string {
  const content = replay.nodeOf(slot);
  if (content < 0) return "";
  const ports = addressPorts(replay.bundle, content);
  const roots = ports ? replay.srcOf(slot).slice(ports[0], ports[1] + 1) : [slot];
  const pieces = new Map<number, Piece>();
  const order = arithmeticAbove(replay, roots);
  for (const s of order) pieces.set(s, pieceOf(replay, s, pieces));
  const isGate = (s: number): boolean => dtypeOf(replay.bundle, replay.nodeOf(s)).startsWith("bool");
  const texts = (some: number[]): string => some.map((s) => pieces.get(s)!.text).join(", ");
  const gate = ports ? texts(roots.filter(isGate)) : "";
  const text = texts(gate ? roots.filter((s) => !isGate(s)) : [...roots]);
  return cutMiddle(gate ? `${text} if ${gate}` : text, LONGEST);
}

/** Sources first. */
function arithmeticAbove(replay: Replay, roots: readonly number[]): number[] {
  const order: number[] = [];
  const seen = new Set<number>();
  const path: [number, number][] = [];
  for (const root of roots) {
    if (!seen.has(root)) path.push([root, 0]);
    seen.add(root);
    while (path.length) {
      const at = path.at(-1)!;
      const sources = replay.srcOf(at[0]);
      const next = opens(replay, at[0]) && seen.size < MOST ? sources[at[1]++] : undefined;
      if (next === undefined) order.push(path.pop()![0]);
      else if (!seen.has(next)) {
        seen.add(next);
        path.push([next, 0]);
      }
    }
  }
  return order;
}

const opens = (replay: Replay, s: number): boolean =>
  isWhole(replay.bundle, replay.nodeOf(s)) && replay.srcOf(s).length > 0;

function pieceOf(replay: Replay, s: number, pieces: ReadonlyMap<number, Piece>): Piece {
  const { bundle } = replay;
  const c = replay.nodeOf(s);
  const atom = (text: string): Piece => ({ text: cutMiddle(text, LONGEST), binds: ATOM, op: "" });
  if (!opens(replay, s)) return atom(nameOf(bundle, c));
  const parts = replay.srcOf(s).map((x) => pieces.get(x) ?? atom("\u2026"));
  const own = wordsAt(bundle, c);
  const bool = dtypeOf(bundle, c).startsWith("bool");
  const op = (bool && own.onBool) || opOf(bundle, c);
  const words = bool && own.onBool ? wordsOf(bundle.dialect, op) : own;
  const piece = (text: string, binds: number): Piece => ({
    text: cutMiddle(text, LONGEST),
    binds,
    op,
  });
  const [a, b] = parts;
  if (bool && a && words.negates !== undefined && b?.text === words.negates)
    return piece(a.binds < NOT ? `!(${a.text})` : `!${a.text}`, NOT);
  const template = words.spelled?.replace("{dtype}", plain(dtypeOf(bundle, c))).split("{}");
  if (template?.length !== parts.length + 1)
    return piece(`${plain(op.toLowerCase())}(${parts.map((p) => p.text).join(", ")})`, ATOM);
  const binds = words.binds ?? ATOM;
  if (b && parts.length === 2 && template[1] === " + " && /^-\d+$/.test(b.text))
    return piece(`${a!.text} - ${b.text.slice(1)}`, binds);
  const text = parts.map((part, i) => {
    // A sum of sums needs no brackets; what comes first needs them where it binds less.
    const loose = parts.length < 3 && (i === 0 || (part.op === op && words.joins));
    const bare = binds >= ATOM || part.binds > binds || (loose && part.binds === binds);
    return (bare ? part.text : `(${part.text})`) + template[i + 1]!;
  });
  return piece(template[0]! + text.join(""), binds);
}

/** "L1", "gidx0", "776", or the node's id. */
function nameOf(b: Bundle, c: number): string {
  if (c < 0) return "\u2026";
  const arg = argOf(b, c);
  const { named } = wordsAt(b, c);
  if (named === "arg" || groupAt(b, c) === "const") return plain(arg);
  if (named === "range") return plain(rangesOf(b, c).split(" ").at(-1) ?? "") || uidOf(b, c);
  const word = named === "word" ? /[A-Za-z_]\w*/.exec(arg) : null;
  return word ? plain(word[0]) : uidOf(b, c);
}

const plain = (text: string): string => cutMiddle(text.replace(/[^\x20-\x7e]/g, "?"), NAME);

/** At most `room` characters, an ellipsis in place of the middle if some were left out. */
export function cutMiddle(text: string, room: number): string {
  if (text.length <= room) return text;
  if (room < 3) return "\u2026".slice(0, room);
  const tail = Math.floor((room - 1) / 2);
  return `${text.slice(0, room - 1 - tail)}\u2026${text.slice(text.length - tail)}`;
}

/** The ops of those of the slots that the state has, the most frequent first. */
export function opsOf(replay: Replay, members: readonly number[]): string[] {
  const counts = new Map<string, number>();
  for (const s of members) {
    if (!replay.has(s)) continue;
    const op = opOf(replay.bundle, replay.nodeOf(s));
    if (groupAt(replay.bundle, replay.nodeOf(s)) !== "const") counts.set(op, (counts.get(op) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]).map(([op]) => op);
}

/** A box in a sentence: "Index expression r0*64 + 2, 5 nodes, 1 removed inside". */
export function describeBox(
  before: Replay,
  after: Replay,
  diff: StepDiff,
  fold: Fold,
  box: Box,
): string {
  const replay = countIn(after, box) ? after : before;
  const nodes = countIn(replay, box);
  const words = [`${nodes.toLocaleString("en")} ${nodes === 1 ? "node" : "nodes"}`];
  const inside = insidesOf(diff, fold).get(box);
  for (const change of ["removed", "added", "moved"] as const)
    if (inside?.[change]) words.push(`${inside[change].toLocaleString("en")} ${change}`);
  const counts = words.join(", ") + (inside ? " inside" : "");
  if (box.kind === "index") {
    const text = expressionOf(replay, box.head);
    return `Index expression${text ? ` ${text}` : ""}, ${counts}`;
  }
  const copies = copiesIn(replay, fold, box);
  const ops = opsOf(replay, box.members);
  const names = ops.slice(0, OPS).join(", ") + (ops.length > OPS ? ", \u2026" : "");
  const more = `${copies.toLocaleString("en")} more ${copies === 1 ? "copy" : "copies"}`;
  return `${more} of a repeated block: ${names}; ${counts}`;
}

/** Copies of a box's block that the state holds. */
export function copiesIn(replay: Replay, fold: Fold, box: Box): number {
  const at = fold.of[box.head]!;
  return box.ends.filter((s) => fold.of[s] === at && replay.has(s)).length;
}
