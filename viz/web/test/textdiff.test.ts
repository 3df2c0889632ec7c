import { describe, expect, it } from "vitest";
import { Replay } from "../src/model/replay";
import { graphText, textDiff } from "../src/panels/centre/textdiff";
import { bundleFor } from "./dev/fixture";
import { random } from "./dev/maker";

describe("text diff", () => {
  it("rebuilds both texts, whatever they are", () => {
    const rnd = random(20260504);
    for (let round = 0; round < 200; round++) {
      const all = Array.from({ length: 30 }, (_, i) => `line ${i}`);
      const pick = (): string[] =>
        all.filter(() => rnd() < 0.6).sort(() => (rnd() < 0.15 ? rnd() - 0.5 : 0));
      const [a, b] = [pick(), pick()];
      const diff = textDiff(a, b);
      expect(diff.filter((l) => l.kind !== "add").map((l) => l.text)).toEqual(a);
      expect(diff.filter((l) => l.kind !== "del").map((l) => l.text)).toEqual(b);
    }
  });

  it("keeps as much as can be kept", () => {
    const kept = textDiff(["a", "b", "c", "d"], ["b", "c", "d", "a"]).filter(
      (l) => l.kind === "same",
    );
    expect(kept.map((l) => l.text)).toEqual(["b", "c", "d"]);
  });

  it("has one line per node, every source above its user", () => {
    const replay = new Replay(bundleFor(7, undefined));
    for (const k of [0, 1, 40, 91]) {
      replay.goto(k);
      const lines = graphText(replay);
      expect(lines).toHaveLength(replay.count);
      const known = new Set<string>();
      for (const line of lines) {
        const [self, rest] = line.split(" = ");
        for (const used of rest!.match(/\bu\d+\b/g) ?? []) expect(known).toContain(used);
        known.add(self!);
      }
    }
  });
});
