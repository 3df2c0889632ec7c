import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { BROWSER, withBrowser } from "../src/data/browser";
import type { ShaderArgument, ShaderBinding, Shaders } from "../src/data/messages/trials/shaders";
import type { Run } from "../src/data/messages/run";
import { FLOATS, reader } from "../src/webgpu/values/dtypes";
import { apart, difference, differenceAt } from "../src/webgpu/values/difference";
import { generated } from "../src/webgpu/values/generated";
import { judge, worst } from "../src/webgpu/judge";
import { coordinates, outputsOf, pictureOf } from "../src/webgpu/values/picture";
import { bytesOfPlan, planOf } from "../src/webgpu/values/plan";
import { accessIn, entryIn } from "../src/webgpu/device/session";
import { interval, timesOf } from "../src/webgpu/values/turns";

afterEach(() => vi.unstubAllGlobals());

interface Row {
  number: number;
  dtype: string;
  span: [number, number] | null;
  bytes: string;
}

const argument = (of: Partial<ShaderArgument>): ShaderArgument => ({
  number: 0,
  name: "data0",
  dtype: "float32",
  size: 1,
  shape: [],
  table: [1, 1],
  written: true,
  allowed: 1e-4,
  span: null,
  ...of,
});

const floats = (...values: number[]): ArrayBuffer => new Float32Array(values).buffer;

describe("generated inputs", () => {
  const file = new URL("./data/generated.json", import.meta.url);
  const rows = JSON.parse(readFileSync(file, "utf8")) as Row[];
  it.each(rows)("are those of Python: $dtype $span", ({ number, dtype, span, bytes }) => {
    const made = new Uint8Array(generated(argument({ number, dtype, span, size: 9 })));
    expect(Buffer.from(made).toString("hex").slice(0, bytes.length)).toBe(bytes);
    expect(made.byteLength % 4).toBe(0);
  });
});

describe("narrow floats", () => {
  it.each(["float16", "bfloat16", "fp8e4m3", "fp8e5m2"])("%s: all bits come back", (dtype) => {
    const { bytes, read, write } = FLOATS[dtype]!;
    for (let bits = 0; bits < 2 ** (8 * bytes); bits++) {
      const view = new DataView(new ArrayBuffer(2));
      if (bytes === 1) view.setUint8(0, bits);
      else view.setUint16(0, bits, true);
      const value = read(view, 0);
      if (!Number.isFinite(value)) continue;
      const back = new DataView(new ArrayBuffer(2));
      write(back, 0, value);
      expect(back.getUint16(0, true), `${bits}`).toBe(view.getUint16(0, true));
    }
  });

  it("are what their specifications say", () => {
    const of = (dtype: string, bits: number): number => {
      const view = new DataView(new ArrayBuffer(2));
      view.setUint16(0, bits, true);
      return reader(dtype)(view, 0);
    };
    expect(of("float16", 0x3c00)).toBe(1);
    expect(of("float16", 0x0001)).toBe(2 ** -24);
    expect(of("float16", 0xfc00)).toBe(-Infinity);
    expect(of("bfloat16", 0x3f80)).toBe(1);
    expect(of("fp8e4m3", 0x7e)).toBe(448);
    expect(of("fp8e4m3", 0x7f)).toBeNaN();
    expect(of("fp8e5m2", 0x7b)).toBe(57344);
    expect(of("fp8e5m2", 0x7c)).toBe(Infinity);
  });
});

describe("differences", () => {
  it("count equal infinities and NaNs as equal, and a number beside NaN as infinitely far", () => {
    expect(apart(Infinity, Infinity)).toBe(0);
    expect(apart(NaN, NaN)).toBe(0);
    expect(apart(NaN, 1)).toBe(Infinity);
    expect(apart(Infinity, -Infinity)).toBe(Infinity);
    expect(apart(1, 1.5)).toBe(0.5);
  });

  it("are relative to the largest magnitude, and say where", () => {
    const of = argument({ size: 3 });
    const found = difference(
      new DataView(floats(1, 200.5, 3)),
      new DataView(floats(1, 200, 3)),
      of,
    );
    expect(found).toMatchObject({ error: 0.5, at: 1, got: 200.5, wanted: 200, differing: 1 });
    expect(found.allowed).toBeCloseTo(0.02);
  });

  it("are exact for integers", () => {
    const of = argument({ dtype: "int32", size: 2, allowed: 0 });
    const [a, b] = [new Int32Array([1, 2]), new Int32Array([1, 3])];
    const found = difference(new DataView(a.buffer), new DataView(b.buffer), of);
    expect(found.error > found.allowed).toBe(true);
  });

  it("name the output that is furthest beyond what it may", () => {
    const of = argument({ size: 1 });
    const near = differenceAt(new DataView(floats(1)), [0], [1.00001], of);
    const far = differenceAt(new DataView(floats(1)), [0], [2], of);
    expect(worst([near, far, near])).toBe(far);
  });
});

