/** One run as the server would tell it: two schedules, a few kernels, a pass with 92 steps. */
import type { Bundle } from "../../src/data/messages/bundle.ts";
import { dialect } from "./dialect.ts";
import type { Artifact, Kernel, Schedule } from "../../src/data/messages/kernel.ts";
import type { Pat, Rule } from "../../src/data/messages/rule.ts";
import type { Row, Run } from "../../src/data/messages/run.ts";
import { Maker, random, type Spec } from "./maker.ts";
import { AMD, HIP, LLVM, PTX } from "./sources.ts";

const any = { kind: "any" } as const;
const v = (name: string): Pat => ({ op: [], dtype: [], name, arg: null, src: any });
const node = (op: string, ...of: Pat[]): Pat => ({
  op: [op],
  dtype: [],
  name: null,
  arg: null,
  src: { kind: "ordered", of },
});

function rule(
  id: number,
  name: string,
  equation: string,
  pattern: Pat,
  more: Partial<Rule> = {},
): Rule {
  const source = `@rule(UPat(...), where=ints)\ndef ${name}(x: UOp, c: UOp) -> UOp | None:\n  """${equation}"""\n  if c.arg <= 0: return None\n  return x + y // c\n`;
  return {
    id,
    name,
    equation,
    doc: `${equation}\n\nwhen c > 0, integers`,
    group: "symbolic",
    file: "core/uop/symbolic.py",
    line: 214,
    source,
    sourceLine: 213,
    pattern,
    matches: 31,
    declines: 14,
    us: 400,
    ...more,
  };
}

export const rules: Rule[] = [
  rule(
    0,
    "div_distribute",
    "(x*c + y) // c -> x + y//c",
    node("IDIV", node("ADD", node("MUL", v("x"), v("c")), v("y")), v("c")),
  ),
  rule(1, "range_bounds", "x -> c when x is always c", v("x"), {
    line: 88,
    sourceLine: 87,
    matches: 466,
    declines: 1931,
  }),
  rule(
    2,
    "add_zero",
    "x + 0 -> x",
    {
      ...node("ADD", v("x"), { ...v(""), op: ["CONST"], name: null, arg: "0" }),
      src: { kind: "permuted", of: [v("x"), { ...v(""), op: ["CONST"], name: null, arg: "0" }] },
    },
    { line: 22, sourceLine: 21, matches: 249 },
  ),
  rule(
    3,
    "const_fold",
    "f(c1, c2) -> c",
    {
      ...v("a"),
      op: ["ADD", "MUL", "IDIV", "MOD"],
      src: { kind: "repeat", of: { ...v(""), op: ["CONST"], name: null } },
    },
    { matches: 569, declines: 0 },
  ),
  rule(4, "mod_cancel", "(x % c) % c -> x % c", node("MOD", node("MOD", v("x"), v("c")), v("c")), {
    matches: 12,
  }),
];

const con = (arg: string): Spec => ({ op: "CONST", arg, lo: arg, hi: arg });

