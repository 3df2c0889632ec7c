/**
 * WGSL whose loops are counted, so that one that never ends is found and named without blocking the GPU: nothing
 * can end a launch, and while it lasts a browser may draw no page.
 *
 * Works on the text alone. Lines keep their numbers.
 */

/** Turns of the loops of one call of a function, after which they end. */
const MOST_TURNS = 2 ** 24;
/** Where threads wait for each other, and so cannot tell the others to end. */
const MOST_TURNS_TOGETHER = 2 ** 20;
/** Turns of loops inside each other up to which they are not counted: their heads say that they end. */
const MOST_REGULAR = 2 ** 27;

/** The binding of what counting needs, in a group of its own: a word, the line of the loop that was ended. */
export const STOP = { group: 1, binding: 0 } as const;

interface Loop {
  /** Of its body: the brace that opens it, and the one that closes it. */
  open: number;
  close: number;
  /** Turns where its head says how many there are at most, else null. */
  turns: number | null;
  line: number;
}

/** The text with its loops counted; null where all of them end by what their heads say, and where it is no WGSL. */
export function counted(text: string): string | null {
  const code = withoutComments(text);
  const loops = loopsIn(code);
  const around = (one: Loop): Loop[] =>
    loops.filter(({ open, close }) => open <= one.open && one.close <= close);
  const total = (one: Loop): number =>
    around(one).reduce((product, { turns }) => product * (turns ?? 1), 1);
  const chosen = loops.filter((one) => one.turns === null || total(one) > MOST_REGULAR);
  if (!chosen.length) return null;
  const functions = bodiesOf(code, /\bfn\b/g).filter(({ open, close }) =>
    chosen.some((one) => open < one.open && one.close < close),
  );
  const together = /\b(\w*Barrier|workgroupUniformLoad)\b/.test(code);
  const name = unused(text);
  const inserts = [
    ...functions.map(({ open }) => ({ at: open + 1, put: ` var ${name} = 0u;` })),
    ...chosen.map(({ open, line }) => ({ at: open + 1, put: turn(name, line, together) })),
  ].sort((a, z) => z.at - a.at);
  const declared = `@group(${STOP.group}) @binding(${STOP.binding}) var<storage, read_write> ${name}_stop: atomic<u32>;`;
  return `${inserts.reduce((made, { at, put }) => made.slice(0, at) + put + made.slice(at), text)}\n${declared}\n`;
}

function turn(name: string, line: number, together: boolean): string {
  const most = together ? MOST_TURNS_TOGETHER : MOST_TURNS;
  const ends = `if (${name} > ${most}u) { atomicCompareExchangeWeak(&${name}_stop, 0u, ${line}u); break; }`;
  const told = `if ((${name} & 4095u) == 1u && atomicLoad(&${name}_stop) != 0u) { break; }`;
  return ` ${name} += 1u; ${ends}${together ? "" : ` ${told}`}`;
}

/** A name that the text does not have. */
function unused(text: string): string {
  let name = "turns";
  while (text.includes(name)) name += "_";
  return name;
}

/** The text with blanks in place of its comments. */
function withoutComments(text: string): string {
  let made = "";
  for (let i = 0; i < text.length; ) {
    const start = i;
    if (text.startsWith("//", i)) {
      const end = text.indexOf("\n", i);
      i = end < 0 ? text.length : end;
    } else if (text.startsWith("/*", i)) {
      let depth = 0;
      do {
        const step = text.startsWith("/*", i) ? 1 : text.startsWith("*/", i) ? -1 : 0;
        depth += step;
        i += step ? 2 : 1;
      } while (depth && i < text.length);
    } else {
      made += text[i++]!;
      continue;
    }
    made += text.slice(start, i).replace(/[^\n]/g, " ");
  }
  return made;
}

interface Body {
  /** Where its keyword is. */
  at: number;
  open: number;
  close: number;
}

/** The bodies that follow a keyword: from the first brace outside of all parentheses to its end. */
function bodiesOf(code: string, keyword: RegExp): Body[] {
  const bodies: Body[] = [];
  for (const { index: at } of code.matchAll(keyword)) {
    const open = next(code, at, "{");
    const close = open < 0 ? -1 : next(code, open + 1, "}");
    if (close >= 0) bodies.push({ at, open, close });
  }
  return bodies;
}

/** Where `wanted` is next, outside of brackets that open before; -1: nowhere. */
function next(code: string, from: number, wanted: string): number {
  let depth = 0;
  for (let i = from; i < code.length; i++) {
    const one = code[i]!;
    if (depth === 0 && one === wanted) return i;
    if ("([{".includes(one)) depth++;
    else if (")]}".includes(one)) depth--;
    if (depth < 0) return -1;
  }
  return -1;
}

function loopsIn(code: string): Loop[] {
  return bodiesOf(code, /\b(for|while|loop)\b/g).map(({ at, open, close }) => ({
    ...{ open, close, line: code.slice(0, at).split("\n").length },
    turns: turnsOf(code.slice(at, open), code.slice(open, close)),
  }));
}

const HEAD =
  /^for\s*\(\s*var\s+(\w+)\s*(?::\s*[iu]32\s*)?=\s*(\d+)[iu]?\s*;\s*\1\s*<\s*(\d+)[iu]?\s*;\s*\1\s*(?:\+\+|\+=\s*([1-9]\d*)[iu]?)\s*\)\s*$/;

/** Turns of a loop that counts up to a number and whose body leaves its counter alone; null: not known. */
function turnsOf(head: string, body: string): number | null {
  const found = HEAD.exec(head);
  if (!found) return null;
  const [, name, from, to, step] = found;
  const assigned = new RegExp(`&\\s*${name}\\b|\\b${name}\\s*(?:\\+\\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))`);
  if (assigned.test(body)) return null;
  return Math.max(0, Math.ceil((Number(to) - Number(from)) / Number(step ?? 1)));
}
