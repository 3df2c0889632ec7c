/** Builds bundles for tests and for the development server: a graph, rewritten step by step. */
import type { Bundle, NodeTable, Step } from "../../src/data/messages/bundle.ts";
import { dialect } from "./dialect.ts";

/** A node to make; numbers in `src` are slots that exist. */
export interface Spec {
  op: string;
  dtype?: string;
  arg?: string;
  ranges?: string;
  lo?: string;
  hi?: string;
  src?: (Spec | number)[];
}

interface Held {
  spec: Spec;
  src: number[];
  node: number;
  origin: number[];
}

export class Maker {
  readonly steps: Step[] = [];
  readonly origins = new Map<number, number[]>();
  private readonly held = new Map<number, Held>();
  private readonly interned = new Map<string, number>();
  private readonly tables = { ops: [], dtypes: [], args: [] } as Record<string, string[]>;
  private readonly nodes: NodeTable = {
    id: [],
    op: [],
    dtype: [],
    arg: [],
    loc: [],
    tag: [],
    shape: [],
    lo: [],
    hi: [],
    ranges: [],
    src: [],
    origin: [],
  };
  private next = 0;
  private initial: Bundle["initial"] | null = null;
  root = -1;

  constructor(
    private readonly name: string,
    private readonly rewrite: number,
    private readonly context: number,
    private firstId = 100,
  ) {}

  /** Adds a node to the input graph; returns its slot. */
  add(spec: Spec): number {
    const src = (spec.src ?? []).map((s) => (typeof s === "number" ? s : this.add(s)));
    const slot = this.next++;
    const node = this.content(spec, src);
    const id = this.nodes.id[node]!;
    this.held.set(slot, { spec, src, node, origin: [id] });
    this.origins.set(id, [id]);
    return slot;
  }

  get live(): number[] {
    return [...this.held.keys()];
  }
  at(slot: number): { op: string; src: readonly number[] } {
    const h = this.held.get(slot)!;
    return { op: h.spec.op, src: h.src };
  }

  begin(root: number): void {
    this.root = root;
    const slots = [...this.held.keys()];
    this.initial = {
      slot: slots,
      node: slots.map((s) => this.held.get(s)!.node),
      src: slots.map((s) => [...this.held.get(s)!.src]),
    };
  }

  /** One match: `slot` becomes `to`, a new node or another slot. */
  step(
    rule: number,
    slot: number,
    to: Spec | number,
    binds: [string, number][] = [],
    us = 12,
  ): void {
    const before = new Map(
      [...this.held].map(([s, h]) => [s, { node: h.node, src: h.src, op: h.spec.op }]),
    );
    const boundNodes = binds.map(([n, s]): [string, number] => [n, this.held.get(s)!.node]);
    let result = slot;
    if (typeof to === "number") {
      result = to;
      for (const h of this.held.values()) h.src = h.src.map((s) => (s === slot ? to : s));
      if (this.root === slot) this.root = to;
    } else {
      const from = this.held.get(slot)!;
      const make = (spec: Spec): number => {
        const src = (spec.src ?? []).map((s) => (typeof s === "number" ? s : make(s)));
        const fresh = this.next++;
        this.held.set(fresh, { spec, src, node: -1, origin: from.origin });
        return fresh;
      };
      from.src = (to.src ?? []).map((s) => (typeof s === "number" ? s : make(s)));
      from.spec = to;
    }
    this.dropUnreachable();
    this.rebuild();
    const set: Step["set"] = [];
    const [removed, added, moved, drop]: number[][] = [[], [], [], []];
    for (const [s, h] of this.held) {
      const old = before.get(s);
      if (!old) added!.push(s);
      else if (s === slot) {
        removed!.push(s);
        added!.push(s);
      } else if (old.src.join() !== h.src.join()) moved!.push(s);
      if (!old || old.node !== h.node || old.src.join() !== h.src.join())
        set.push([s, h.node, [...h.src]]);
    }
    for (const s of before.keys())
      if (!this.held.has(s)) {
        drop!.push(s);
        removed!.push(s);
      }
    this.steps.push({
      rule,
      us,
      slot,
      result,
      before: before.get(slot)!.node,
      after: this.held.get(result)!.node,
      binds: boundNodes,
      set,
      drop: drop!,
      removed: removed!,
      added: added!,
      moved: moved!,
    });
  }

  bundle(extra: Partial<Bundle> = {}): Bundle {
    const { ops, dtypes, args } = this.tables;
    return {
      version: 1,
      dialect,
      rewrite: this.rewrite,
      name: this.name,
      context: this.context,
      bottomUp: false,
      ops: ops!,
      dtypes: dtypes!,
      args: args!,
      locs: ["core/passes/lower.py:88"],
      tags: [],
      shapes: ["(64, 32)"],
      nodes: this.nodes,
      origins: ["examples/digits.py:41"],
      slots: this.next,
      initial: this.initial!,
      root: this.initial!.slot.at(-1)!,
      steps: this.steps,
      error: null,
      truncated: null,
      ...extra,
    };
  }

  private dropUnreachable(): void {
    const seen = new Set<number>();
    const visit = (s: number): void => {
      if (seen.has(s)) return;
      seen.add(s);
      this.held.get(s)!.src.forEach(visit);
    };
    visit(this.root);
    for (const s of this.held.keys()) if (!seen.has(s)) this.held.delete(s);
  }

  private rebuild(): void {
    const done = new Set<number>();
    const visit = (s: number): void => {
      if (done.has(s)) return;
      done.add(s);
      const h = this.held.get(s)!;
      h.src.forEach(visit);
      h.node = this.content(h.spec, h.src);
      this.origins.set(this.nodes.id[h.node]!, h.origin);
    };
    visit(this.root);
  }

  private content(spec: Spec, src: number[]): number {
    const contents = src.map((s) => this.held.get(s)!.node);
    const key = JSON.stringify([spec.op, spec.dtype, spec.arg, contents]);
    const known = this.interned.get(key);
    if (known !== undefined) return known;
    const c = this.nodes.id.length;
    this.interned.set(key, c);
    this.nodes.id.push(this.firstId + c);
    this.nodes.op.push(this.look("ops", spec.op));
    this.nodes.dtype.push(this.look("dtypes", spec.dtype ?? "int32"));
    this.nodes.arg.push(spec.arg === undefined ? -1 : this.look("args", spec.arg));
    this.nodes.loc.push(0);
    this.nodes.tag.push(-1);
    this.nodes.shape.push(spec.op === "REDUCE" ? 0 : -1);
    this.nodes.lo.push(spec.lo ?? "");
    this.nodes.hi.push(spec.hi ?? "");
    this.nodes.ranges.push(spec.ranges ?? "");
    this.nodes.src.push(contents);
    this.nodes.origin.push(0);
    return c;
  }

  private look(table: string, text: string): number {
    const list = this.tables[table]!;
    const at = list.indexOf(text);
    return at >= 0 ? at : list.push(text) - 1;
  }
}

/** A small generator of repeatable numbers in [0, 1). */
export function random(seed: number): () => number {
  let s = seed;
  return () => (s = (s * 16807) % 2147483647) / 2147483647;
}
