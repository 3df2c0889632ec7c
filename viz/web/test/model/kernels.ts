/** Bundles of hand-made kernels: every node with its op, data type, argument and sources. */
import type { Bundle, Step } from "../../src/data/messages/bundle";
import { dialect } from "../dev/dialect";

export class KernelMaker {
  private readonly tables = new Map<string, Map<string, number>>();
  private readonly rows: { op: string; dtype: string; arg: string; ranges: string }[] = [];
  private readonly sources: number[][] = [];

  /** A slot of the input graph with a content of its own; its number. */
  put(op: string, sources: number[] = [], dtype = "int32", arg = "", ranges = ""): number {
    this.rows.push({ op, dtype, arg, ranges });
    this.sources.push(sources);
    return this.sources.length - 1;
  }

  constant(value: number): number {
    return this.put("CONST", [], "int32", String(value));
  }

  range(letter: string): number {
    return this.put("RANGE", [this.constant(8)], "int32", "(0, LOOP)", letter);
  }

  /** The last slot is the root. Steps give what they set: [slot, content, sources]. */
  bundle(steps: Partial<Step>[] = [], extra: [string, string, string][] = []): Bundle {
    const slots = this.sources.length;
    for (const [op, dtype, arg] of extra) this.rows.push({ op, dtype, arg, ranges: "" });
    const n = this.rows.length;
    const column = (table: "op" | "dtype" | "arg"): number[] =>
      this.rows.map((row) => this.index(table, row[table]));
    const nodes = { op: column("op"), dtype: column("dtype"), arg: column("arg") };
    const none = Array.from({ length: n }, () => -1);
    const empty = Array.from({ length: n }, () => "");
    return {
      version: 1, dialect, rewrite: 1, name: "kernel", context: 1, bottomUp: false,
      ops: this.names("op"), dtypes: this.names("dtype"), args: this.names("arg"),
      locs: [], tags: [], shapes: [], origins: [],
      nodes: {
        ...nodes, id: none.map((_, i) => 100 + i), loc: none, tag: none, shape: none,
        lo: empty, hi: empty, ranges: this.rows.map((r) => r.ranges), src: none.map(() => []),
        origin: none, call: none,
      } as unknown as Bundle["nodes"],
      slots: steps.reduce((most, s) => Math.max(most, ...(s.set ?? []).map(([x]) => x + 1)), slots),
      initial: {
        slot: this.sources.map((_, s) => s),
        node: this.sources.map((_, s) => s),
        src: this.sources,
      },
      root: slots - 1,
      steps: steps.map((s) => ({
        rule: 0, us: 1, slot: slots - 1, result: slots - 1, before: 0, after: 0, binds: [],
        set: [], drop: [], removed: [], added: [], moved: [], ...s,
      })),
      error: null, truncated: null,
    };
  }

  private index(table: string, word: string): number {
    let known = this.tables.get(table);
    if (!known) this.tables.set(table, (known = new Map<string, number>()));
    if (!known.has(word)) known.set(word, known.size);
    return known.get(word)!;
  }

  private names(table: string): string[] {
    return [...(this.tables.get(table) ?? new Map<string, number>()).keys()];
  }
}

/** `copies` of STORE(out[i], load(in[r*4 + i]) * load(in2[r*4 + i]) + 1), joined by one GROUP. */
export function unrolled(copies: number): { maker: KernelMaker; stores: number[]; muls: number[] } {
  const maker = new KernelMaker();
  const r = maker.range("L0");
  const base = maker.put("MUL", [r, maker.constant(4)]);
  const pointers = [0, 1, 2].map((i) => maker.put("DEFINE_GLOBAL", [], "float32*", String(i)));
  const one = maker.put("CONST", [], "float32", "1.0");
  const stores: number[] = [];
  const muls: number[] = [];
  for (let i = 0; i < copies; i++) {
    const at = maker.put("ADD", [base, maker.constant(100 + i)]);
    const [out, a, b] = pointers.map((p) => maker.put("INDEX", [p, at], "float32*"));
    const mul = maker.put(
      "MUL",
      [maker.put("LOAD", [a!], "float32"), maker.put("LOAD", [b!], "float32")],
      "float32",
    );
    muls.push(mul);
    stores.push(maker.put("STORE", [out!, maker.put("ADD", [mul, one], "float32")], "void"));
  }
  maker.put("SINK", [maker.put("GROUP", stores, "void")], "void");
  return { maker, stores, muls };
}
