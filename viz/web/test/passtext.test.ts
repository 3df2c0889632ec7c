import { describe, expect, it } from "vitest";
import type { PassText } from "../src/data/messages/bundle";
import { cursorAfter, isChanged, shownLines, textLines } from "../src/parts/passtext/lines";
import { lineDiff } from "../src/parts/source/lineDiff";

const text = (...lines: string[]): PassText => ({
  kind: "mlir",
  text: lines.join("\n") + "\n",
  lines: lines.map((_, i) => [i]),
  leftOut: 0,
  error: "",
});

const diff = (a: string[], b: string[]): string[] =>
  textLines({ rewrite: 1, before: text(...a), after: text(...b) }).map(
    (line) => `${{ same: " ", named: "~", del: "-", add: "+" }[line.kind]}${line.text}`,
  );

describe("the compiler's text before and after a pass", () => {
  it("marks what went and came", () => {
    expect(diff(["%0 = t.a", "%1 = t.b %0"], ["%0 = t.a", "%1 = t.c %0"])).toEqual([
      " %0 = t.a",
      "-%1 = t.b %0",
      "+%1 = t.c %0",
    ]);
  });

  it("keeps a line whose values only have other names", () => {
    const before = ["%0 = t.a", "%1 = t.dead", "%2 = t.b %0", "t.end %2"];
    const after = ["%0 = t.a", "%1 = t.b %0", "t.end %1"];
    expect(diff(before, after)).toEqual([" %0 = t.a", "-%1 = t.dead", "~%1 = t.b %0", "~t.end %1"]);
  });

  it("shows operands that changed places, or that are other values", () => {
    expect(diff(["%0 = t.a", "%1 = t.b", "t.sub %0, %1"], ["%0 = t.a", "%1 = t.b", "t.sub %1, %0"])).toEqual(
      [" %0 = t.a", " %1 = t.b", "-t.sub %0, %1", "+t.sub %1, %0"],
    );
    expect(diff(["%0 = t.a", "%1 = t.dead", "t.end %1"], ["%0 = t.a", "t.end %0"])).toEqual([
      " %0 = t.a",
      "-%1 = t.dead",
      "-t.end %1",
      "+t.end %0",
    ]);
  });

  it("keeps what reads an op that changed in itself", () => {
    expect(diff(["%r, %t = t.x await(%5)", "t.end %t"], ["%r, %t = t.x", "t.end %t"])).toEqual([
      "-%r, %t = t.x await(%5)",
      "+%r, %t = t.x",
      " t.end %t",
    ]);
  });

  it("takes values of the same op for each other, first by name and then in order", () => {
    const before = ["%0 = t.x 1", "%1 = t.x 1", "%0 = t.x 1", "t.use %0"];
    const after = ["%1 = t.x 2", "%7 = t.x 2", "%8 = t.x 2", "t.use %8"];
    expect(diff(before, after).at(-1)).toBe("~t.use %8");
  });

  it("has numbers and nodes of both texts", () => {
    const [, line] = textLines({
      rewrite: 1,
      before: text("%0 = t.dead", "t.end"),
      after: text("t.end"),
    });
    expect(line).toMatchObject({ old: 2, now: 1, nodes: [1, 0] });
  });

  it("is one text where there is no other", () => {
    const lines = textLines({ rewrite: 1, before: null, after: text("t.a", "t.b") });
    expect(lines.map((line) => [line.kind, line.old, line.now])).toEqual([
      ["same", 0, 1],
      ["same", 0, 2],
    ]);
  });

  it("folds what is far from a change, and opens it", () => {
    const far = Array.from({ length: 20 }, (_, i) => `t.x${i}`);
    const lines = textLines({
      rewrite: 1,
      before: text(...far, "t.a"),
      after: text(...far, "t.b"),
    });
    expect(lines.filter(isChanged)).toHaveLength(2);
    expect(shownLines(lines, false, new Set())[0]).toEqual({ folded: 17, at: 0 });
    expect(shownLines(lines, false, new Set([0]))).toHaveLength(22);
    expect(shownLines(lines, true, new Set())).toHaveLength(22);
  });
});

describe("texts that differ in most lines", () => {
  it("may have more lines than a call has arguments", () => {
    const lines = (name: string): string => `${name}\n`.repeat(200_000);
    const kinds = lineDiff(lines("old"), lines("new")).map((line) => line.kind);
    expect(kinds.filter((kind) => kind === "del")).toHaveLength(200_000);
    expect(kinds.filter((kind) => kind === "add")).toHaveLength(200_000);
  });

  it("keep the lines that occur once in both", () => {
    const before = Array.from({ length: 3000 }, (_, i) => (i % 10 ? `old ${i}` : `kept ${i}`));
    const after = Array.from({ length: 3000 }, (_, i) => (i % 10 ? `new ${i}` : `kept ${i}`));
    const lines = lineDiff(before.join("\n"), after.join("\n"));
    expect(lines.filter((line) => line.kind === "same")).toHaveLength(300);
    expect(lines.filter((line) => line.kind !== "add").map((line) => line.text)).toEqual(before);
    expect(lines.filter((line) => line.kind !== "del").map((line) => line.text)).toEqual(after);
  });
});

describe("the keys of the text", () => {
  it("move by lines and pages, and stay inside", () => {
    const after = (key: string, at: number) => cursorAfter(key, at, 100, 20);
    expect(["ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End"].map((k) => after(k, 50))).toEqual([
      51, 49, 70, 30, 0, 99,
    ]);
    expect([after("ArrowUp", 0), after("PageDown", 95), after("ArrowDown", -1)]).toEqual([0, 99, 0]);
  });

  it("leave other keys and empty texts alone", () => {
    expect(cursorAfter("ArrowLeft", 5, 100, 20)).toBeNull();
    expect(cursorAfter("ArrowDown", -1, 0, 20)).toBeNull();
  });
});
