/**
 * Conditions that the stepping stops at: "%f0 == 0", "thread 5: %r1 changes", "data0[5] > 2". Parsed
 * against what one warp did; nothing of the text is evaluated as code. Pure.
 */
import type { Value, Walk } from "../../data/messages/emulation";

/** Characters of a condition. */
export const LONGEST_CONDITION = 200;

const OPERATORS = ["==", "!=", "<=", ">=", "<", ">"] as const;
type Operator = (typeof OPERATORS)[number];

export type Test =
  | { kind: "changes" | "written" }
  | { kind: "relation"; operator: Operator; wanted: number | bigint };

export type Place =
  | { kind: "register"; number: number }
  /** A byte of a space; of an argument, `argument` has its name. */
  | { kind: "memory"; space: string; argument: string; at: number };

export interface Condition {
  /** The number of a thread in the block; null: any. */
  thread: number | null;
  place: Place;
  test: Test;
}

/** What is wrong with a condition. */
export class ConditionError extends Error {}

const EXAMPLE = "such as %r0 == 0 or data0[5] changes";
const TOKEN =
  /\s*(?:(?<register>%"[^"]*"|%[\w$.-]+)|(?<number>[+-]?(?:0x[\da-f]+|0f[\da-f]{8}|0d[\da-f]{16}|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?\b|nan\b))|(?<word>[a-z_$][\w$]*)|(?<sign>==|!=|<=|>=|[<>=[\]:]))/iy;
const SPACES: readonly string[] = ["shared", "local"];

interface Token {
  kind: "register" | "number" | "word" | "sign";
  text: string;
}

/** The condition that a text says, for what a warp did. Throws ConditionError. */
export function parseCondition(text: string, walk: Walk): Condition {
  if (text.length > LONGEST_CONDITION)
    throw new ConditionError(`A condition has at most ${LONGEST_CONDITION} characters`);
  const tokens = tokensOf(text);
  const thread = threadOf(tokens, walk);
  const place = placeOf(tokens, walk, thread);
  const test = testOf(tokens);
  const rest = tokens[0];
  if (rest) throw new ConditionError(`Nothing may follow the condition, but “${rest.text}” does`);
  return { thread, place, test };
}

function tokensOf(text: string): Token[] {
  const found: Token[] = [];
  TOKEN.lastIndex = 0;
  const end = text.trimEnd().length;
  while (TOKEN.lastIndex < end) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    const groups = (match?.groups ?? {}) as Record<string, string | undefined>;
    const group = Object.entries(groups).find(([, part]) => part !== undefined);
    if (!group)
      throw new ConditionError(`“${text.slice(at).trim().slice(0, 20)}” is not understood`);
    found.push({ kind: group[0] as Token["kind"], text: group[1]! });
  }
  if (!found.length) throw new ConditionError(`Write a condition, ${EXAMPLE}`);
  return found;
}

function take(tokens: Token[], kind: Token["kind"], text?: string): Token | null {
  const next = tokens[0];
  if (next?.kind !== kind || (text !== undefined && next.text !== text)) return null;
  return tokens.shift()!;
}

function wholeNumber(tokens: Token[], of: string): number {
  const token = take(tokens, "number");
  const value = Number(token?.text);
  if (!token || !Number.isSafeInteger(value) || value < 0)
    throw new ConditionError(`${of} is a whole number from 0`);
  return value;
}

function threadOf(tokens: Token[], walk: Walk): number | null {
  if (tokens[0]?.text !== "thread") return null;
  tokens.shift();
  const thread = wholeNumber(tokens, "The thread");
  if (!take(tokens, "sign", ":"))
    throw new ConditionError(`A colon follows the thread: thread ${thread}: %r0 changes`);
  const last = walk.first + walk.width - 1;
  if (thread < walk.first || thread > last)
    throw new ConditionError(
      `Thread ${thread} is not in this warp, which has threads ${walk.first} to ${last}`,
    );
  return thread;
}