function matmul(rewrite: number, context: number, name: string): { maker: Maker; m: number } {
  const k = new Maker(name, rewrite, context);
  const g0 = k.add({ op: "RANGE", arg: "gidx0 0..63", ranges: "g0", lo: "0", hi: "63" });
  const c32 = k.add(con("32"));
  const l1 = k.add({ op: "RANGE", arg: "lidx1 0..31", ranges: "l1", lo: "0", hi: "31" });
  const r2 = k.add({ op: "RANGE", arg: "ridx2 0..127", ranges: "r2", lo: "0", hi: "127" });
  const idiv: Spec = {
    op: "IDIV",
    ranges: "g0 l1",
    lo: "0",
    hi: "63",
    src: [
      { op: "ADD", ranges: "g0 l1", src: [{ op: "MUL", ranges: "g0", src: [g0, c32] }, l1] },
      c32,
    ],
  };
  const m = k.add({ op: "MUL", ranges: "g0 l1", lo: "0", hi: "8064", src: [idiv, con("128")] });
  const a = k.add({ op: "ADD", ranges: "g0 l1 r2", src: [m, r2] });
  const ab = k.add({
    op: "ADD",
    ranges: "l1 r2",
    src: [{ op: "MUL", ranges: "r2", src: [r2, c32] }, l1],
  });
  const d = (n: string): Spec => ({ op: "DEFINE_GLOBAL", dtype: "float*", arg: n });
  const load = (n: string, i: number, ranges: string): Spec => ({
    op: "LOAD",
    dtype: "float32",
    ranges,
    src: [{ op: "INDEX", dtype: "float*", ranges, src: [d(n), i] }],
  });
  const f = k.add({
    op: "MUL",
    dtype: "float32",
    ranges: "g0 l1 r2",
    src: [load("data1", a, "g0 l1 r2"), load("data2", ab, "l1 r2")],
  });
  const red = k.add({ op: "REDUCE", dtype: "float32", arg: "ADD", ranges: "g0 l1", src: [f, r2] });
  const relu = k.add({
    op: "MAX",
    dtype: "float32",
    src: [red, { op: "CONST", dtype: "float32", arg: "0.0" }],
  });
  const out = k.add({
    op: "INDEX",
    dtype: "float*",
    src: [d("data0"), { op: "ADD", src: [{ op: "MUL", src: [l1, con("64")] }, g0] }],
  });
  const st = k.add({ op: "STORE", dtype: "void", src: [out, relu] });
  k.begin(k.add({ op: "SINK", dtype: "void", src: [st] }));
  return { maker: k, m };
}

/** `count` random rewrites that keep the graph about as large as it is. */
function wander(k: Maker, count: number, seed: number): void {
  const rnd = random(seed);
  for (let i = 0; i < count; i++) {
    const alu = k.live.filter(
      (s) => ["ADD", "MUL", "IDIV", "SHL", "MOD"].includes(k.at(s).op) && s !== k.root,
    );
    const slot = alu[Math.floor(rnd() * alu.length)]!;
    const { src } = k.at(slot);
    const pick = rnd();
    const us = 4 + rnd() * 60;
    if (pick < 0.25 && src.length === 2 && alu.length > 12)
      k.step(2, slot, src[0]!, [["x", src[0]!]], us);
    else if (pick < 0.5)
      k.step(
        1,
        slot,
        {
          op: "ADD",
          ranges: "g0 l1",
          src: [...src.slice(0, 1), con(String(Math.floor(rnd() * 64)))],
        },
        [["x", src[0]!]],
        us,
      );
    else if (pick < 0.75)
      k.step(
        3,
        slot,
        {
          op: "MUL",
          ranges: "g0",
          src: [
            { op: "ADD", src: [...src.slice(0, 1), con(String(Math.floor(rnd() * 9)))] },
            src.at(-1)!,
          ],
        },
        [["a", slot]],
        us,
      );
    else k.step(4, slot, { op: "MOD", src: [src[0]!, con("32")] }, [["x", src[0]!]], us);
  }
}

function symbolic(): Maker {
  const { maker, m } = matmul(7, 3, "symbolic");
  const idiv = maker.at(m).op === "MUL" ? maker.at(m).src[0]! : -1;
  if (idiv >= 0 && maker.at(idiv).op === "IDIV") {
    const [sum, c] = maker.at(idiv).src;
    const parts = maker.at(sum!).src;
    const x = maker.at(parts[0]!).src[0] ?? parts[0]!;
    maker.step(
      0,
      idiv,
      { op: "ADD", ranges: "g0 l1", src: [x, { op: "IDIV", ranges: "l1", src: [parts[1]!, c!] }] },
      [
        ["x", x],
        ["c", c!],
        ["y", parts[1]!],
      ],
    );
  }
  wander(maker, 92 - maker.steps.length, 77);
  return maker;
}

const sym = symbolic();
const failing = matmul(9, 4, "render").maker;
wander(failing, 6, 9);

