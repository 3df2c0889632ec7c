/**
 * Which lines of a text were removed and added: Myers' greedy algorithm on lines, after equal starts
 * and ends are set apart. Where texts differ in too many lines, those that occur once in both are
 * kept, and what is between them is compared; where there are none, they count as replaced. Pure.
 */

export interface Line {
  kind: "same" | "del" | "add";
  text: string;
  /** Numbers of the line in both texts, from 1; 0 where it is not in one. */
  old: number;
  now: number;
}

/** Differences up to which the shortest script is looked for: its square is the memory. */
const MOST_DIFFERENCES = 800;

/** All lines of both texts, in order. */
export function lineDiff(before: string, after: string): Line[] {
  const a = before.split("\n");
  const b = after.split("\n");
  let old = 0;
  let now = 0;
  return kindsOf(a, b).map((kind) => {
    if (kind !== "add") old += 1;
    if (kind !== "del") now += 1;
    const text = (kind === "del" ? a[old - 1] : b[now - 1]) ?? "";
    return { kind, text, old: kind === "add" ? 0 : old, now: kind === "del" ? 0 : now };
  });
}

/** How `a` becomes `b`: for each line of both, in order, whether it stays, goes or comes. */
export function kindsOf(a: readonly string[], b: readonly string[]): Line["kind"][] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const oldMiddle = a.slice(start, a.length - end);
  const newMiddle = b.slice(start, b.length - end);
  return [
    ...Array<"same">(start).fill("same"),
    ...script(oldMiddle, newMiddle),
    ...Array<"same">(end).fill("same"),
  ];
}

/** How `a` becomes `b`, line by line. */
function script(a: readonly string[], b: readonly string[]): Line["kind"][] {
  const most = Math.min(a.length + b.length, MOST_DIFFERENCES);
  const furthest = new Int32Array(2 * most + 3);
  const rounds: Int32Array[] = [];
  for (let d = 0; d <= most; d++) {
    rounds.push(furthest.slice());
    for (let k = -d; k <= d; k += 2) {
      const at = k + most + 1;
      const down = k === -d || (k !== d && furthest[at - 1]! < furthest[at + 1]!);
      let x = down ? furthest[at + 1]! : furthest[at - 1]! + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      furthest[at] = x;
      if (x >= a.length && x - k >= b.length) return traced(rounds, a.length, b.length, most);
    }
  }
  return between(a, b);
}

/** The same by the lines that occur once in both. */
function between(a: readonly string[], b: readonly string[]): Line["kind"][] {
  const kinds: Line["kind"][] = [];
  const put = (kind: Line["kind"], count: number): void => {
    for (let n = 0; n < count; n++) kinds.push(kind);
  };
  let [x, y] = [0, 0];
  for (const [i, j] of [...kept(a, b), [a.length, b.length] as const]) {
    const [old, now] = [a.slice(x, i), b.slice(y, j)];
    if (old.length < a.length || now.length < b.length)
      for (const kind of kindsOf(old, now)) kinds.push(kind);
    else {
      put("del", old.length);
      put("add", now.length);
    }
    if (i < a.length) kinds.push("same");
    [x, y] = [i + 1, j + 1];
  }
  return kinds;
}

/** Places in both of the most lines that occur once in each and stand in one order. */
function kept(a: readonly string[], b: readonly string[]): (readonly [number, number])[] {
  const placesB = once(b);
  const pairs = [...once(a)].flatMap(([line, i]) => {
    const j = placesB.get(line);
    return j === undefined ? [] : [{ i, j, before: -1 }];
  });
  const ends: number[] = []; // of the chains of each length, the one that ends first
  pairs.forEach((pair, at) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[ends[middle]!]!.j < pair.j) low = middle + 1;
      else high = middle;
    }
    pair.before = low ? ends[low - 1]! : -1;
    ends[low] = at;
  });
  const chain: (readonly [number, number])[] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = pairs[at]!.before)
    chain.push([pairs[at]!.i, pairs[at]!.j]);
  return chain.reverse();
}

/** The places of lines that occur once. */
function once(lines: readonly string[]): Map<string, number> {
  const places = new Map<string, number>();
  const more = new Set<string>();
  lines.forEach((line, at) => (places.has(line) ? more.add(line) : places.set(line, at)));
  for (const line of more) places.delete(line);
  return places;
}

/** The way back through the rounds, turned to run forward. */
function traced(
  rounds: readonly Int32Array[],
  length: number,
  other: number,
  most: number,
): Line["kind"][] {
  const kinds: Line["kind"][] = [];
  let x = length;
  let y = other;
  for (let d = rounds.length - 1; d >= 0; d--) {
    const furthest = rounds[d]!;
    const k = x - y;
    const at = k + most + 1;
    const down = k === -d || (k !== d && furthest[at - 1]! < furthest[at + 1]!);
    const fromX = d === 0 ? 0 : down ? furthest[at + 1]! : furthest[at - 1]!;
    const fromY = d === 0 ? 0 : fromX - (down ? k + 1 : k - 1);
    while (x > fromX && y > fromY) {
      kinds.push("same");
      x -= 1;
      y -= 1;
    }
    if (d > 0) kinds.push(down ? "add" : "del");
    x = fromX;
    y = fromY;
  }
  return kinds.reverse();
}