function placeOf(tokens: Token[], walk: Walk, thread: number | null): Place {
  const register = take(tokens, "register");
  if (register) {
    const name = register.text.replaceAll('"', "");
    const number = walk.names.findIndex((n) => n.replaceAll('"', "") === name);
    if (number < 0)
      throw new ConditionError(`There is no register ${register.text}${near(name, walk.names)}`);
    return { kind: "register", number };
  }
  const word = take(tokens, "word")?.text;
  if (word === undefined)
    throw new ConditionError(`A condition begins with a register or memory, ${EXAMPLE}`);
  const known = walk.arguments.find(([name]) => name === word);
  if (!known && !SPACES.includes(word)) {
    const names = [...walk.arguments.map(([name]) => name), ...SPACES];
    throw new ConditionError(`There is no memory called ${word}: there is ${names.join(", ")}`);
  }
  if (!take(tokens, "sign", "["))
    throw new ConditionError(`Name one element of ${word}: ${word}[0]`);
  const index = wholeNumber(tokens, `The index of ${word}`);
  if (!take(tokens, "sign", "]"))
    throw new ConditionError(`A bracket is missing: ${word}[${index}]`);
  if (!known) {
    if (word === "local" && thread === null)
      throw new ConditionError(
        `Each thread has local memory: thread ${walk.first}: local[${index}]`,
      );
    return { kind: "memory", space: word, argument: "", at: index };
  }
  const [name, , size, item] = known;
  if (size >= 0 && index >= size)
    throw new ConditionError(`${name} has ${size} elements, so ${size - 1} is the last one`);
  return { kind: "memory", space: "global", argument: name, at: index * item };
}

/** "; %r1 and %r2 are there" for names that begin alike. */
function near(name: string, names: readonly string[]): string {
  const stem = name.replace(/\d+$/, "");
  const like = names.filter((n) => n !== "_" && n.replace(/\d+$/, "") === stem);
  if (!like.length) return "";
  return like.length === 1 ? `; there is ${like[0]}` : `; there are ${like[0]} to ${like.at(-1)}`;
}

function testOf(tokens: Token[]): Test {
  const word = take(tokens, "word")?.text;
  if (word === "changes" || word === "written") return { kind: word };
  if (word !== undefined)
    throw new ConditionError(`“${word}” is not understood: changes, written, or a comparison`);
  const sign = take(tokens, "sign")?.text;
  if (sign === undefined)
    throw new ConditionError("Say when to stop: changes, written, or a comparison such as == 0");
  if (sign === "=") throw new ConditionError("Equality is written ==");
  const operator = OPERATORS.find((known) => known === sign);
  if (!operator) throw new ConditionError(`“${sign}” compares nothing: ${OPERATORS.join(" ")}`);
  const truth = take(tokens, "word")?.text;
  if (truth === "true" || truth === "false")
    return { kind: "relation", operator, wanted: truth === "true" ? 1 : 0 };
  const number = truth === undefined ? take(tokens, "number") : null;
  if (!number)
    throw new ConditionError(`A number follows ${operator}, such as 0, 1.5, 0xff or nan`);
  return { kind: "relation", operator, wanted: numberOf(number.text) };
}

function numberOf(text: string): number | bigint {
  const sign = text.startsWith("-") ? -1 : 1;
  const digits = text.replace(/^[+-]/, "").toLowerCase();
  if (/^0[fd]/.test(digits)) {
    const bits = new DataView(new ArrayBuffer(8));
    bits.setBigUint64(0, BigInt(`0x${digits.slice(2).padEnd(16, "0")}`));
    return sign * (digits.startsWith("0f") ? bits.getFloat32(0) : bits.getFloat64(0));
  }
  if (digits === "nan") return Number.NaN;
  if (digits.startsWith("inf")) return sign * Infinity;
  if (/^(0x[\da-f]+|\d+)$/.test(digits)) {
    const whole = BigInt(sign) * BigInt(digits);
    return Number.isSafeInteger(Number(whole)) ? Number(whole) : whole;
  }
  return sign * Number(digits);
}

/** Whether a value passes the comparison; `kind` is the NumPy dtype that it is shown as. */
export function compares(value: Value, kind: string, test: Test & { kind: "relation" }): boolean {
  const is = exact(value);
  let wanted = test.wanted;
  // -1 of a register that was last written without a sign
  const bits = /^uint(\d+)$/.exec(kind)?.[1];
  if (bits && wanted < 0 && (test.operator === "==" || test.operator === "!="))
    wanted = (1n << BigInt(bits)) + BigInt(wanted);
  switch (test.operator) {
    case "==":
      return same(is, wanted);
    case "!=":
      return !same(is, wanted);
    case "<":
      return is < wanted;
    case "<=":
      return is <= wanted;
    case ">":
      return is > wanted;
    case ">=":
      return is >= wanted;
  }
}

const same = (a: number | bigint, b: number | bigint): boolean =>
  // A number and a bigint may be equal.
  a == b || (Number.isNaN(a) && Number.isNaN(b));

function exact(value: Value): number | bigint {
  if (typeof value !== "string") return Number(value);
  if (value === "inf") return Infinity;
  if (value === "-inf") return -Infinity;
  return /^-?\d+$/.test(value) ? BigInt(value) : Number.NaN;
}