export const bundles = new Map<number, Bundle>([
  [7, sym.bundle()],
  [
    6,
    (() => {
      const k = matmul(6, 3, "lower ranges").maker;
      wander(k, 38, 3);
      return k.bundle();
    })(),
  ],
  [
    9,
    failing.bundle({
      error: {
        step: 6,
        rule: 4,
        message: "RenderError: ptx has no instruction for POW on float32",
        traceback:
          'Traceback (most recent call last):\n  File "examples/digits.py", line 58, in <module>\n    loss.realize()\n  File "core/render/ptx.py", line 131, in emit\nRenderError: ptx has no instruction for POW on float32\n',
      },
    }),
  ],
]);

/** Any other pass: a short one of its own. */
export function bundleFor(id: number, row: Row | undefined): Bundle {
  const known = bundles.get(id);
  if (known) return known;
  const { maker } = matmul(id, 3, row?.name ?? "pass");
  wander(maker, Math.min(row?.steps ?? 0, 60), id + 11);
  const made = maker.bundle();
  bundles.set(id, made);
  return made;
}

type Short = [
  depth: number,
  kind: "c" | "k" | "s" | "p",
  name: string,
  steps: number,
  ms: number,
  status?: Row["status"],
];
const SHORT: Short[] = [
  [0, "s", "Schedule 1", 312, 60],
  [1, "p", "views", 41, 12],
  [1, "p", "multi-device", 0, 1],
  [1, "p", "group", 27, 8],
  [1, "p", "kernelize", 63, 16],
  [1, "p", "checks", 0, 1],
  [0, "k", "E_2048_4", 84, 22],
  [1, "p", "lower ranges", 22, 8],
  [1, "p", "symbolic", 62, 14],
  [0, "k", "r_64_32_128", 427, 210],
  [1, "p", "optimize", 3, 3],
  [1, "p", "lower ranges", 38, 24],
  [1, "p", "symbolic", 92, 58],
  [1, "p", "expand", 56, 30],
  [1, "p", "devectorize", 96, 40],
  [1, "p", "load store", 51, 18],
  [1, "p", "reduce", 12, 5],
  [1, "p", "gpu dims", 9, 4],
  [1, "p", "decompose", 69, 24],
  [1, "p", "linearize", 1, 2],
  [1, "p", "spec", 0, 1],
  [1, "p", "late", 0, 1],
  [0, "k", "r_32_10", 6, 38, "error"],
  [1, "p", "render", 6, 30, "error"],
  [0, "k", "r_128_784", 1204, 300],
  [1, "p", "symbolic", 604, 150],
];
const IDS: Record<string, number> = { "9:lower ranges": 6, "9:symbolic": 7, "22:render": 9 };

function tree(): Row[] {
  const rows: Row[] = [];
  const stack: number[] = [];
  SHORT.forEach(([depth, kind, name, steps, ms, status], i) => {
    const parent = depth ? stack[depth - 1]! : -1;
    stack[depth] = i;
    const pass = kind === "p";
    rows.push({
      row: i,
      parent,
      kind: pass ? "rewrite" : "context",
      id: pass
        ? (IDS[`${parent}:${name}`] ?? 100 + i)
        : name === "r_64_32_128"
          ? 3
          : name === "r_32_10"
            ? 4
            : 50 + i,
      name,
      label: kind === "k" ? "kernel" : kind === "s" ? "schedule" : "pass",
      steps,
      declines: steps * 3,
      ms,
      nodes: 61,
      status: status ?? "ok",
      caller: "core/compile.py:88",
      calls: kind === "k" ? "linear, relu" : "",
    });
  });
  return rows;
}
export const rows = tree();

