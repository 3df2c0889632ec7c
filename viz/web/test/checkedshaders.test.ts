import { describe, expect, it } from "vitest";
import type { Shaders } from "../src/data/messages/trials/shaders";
import { checked, checkSize } from "../src/webgpu/values/checked";

const shader = (): Shaders["made"] => ({
  text: "@compute fn k() {}",
  entry: "k",
  opts: null,
  groups: [1, 1, 1],
  bindings: [
    { binding: 0, kind: "storage", bytes: 8, parts: [{ argument: 0, value: null, offset: 0 }] },
    { binding: 1, kind: "uniform", bytes: 4, parts: [{ argument: null, value: -3, offset: 0 }] },
  ],
});
const kernel = (): Shaders => ({
  name: "k",
  arguments: [
    {
      ...{ number: 0, name: "data0", dtype: "float32", size: 2, shape: [2], table: [1, 2] as [number, number] },
      ...{ written: true, allowed: 1e-4, span: null },
    },
  ],
  variables: [{ name: "n", value: 3 }],
  made: shader(),
  plain: shader(),
  expected: [{ argument: 0, at: [0, 1], values: [0.5, "nan"] }],
  why: "",
  flops: 1,
  bytes: 8,
});

/** `of` with another value at a path such as "arguments.0.size". */
function changed(of: Shaders, path: string, value: unknown): unknown {
  const names = path.split(".");
  const last = names.pop()!;
  const inside = names.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], of);
  (inside as Record<string, unknown>)[last] = value;
  return of;
}

describe("a kernel for WebGPU that may be a stranger's", () => {
  it("is taken where it is one", () => {
    expect(checked(kernel())).toEqual(kernel());
  });

  it.each([
    ["arguments", undefined],
    ["arguments", {}],
    ["arguments.0", null],
    ["arguments.0.number", 1],
    ["arguments.0.dtype", "constructor"],
    ["arguments.0.dtype", "float64"],
    ["arguments.0.size", -1],
    ["arguments.0.size", 1.5],
    ["arguments.0.size", "2"],
    ["arguments.0.size", 3],
    ["arguments.0.span", [0.5, 2]],
    ["arguments.0.allowed", NaN],
    ["made", null],
    ["made.text", { toString: "x" }],
    ["made.groups", [1, 1]],
    ["made.groups", [1, -1, 1]],
    ["made.bindings.0.bytes", 4],
    ["made.bindings.0.kind", "texture"],
    ["made.bindings.0.parts.0.argument", 7],
    ["made.bindings.0.parts.0.offset", 1],
    ["made.bindings.1.parts.0.value", "x"],
    ["plain.bindings", [null]],
    ["expected.0.argument", 1],
    ["expected.0.at", [0, 2]],
    ["expected.0.values", [0]],
    ["expected.0.values", [0, "<b>"]],
    ["arguments.0.written", false],
  ])("with %s = %j is damaged", (path, value) => {
    expect(() => checked(changed(kernel(), path, value))).toThrow("is damaged");
  });

  it.each([null, 3, "x", [], {}])("%j is none", (found) => {
    expect(() => checked(found)).toThrow("is damaged");
  });

  it("is not made where it is too large for a page", () => {
    const large = changed(kernel(), "arguments.0.size", 1 << 28);
    expect(() => checked(large)).toThrow("more memory than a page makes");
    const bound = changed(kernel(), "made.bindings.0.bytes", 2 ** 40);
    expect(() => checked(bound)).toThrow("more memory than a page makes");
    const many = Array.from({ length: 200 }, () => ({ dtype: "int8", size: 1 << 20 }));
    expect(() => checkSize(many)).toThrow("more memory than a page makes");
    checkSize(many.slice(100));
  });
});