describe("a result", () => {
  const kernel = (expected: Shaders["expected"]): Shaders => ({
    name: "k",
    arguments: [argument({ size: 2 })],
    variables: [],
    made: null!,
    plain: null!,
    expected,
    why: expected ? "" : "it takes too long",
    flops: 0,
    bytes: 0,
  });

  it("is held to the reference's values, also where both programs agree", () => {
    const values = kernel([{ argument: 0, at: [1], values: [3] }]);
    const wrong = judge(values, [floats(1, 2)], [floats(1, 2)]);
    expect(wrong.equal).toBe(false);
    expect(wrong.reference).toBe("REFERENCE");
    expect(wrong.detail).toContain("At element 1 it is 2 where 3 is expected");
    expect(judge(values, [floats(1, 3)], [floats(1, 3)]).equal).toBe(true);
  });

  it("is held to the program without optimizations at every element", () => {
    const found = judge(kernel(null), [floats(1, 2)], [floats(1, 5)]);
    expect(found.equal).toBe(false);
    expect(found.reference).toBe("the kernel without optimizations");
    expect(found.detail).toContain("it takes too long");
  });

  it("takes what the trace could not say as numbers", () => {
    const values = kernel([{ argument: 0, at: [0, 1], values: ["nan", "-inf"] }]);
    expect(judge(values, [floats(NaN, -Infinity)], [floats(NaN, -Infinity)]).equal).toBe(true);
  });
});

describe("two results", () => {
  const of = argument({ size: 6, shape: [2, 3], table: [2, 3] });
  const [a, b] = [floats(0, 1, 2, 3, 4, 5), floats(0, 1, 2, 3.5, 4, NaN)];

  it("say how many agree, and where they are furthest apart", () => {
    const found = outputsOf(new DataView(a), new DataView(b), of);
    expect(found).toMatchObject({ identical: 4, error: "inf", at: [1, 2], ulps: null });
    expect(found).toMatchObject({ original: 5, edited: "nan" });
    const near = outputsOf(new DataView(floats(1)), new DataView(floats(1 + 2 ** -22)), argument({}));
    expect(near.ulps).toBe(2);
    expect(coordinates([], 7)).toEqual([7]);
  });

  it("are drawn as a table of the largest error in each cell", () => {
    const found = pictureOf(new DataView(a), new DataView(b), of);
    expect(found).toMatchObject({ height: 2, width: 3, cell: [5, 3], at: [5, 3], more: 0 });
    const large = argument({ size: 600 * 2, table: [600, 2] });
    const zeros = floats(...new Array<number>(1200).fill(0));
    const one = new Float32Array(1200);
    one[599 * 2 + 1] = 3;
    const drawn = pictureOf(new DataView(zeros), new DataView(one.buffer), large);
    expect(drawn).toMatchObject({ down: 3, height: 200, width: 2, cell: [399], at: [1199] });
  });
});

describe("times in turn", () => {
  it("have the interval of the terminal", () => {
    // viz/ratio.py: interval(7), interval(50), interval(500)
    expect([interval(7), interval(50), interval(500)]).toEqual([
      [0, 6],
      [17, 32],
      [227, 272],
    ]);
  });

  it("are a ratio with both sides", () => {
    const found = timesOf([10, 10, 10], [5, 5, 6])!;
    expect(found).toMatchObject({ ratio: 0.5, low: 0.5, high: 0.6, old: 10, new: 5, turns: 3 });
    expect(timesOf([], [])).toBeNull();
  });
});

