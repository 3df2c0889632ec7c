import { describe, expect, it } from "vitest";
import { counted } from "../src/webgpu/values/counted";

const inside = (body: string): string => `fn main() {\n${body}\n}`;

describe("loops of WGSL", () => {
  it.each([
    "for (var i: i32 = 0; i < 65; i++) { a[i] = 0.0f; }",
    "for (var i: i32 = 0; i < 1000; i++) { for (var k = 0u; k < 4u; k += 2u) { x = i == 3; } }",
    "// while (true) {}\n/* loop { /* for */ } */ let forward = 1;",
    "while (true)", // no WGSL: the compiler says so
  ])("that end by their heads are not counted: %s", (body) => {
    expect(counted(inside(body))).toBeNull();
  });

  it.each([
    ["while (x != 0u) { x += 1u; }", [2]],
    ["loop { if (x) { break; } continuing { x = y; } }", [2]],
    ["for (var i = 0; i < 65; i++) { i = 0; }", [2]],
    ["for (var i = 0; i < 65; i++) { i--; }", [2]],
    ["for (var i = 0; i < 65; i++) { f(& i); }", [2]],
    ["for (var i = 0; i < 65; i += 0) { }", [2]],
    ["for (var i = 0; i < n; i++) { }", [2]],
    ["for (var i = 0; i < 65; i++) {\n\nwhile (a[i] < 0) { }\n}", [4]],
    ["for (var i = 0; i < 100000; i++) {\nfor (var k = 0; k < 100000; k++) { } }", [3]],
    ["/* { */ for (;;) /* } */ { }\nwhile (f(a[0])) { }", [2, 3]],
  ] as const)("that may not are, each at its line: %s", (body, lines) => {
    const text = inside(body);
    const made = counted(text)!;
    const named = [...made.matchAll(/CompareExchangeWeak\(&turns_stop, 0u, (\d+)u\)/g)];
    expect(named.map(([, line]) => Number(line))).toEqual(lines);
    expect(made.split("\n").slice(0, -2)).toHaveLength(text.split("\n").length);
    expect(made.match(/var turns = 0u;/g)).toHaveLength(1);
    const added =
      / var turns = 0u;| turns \+= 1u; if \(turns > \d+u\) \{[^}]*\}( if \([^{]*\{[^}]*\})?|\n@group\(1\).*\n/g;
    expect(made.replace(added, "")).toBe(text);
  });

  it("tell each other only where threads do not wait for each other", () => {
    const loop = "while (x) { }";
    expect(counted(inside(loop))).toContain("atomicLoad(&turns_stop)");
    expect(counted(inside(`${loop} workgroupBarrier();`))).not.toContain("atomicLoad");
  });

  it("are counted under a name that the text does not have", () => {
    expect(counted(inside("let turns = 1; while (x) { }"))).toContain("var turns_ = 0u;");
  });
});
