/**
 * Queries for nodes by their structure, such as `MUL(x, CONST 64)`: the grammar and the errors of
 * viz/views/search/shape.py. A table of queries (tests/viz/views/search) holds both to the same.
 */
import type { Dialect } from "../messages/bundle";
import { casefold } from "./text";

/** A node as a query describes it; null stands for anything. Plain data, for the worker. */
export interface Shape {
  readonly ops: readonly string[] | null;
  readonly dtype: string | null;
  readonly arg: string | null;
  readonly src: readonly Shape[] | null;
  /** More sources than `src` may follow. */
  readonly rest: boolean;
  /** Equal names are one node. */
  readonly name: string | null;
  /** Its two sources may stand in either order. */
  readonly commutes: boolean;
}

/** What is wrong with a query. */
export class ShapeError extends Error {
  constructor(
    readonly what: string,
    readonly where = "",
    readonly hint = "",
  ) {
    super(what);
    this.name = "ShapeError";
  }
}

const MAX_LENGTH = 400;
const MAX_DEPTH = 12;
const S = "[ \\t\\n\\r\\f\\v]";
const TOKEN = new RegExp(
  `${S}*(?:(?<word>[A-Za-z_]\\w*)|(?<number>-?(?:\\d+\\.?\\d*(?:e[+-]?\\d+)?|inf)|nan)` +
    `|"(?<text>[^"]*)"|(?<sign>\\.\\.\\.|[(),.|]))`,
  "y",
);
const SHOUTED = new RegExp(`^${S}*[A-Z_][A-Z0-9_]*(?:[|.][\\w|.]*)?${S}*(?:\\(|${S}[-\\d"])`);
const CALLED = new RegExp(`^${S}*([A-Za-z_]\\w*)${S}*\\(`);

type Kind = "word" | "number" | "text" | "sign" | "";
interface Token {
  kind: Kind;
  text: string;
  at: number;
}

/** The ops whose two sources may stand in either order, case-folded. */
export const commutativeIn = (dialect: Dialect | undefined): string[] =>
  Object.entries(dialect?.ops ?? {}).flatMap(([op, { commutes }]) =>
    commutes ? [casefold(op)] : [],
  );

/** Whether a query asks for a structure, not for a text. An op that is not in capitals is one of
 * `ops`. */
export function isStructural(text: string, ops: readonly string[] = []): boolean {
  if (SHOUTED.test(text)) return true;
  const called = CALLED.exec(text);
  return called !== null && ops.some((op) => casefold(op) === casefold(called[1]!));
}

/** The structure that a query describes; `commutative`: the ops, case-folded, whose two sources may
 * stand in either order. @throws ShapeError */
export function parseShape(text: string, commutative: readonly string[]): Shape {
  if (Array.from(text).length > MAX_LENGTH)
    throw new ShapeError(`the query is longer than ${MAX_LENGTH} characters`);
  const parser = new Parser(text, commutative);
  const shape = parser.node(0);
  parser.end();
  return shape;
}

/** A shape and all below it. */
export function* partsOf(shape: Shape): Generator<Shape> {
  yield shape;
  for (const inner of shape.src ?? []) yield* partsOf(inner);
}

class Parser {
  private readonly tokens: readonly Token[];
  private next = 0;

  constructor(
    private readonly text: string,
    private readonly commutative: readonly string[],
  ) {
    this.tokens = [...this.read()];
  }

  private *read(): Generator<Token> {
    const text = this.text.trimEnd();
    let at = 0;
    while (at < text.length) {
      TOKEN.lastIndex = at;
      const found = TOKEN.exec(text);
      if (!found) throw this.wrong("this cannot be read", at);
      const [kind, token] = Object.entries(found.groups as Record<string, string | undefined>).find(
        (group): group is [string, string] => group[1] !== undefined,
      )!;
      at = TOKEN.lastIndex;
      const begin = at - token.length - (kind === "text" ? 1 : 0);
      yield { kind: kind as Kind, text: token, at: begin };
    }
    yield { kind: "", text: "", at: text.length };
  }

  node(depth: number): Shape {
    if (depth > MAX_DEPTH) throw this.wrong("the query is nested too deeply");
    const words = [this.take("an op, a name or _", "word")];
    while (this.is("|")) words.push(this.take("an op", "word"));
    const dtype = this.is(".") ? casefold(this.take("a dtype", "word")) : null;
    const kind = this.token.kind;
    const arg = kind === "number" || kind === "text" ? this.take("an argument", kind) : null;
    const { src, rest } = this.is("(") ? this.sources(depth) : { src: null, rest: false };
    const [word] = words as [string];
    const plain = dtype === null && arg === null && src === null && words.length === 1;
    const isName = plain && word !== "_" && /[a-z]/.test(word) && !/[A-Z]/.test(word);
    if (isName) return { ops: null, dtype, arg, src, rest, name: word, commutes: false };
    const ops = words.length === 1 && word === "_" ? null : [...new Set(words.map(casefold))];
    const two = src?.length === 2 && !rest;
    const commutes = two && ops !== null && ops.every((op) => this.commutative.includes(op));
    return { ops, dtype, arg, src, rest, name: null, commutes };
  }

  private sources(depth: number): { src: Shape[]; rest: boolean } {
    const src: Shape[] = [];
    while (!this.is(")")) {
      if (src.length && !this.is(",")) throw this.wrong("a comma or ) is expected");
      if (this.is("...")) {
        if (!this.is(")")) throw this.wrong("... comes last");
        return { src, rest: true };
      }
      src.push(this.node(depth + 1));
    }
    return { src, rest: false };
  }

  end(): void {
    if (this.token.kind) throw this.wrong("the query should end");
  }

  private get token(): Token {
    return this.tokens[this.next]!;
  }

  /** Whether the next token is this sign, which is taken then. */
  private is(sign: string): boolean {
    const found = this.token.kind === "sign" && this.token.text === sign;
    if (found) this.next++;
    return found;
  }

  private take(what: string, kind: Kind): string {
    const { token } = this;
    if (token.kind !== kind) throw this.wrong(`${what} is expected`);
    this.next++;
    return token.text;
  }

  private wrong(what: string, at = this.token.at): ShapeError {
    const before = this.text.slice(0, at);
    return new ShapeError(
      `${what}, at character ${Array.from(before).length + 1} of the query`,
      `${before} <-- here`,
      "for example MUL(x, CONST 64), ADD(x, x), LOAD(...), CAST.float16(x)",
    );
  }
}
