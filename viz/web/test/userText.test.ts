import { describe, expect, it } from "vitest";
import type { Bundle } from "../src/data/messages/bundle";
import type { UserFile } from "../src/data/messages/run";
import { indexLines, sameOrigin } from "../src/parts/kernel/lines";
import { userText } from "../src/parts/kernel/userText";

/** An AST of which nodes 10 and 11 come from line 4, node 12 from line 6, node 13 from elsewhere. */
const ast = {
  initial: { slot: [0, 1, 2, 3], node: [0, 1, 2, 3], src: [[], [], [], []] },
  nodes: { id: [10, 11, 12, 13], origin: [0, 0, 1, 2] },
  origins: ["a/model.py:4 relu", "a/model.py:6", "b/other.py:1"],
} as unknown as Bundle;

const file = (more: Partial<UserFile> = {}): UserFile => ({
  file: "a/model.py",
  cut: false,
  parts: [
    { first: 3, lines: ["def f(x):", "  return x.relu()"] },
    { first: 6, lines: ["y = f(x)"] },
    { first: 90, lines: ["unused"] },
  ],
  kernels: [],
  ...more,
});

describe("the user's lines of a kernel", () => {
  it("are the recorded parts that made it, with their numbers in the file", () => {
    const made = userText([file()], ast)!;
    expect(made.artifact.text.split("\n")).toEqual([
      "# a/model.py",
      "def f(x):",
      "  return x.relu()",
      "# …",
      "y = f(x)",
    ]);
    expect(made.numbers).toEqual(["", "3", "4", "", "6"]);
    expect(made.artifact.lines).toEqual([[], [], [10, 11], [], [12]]);
    expect(made.files).toEqual(["a/model.py"]);
  });

  it("light the generated lines that come from the same nodes", () => {
    const { artifact } = userText([file()], ast)!;
    const ptx = indexLines({ lines: [[], [], []], origins: [[12], [10, 11], []] });
    expect(sameOrigin(artifact, 2, ptx).lines).toEqual([1]);
    expect(sameOrigin(artifact, 4, ptx).lines).toEqual([0]);
    expect(sameOrigin(artifact, 1, ptx).lines).toEqual([]);
  });

  it("are missing where none was recorded", () => {
    expect(userText([file({ file: "c/third.py" })], ast)).toBeNull();
    expect(userText([], ast)).toBeNull();
  });
});