export const run: Run = {
  name: "examples/digits.py",
  command: "VIZ=1 python examples/digits.py",
  commit: "3f2c1ab9",
  dirty: 2,
  started: "2026-05-04T10:00:00Z",
  seconds: 1.84,
  live: false,
  processes: 2,
  bytes: 3_100_000,
  file: "digits-42.viz",
  format: { trace: 2, export: null },
  lost: 0,
  machine: "x86-64, 16 cores",
  python: "3.12",
  versions: { uopviz: "0.1.0" },
  totals: { contexts: 5, kernels: 14, rewrites: 34, steps: 4942, launches: 500 },
  problems: [
    {
      what: "RenderError: ptx has no instruction for POW on float32",
      where: "kernel r_32_10, pass render",
      hint: "Lower POW in core/passes/decompose.py, or add it to PTX.supported.",
      rewrite: 9,
      step: 6,
    },
  ],
  devices: ["CPU", "CUDA"],
  editable: [{ device: "CPU", kind: "llvm", target: "x86-64", missing: "" }],
  targets: ["sm_90", "sm_80", "gfx942", "gfx1100", "x86-64"],
  kinds: [
    { kind: "ptx", title: "PTX", language: "ptx", ending: ".ptx", families: ["nvidia"] },
    { kind: "amd_isa", title: "AMD ISA", language: "asm", ending: ".s", families: ["amd"] },
    { kind: "hip", title: "HIP", language: "cpp", ending: ".hip", families: ["amd"] },
    { kind: "llvm", title: "LLVM IR", language: "llvm", ending: ".ll", families: ["cpu", "amd"] },
    { kind: "cpu_asm", title: "CPU assembly", language: "asm", ending: ".s", families: ["cpu"] },
    { kind: "c", title: "C", language: "c", ending: ".c", families: ["cpu"] },
    { kind: "cuda", title: "CUDA C++", language: "cpp", ending: ".cu", families: ["nvidia"] },
  ],
  dialect,
  families: {
    sm_90: "nvidia",
    sm_80: "nvidia",
    gfx942: "amd",
    gfx1100: "amd",
    "x86-64": "cpu",
    "x86-64-v3": "cpu",
  },
};

function artifact(kind: Artifact["kind"], target: string, text: string, facts: string[]): Artifact {
  const ids = [...sym.origins.keys()];
  const ast = ids.slice(0, 24);
  const lines = text.split("\n");
  return {
    kind,
    target,
    title: kind,
    language: kind,
    text,
    lines: lines.map((_, i) => (i % 3 === 0 ? [ids[(i * 5 + 30) % ids.length]!] : [])),
    origins: lines.map((_, i) => (i > 2 ? [ast[(i * 7) % ast.length]!] : [])),
    facts: facts.map((value, i) => ({ name: `fact ${i}`, value })),
    error: null,
  };
}

export function compiled(target: string): Artifact[] {
  if (target.startsWith("sm_"))
    return [
      artifact("ptx", target, PTX.replaceAll("sm_90", target), [
        "24 regs",
        "0 spills",
        "occupancy 100%",
      ]),
    ];
  if (target.startsWith("gfx"))
    return [
      artifact("amd_isa", target, AMD, ["6 vgpr", "16 sgpr", "8 waves"]),
      artifact("hip", target, HIP, ["30 lines"]),
      artifact("llvm", target, LLVM, ["38 lines", "1 loop"]),
    ];
  return [
    artifact("llvm", target, LLVM.replaceAll("amdgpu_kernel ", ""), ["38 lines"]),
    artifact(
      "cpu_asm",
      target,
      "r_64_32_128:\n  push rbp\n  vmovss xmm0, dword ptr [rsi]\n  ret\n",
      [],
    ),
  ];
}

export const kernel = (context: number): Kernel => ({
  context,
  name: "r_64_32_128",
  target: "x86-64",
  device: "CPU",
  ast: 100,
  tensorCalls: ["examples/digits.py:41"],
  artifacts: [...compiled("sm_90"), ...compiled("x86-64").slice(0, 1)],
  launches: { count: 12, us: [9.8, 10.1, 9.7, 12, 9.9] },
  inputs: [{ name: "data0", dtype: "float32", size: 2048 }],
  flops: 524288,
  bytes: 57000,
  globalSize: [64, 1, 1],
  localSize: [32, 1, 1],
});

export const schedule = (context: number): Schedule => ({
  context,
  artifacts: [
    artifact("grouping", "", "1 of 2 values stored\nu2 = ADD(u0, u1)  ; stored: an output\n", []),
    artifact("order", "", "item 0 = kernel stores float32[2048] CPU\n", []),
  ],
  origins,
});

export const origins = { node: [...sym.origins.keys()], origin: [...sym.origins.values()] };
