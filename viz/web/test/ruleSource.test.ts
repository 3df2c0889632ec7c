import { describe, expect, it } from "vitest";
import { partsOf, restOfDoc } from "../src/parts/rule/ruleSource";

describe("the text of a rule", () => {
  it("says the equation once, however the docstring writes it", () => {
    const equation = "c op x -> x op c for op that commutes";
    const rest = (doc: string): string => restOfDoc({ doc, equation });
    expect(rest("c op x -> x op c  for op that commutes")).toBe("");
    expect(rest("c op x → x op c\n    for op that commutes.\n\n    More words.")).toBe(
      ".\n\n    More words.",
    );
    expect(rest("Something else.")).toBe("Something else.");
    expect(restOfDoc({ doc: "  words ", equation: "" })).toBe("words");
  });

  it("has its decorator and docstring apart from what it does", () => {
    const source =
      '@rule(A)\ndef f(\n    x: UOp,\n) -> UOp:\n    """x -> y\n\n    Why."""\n    return y\n';
    expect(partsOf(source)).toMatchObject({ def: 1, doc: [4, 7] });
    expect(partsOf('def f(x):\n    """x -> x"""\n    return x')).toMatchObject({
      def: 0,
      doc: [1, 2],
    });
    expect(partsOf("def f(x):\n    return x").doc).toEqual([2, 2]);
    expect(partsOf('def f(x):\n    """never ends').doc).toEqual([2, 2]);
    expect(partsOf("lambda x: x")).toMatchObject({ def: 0, doc: [1, 1] });
  });
});
