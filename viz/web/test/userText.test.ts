import { describe, expect, it } from "vitest";
import type { KernelPlace } from "../src/data/messages/kernel";
import type { UserFile } from "../src/data/messages/run";
import { indexLines, sameOrigin } from "../src/parts/kernel/lines";
import { userText } from "../src/parts/kernel/userText";

/** Nodes 10 and 11 come from line 4, node 12 from line 6. */
const places: KernelPlace[] = [
  { file: "a/model.py", line: 4, nodes: [10, 11] },
  { file: "a/model.py", line: 6, nodes: [12] },
];

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
    const made = userText([file()], places)!;
    expect(made.artifact.text.split("\n")).toEqual([
      "# a/model.py",
      "def f(x):",
      "  return x.relu()",
      "# …",
      "y = f(x)",
    ]);
    expect(made.numbers).toEqual(["", "3", "4", "", "6"]);
    expect(made.artifact.origins).toEqual([[], [], [10, 11], [], [12]]);
    expect(made.files).toEqual(["a/model.py"]);
  });

  it("light the generated lines that come from the same nodes", () => {
    const { artifact } = userText([file()], places)!;
    const ptx = indexLines({ lines: [[], [], []], origins: [[12], [10, 11], []] });
    expect(sameOrigin(artifact, 2, ptx).lines).toEqual([1]);
    expect(sameOrigin(artifact, 4, ptx).lines).toEqual([0]);
    expect(sameOrigin(artifact, 1, ptx).lines).toEqual([]);
  });

  it("are those of the last state that has them, where a file changed during the run", () => {
    const later = file({ parts: [{ first: 3, lines: ["def f(x):", "  return x.tanh()"] }] });
    const made = userText([file(), later], places)!;
    expect(made.artifact.text.split("\n")).toEqual([
      "# a/model.py, as it was earlier in the run",
      "y = f(x)",
      "# a/model.py",
      "def f(x):",
      "  return x.tanh()",
    ]);
    expect(made.artifact.origins).toEqual([[], [12], [], [], [10, 11]]);
    expect(made.files).toEqual(["a/model.py"]);
    const same = userText([later, later], [places[0]!])!;
    expect(same.artifact.text.split("\n")).toHaveLength(3);
  });

  it("say where other lines ask for the same nodes", () => {
    const both = places.map((place) => ({ ...place, shared: true }));
    const said = (some: KernelPlace[]): string =>
      userText([file()], some)!.artifact.text.split("\n")[1]!;
    expect(said([both[1]!, both[0]!])).toBe(
      "# lines 4, 6: other lines ask for the same nodes, which are shared",
    );
    expect(said([both[0]!, places[1]!])).toMatch(/^# line 4: /);
    expect(said(places)).not.toContain("shared");
  });

  it("light all that they became, though it is most of the text", () => {
    const { artifact } = userText([file()], places)!;
    const origins = [[], [10, 11], ...Array.from({ length: 20 }, () => [10]), [11, 12], [12]];
    const ptx = indexLines({ lines: origins.map(() => []), origins });
    const became = Array.from({ length: 22 }, (_, i) => i + 1);
    expect(sameOrigin(artifact, 2, ptx)).toEqual({ lines: became, cut: 0 });
    expect(sameOrigin(artifact, 4, ptx)).toEqual({ lines: [22, 23], cut: 0 });
  });

  it("are there by their numbers where their text was not recorded", () => {
    const other = { file: "b/other.py", line: 7, nodes: [13] };
    const made = userText([file()], [...places, other])!;
    expect(made.artifact.text.split("\n").slice(5)).toEqual([
      "# b/other.py",
      "# the text of this line was not recorded",
    ]);
    expect(made.numbers.at(-1)).toBe("7");
    expect(made.artifact.origins.at(-1)).toEqual([13]);
    expect(made.places.at(-1)).toEqual({ file: "b/other.py", line: 7 });
    expect(userText([file()], [other])!.files).toEqual(["b/other.py"]);
    expect(userText([], [])).toBeNull();
  });
});
