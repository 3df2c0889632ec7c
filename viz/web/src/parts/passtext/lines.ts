/**
 * The compiler's texts before and after a pass as one list of lines. A line that only has other names
 * for values (`%12` for `%14`), each the same for the same value, stays. Pure.
 */
import type { PassText, PassTexts } from "../../data/messages/bundle";
import { kindsOf } from "../source/lineDiff";

export interface TextLine {
  /** "named": the same, with other names of values. */
  kind: "same" | "named" | "del" | "add";
  text: string;
  /** Numbers of the line in both texts, from 1; 0 where it is not in one. */
  old: number;
  now: number;
  /** The nodes behind it, in the text before and in that after. */
  nodes: readonly number[];
}

/** A line, or how many unchanged ones from which on are folded. */
export type Shown = { line: TextLine; at: number } | { folded: number; at: number };

const NAMES = /%[\w$.-]+(?:#\d+)?/g;
const DEFINED = /^\s*(?:ROOT\s+)?((?:%[\w$.-]+(?::\d+)?(?:\s*,\s*)?)+)\s*=/;
const CONTEXT = 3;

const linesOf = (text: PassText | null): string[] =>
  text ? text.text.replace(/\n$/, "").split("\n") : [];

/** All lines of both texts, in order. Of one alone: its lines, unchanged. */
export function textLines({ before, after }: PassTexts): TextLine[] {
  const a = linesOf(before);
  const b = linesOf(after);
  if (!before || !after) {
    const nodes = (before ?? after)?.lines ?? [];
    return (before ? a : b).map((text, i) => ({
      kind: "same" as const,
      text,
      old: before ? i + 1 : 0,
      now: after ? i + 1 : 0,
      nodes: nodes[i] ?? [],
    }));
  }
  const plain = (line: string): string => line.replace(NAMES, "%");
  const names = new Names();
  const made: TextLine[] = [];
  let [x, y] = [0, 0];
  const old = (): TextLine => ({
    kind: "del",
    text: a[x]!,
    old: ++x,
    now: 0,
    nodes: before.lines[x - 1] ?? [],
  });
  const now = (): TextLine => ({
    kind: "add",
    text: b[y]!,
    old: 0,
    now: ++y,
    nodes: after.lines[y - 1] ?? [],
  });
  let gone: string[] = [];
  let come: string[] = [];
  for (const kind of kindsOf(a.map(plain), b.map(plain))) {
    if (kind === "same") {
      names.replace(gone, come);
      [gone, come] = [[], []];
    }
    if (kind === "del") {
      gone.push(a[x]!);
      made.push(old());
    } else if (kind === "add") {
      come.push(b[y]!);
      made.push(now());
    } else if (names.agree(a[x]!, b[y]!)) {
      const [was, is] = [old(), now()];
      made.push({
        ...is,
        kind: was.text === is.text ? "same" : "named",
        old: was.old,
        nodes: [...new Set([...was.nodes, ...is.nodes])],
      });
    } else made.push(old(), now());
  }
  return made;
}

/** Which name in the text after stands for which in the text before. */
class Names {
  private readonly forward = new Map<string, string>();
  private readonly back = new Map<string, string>();

  /** Notes what lines define that went, and those that came in their place: of the same op in the
   * same order, values stand for each other, and what reads them stays. */
  replace(gone: readonly string[], come: readonly string[]): void {
    for (const name of gone.flatMap(defined)) this.forward.set(name, "");
    for (const name of come.flatMap(defined)) this.back.set(name, "");
    const results = come.map(defined);
    const left = new Map<string, number[]>(); // lines by op, and by op and name, the first one last
    for (let at = come.length - 1; at >= 0; at--)
      for (const key of [opOf(come[at]!), `${opOf(come[at]!)} ${results[at]![0]}`])
        if (left.get(key)?.push(at) === undefined) left.set(key, [at]);
    const taken = new Set<number>();
    const take = (key: string): number | undefined => {
      const places = left.get(key) ?? [];
      while (taken.has(places.at(-1)!)) places.pop();
      return places.pop();
    };
    for (const line of gone) {
      const was = defined(line);
      const at = take(`${opOf(line)} ${was[0]}`) ?? take(opOf(line));
      if (at === undefined) continue;
      taken.add(at);
      const is = results[at]!;
      if (was.length === is.length) was.forEach((name, i) => this.same(name, is[i]!));
    }
  }

  private same(was: string, is: string): void {
    this.forward.set(was, is);
    this.back.set(is, was);
  }

  /** Whether two lines that differ in names alone, if at all, say the same; notes what they define. */
  agree(a: string, b: string): boolean {
    const [old, now] = [a.match(NAMES) ?? [], b.match(NAMES) ?? []];
    const own = defined(a).length;
    const pairs = old.map((name, i) => [baseOf(name), baseOf(now[i] ?? "")] as const);
    for (const [was, is] of a === b ? [] : pairs.slice(own))
      if ((this.forward.get(was) ?? is) !== is || (this.back.get(is) ?? was) !== was) {
        this.replace([a], [b]);
        return false;
      }
    for (const [was, is] of pairs) this.same(was, is);
    return true;
  }
}

/** The first word behind the results. */
const opOf = (line: string): string =>
  /^"?[\w$.-]+/.exec(line.replace(DEFINED, "").trimStart())?.[0] ?? "";

const baseOf = (name: string): string => name.split("#")[0]!;

const defined = (line: string): string[] => DEFINED.exec(line)?.[1]?.match(/%[\w$.-]+/g) ?? [];

export const isChanged = (line: TextLine): boolean => line.kind === "del" || line.kind === "add";

/** Changed lines with a few around them, and what is `open`ed besides; all where nothing changed. */
export function shownLines(
  lines: readonly TextLine[],
  everything: boolean,
  open: ReadonlySet<number>,
): Shown[] {
  const keep = new Uint8Array(lines.length);
  lines.forEach((line, i) => {
    if (isChanged(line)) keep.fill(1, Math.max(0, i - CONTEXT), i + CONTEXT + 1);
  });
  const out: Shown[] = [];
  const all = everything || !keep.includes(1);
  for (let at = 0; at < lines.length;) {
    let end = at;
    while (!all && end < lines.length && !keep[end]) end += 1;
    if (end - at > 1 && !open.has(at)) {
      out.push({ folded: end - at, at });
      at = end;
    } else
      for (end = Math.max(end, at + 1); at < end; at++) out.push({ line: lines[at]!, at });
  }
  return out;
}

/** Where a key leads from a line; `rows` are those of a page, and `at` is -1 before the first. null: nowhere. */
export function cursorAfter(key: string, at: number, lines: number, rows: number): number | null {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: rows,
    PageUp: -rows,
    Home: -lines,
    End: lines,
  };
  const step = steps[key];
  if (step === undefined || !lines) return null;
  return Math.max(0, Math.min(lines - 1, at + step));
}