describe("bindings", () => {
  const binding: ShaderBinding = { binding: 1, kind: "storage", bytes: 4, parts: [] };
  it("are bound as the text declares them", () => {
    const declared = (text: string): string => accessIn(text, binding);
    expect(declared("@group(0) @binding(1) var<storage, read> a: array<f32>;")).toBe(
      "read-only-storage",
    );
    expect(declared("@group(0) @binding(1)var<storage,read_write> a: array<f32>;")).toBe("storage");
    expect(declared("@group(0) @binding(1) var<storage> a: array<f32>;")).toBe("read-only-storage");
    expect(declared("@group(0) @binding(1) var<uniform> a: vec4<u32>;")).toBe("uniform");
    expect(declared("@group(0) @binding(11) var<uniform> a: vec4<u32>;")).toBe("storage");
  });
});

describe("a run whose kernels a browser can run", () => {
  const cpu = { kind: "llvm", target: "x86-64", device: "CPU", missing: "" };
  const run = { devices: ["CPU"], targets: ["x86-64"], editable: [cpu], browser: { kind: "wgsl", target: "webgpu" } };
  it("has the browser as its last device, where it has WebGPU", () => {
    vi.stubGlobal("navigator", { gpu: {} });
    const made = withBrowser(run as unknown as Run);
    expect(made.devices).toEqual(["CPU", BROWSER]);
    expect(made.editable).toEqual([cpu, { ...run.browser, device: BROWSER, missing: "" }]);
  });

  it("waits for the devices of a server, and for none in a file", () => {
    vi.stubGlobal("navigator", { gpu: {} });
    const early = { ...run, devices: [], editable: [] } as unknown as Run;
    expect(withBrowser(early).devices).toEqual([]);
    expect(withBrowser({ ...early, targets: [] }).devices).toEqual([BROWSER]);
  });

  it("says what is missing", () => {
    vi.stubGlobal("navigator", {});
    vi.stubGlobal("isSecureContext", false);
    const made = withBrowser(run as unknown as Run);
    expect(made.devices).toEqual(["CPU"]);
    expect(made.editable[1]!.missing).toContain("secure addresses");
  });
});

describe("the text of a captured step", () => {
  const TEXT = `3 steps on 3 buffers of 1,280 bytes
b0 = float32[64] CPU  ; made in this step
b1 = float32[256] CPU  ; input 0
b2 = int32[64] CPU  ; kept
step 0 = kernel r_4_64(b0, b1[64:128])  n=3
step 1 = random numbers drawn
step 2 = kernel E_64(b0, b0, b2)
`;
  it("is read back", () => {
    const plan = planOf(TEXT)!;
    expect(plan.buffers.map((b) => b.role)).toEqual(["made in this step", "input 0", "kept"]);
    expect(plan.steps[0]).toEqual({
      kernel: "r_4_64",
      arguments: [
        { buffer: 0, from: 0, size: 64 },
        { buffer: 1, from: 64, size: 64 },
      ],
    });
    expect(plan.steps[1]!.arguments.map((a) => a.buffer)).toEqual([0, 0, 2]);
    expect([plan.draws, plan.varies]).toEqual([1, true]);
    expect(bytesOfPlan(plan)).toBe(1536);
  });

  it("has copies between memory", () => {
    const { steps, draws, varies } = planOf(TEXT.replace(/step 0.*/, "step 0 = copy(b0, b2)"))!;
    expect([steps[0]!.kernel, steps[0]!.arguments.map((a) => a.buffer)]).toEqual([null, [0, 2]]);
    expect([steps.length, draws, varies]).toEqual([2, 1, false]);
  });

  it("is refused where it is none", () => {
    expect(planOf("")).toBeNull();
    expect(planOf(TEXT.replace("random numbers drawn", "copy(b0)"))).toBeNull();
    expect(planOf(TEXT.replace("b0, b1[64:128]", "b0, b9"))).toBeNull();
    expect(planOf(TEXT.replace("b1 = ", "b7 = "))).toBeNull();
    expect(planOf(TEXT.replace("b0, b1[64:128]", "nonsense"))).toBeNull();
  });
});

it("says what is wrong with a whole program at the line of its function", () => {
  expect(entryIn("var<workgroup> s: array<f32, 4>;\n@compute @workgroup_size(1)\nfn f() {}")).toBe("line 2");
  expect(entryIn("fn f() {}")).toBe("WGSL");
});
