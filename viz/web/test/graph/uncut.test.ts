import { describe, expect, it } from "vitest";
import type { Rect } from "../../src/graph/view/rect";
import { uncut } from "../../src/graph/view/uncut";
import { random } from "../model/fixtures";

const box = (left: number, top: number): Rect => ({ left, right: left + 80, top, bottom: top + 30 });
const whole: Rect = { left: 150, right: 250, top: 150, bottom: 180 };

/** How many of the boxes between top and bottom the left or the right border cuts. */
function cutSideways(boxes: readonly Rect[], dx: number): number {
  return boxes.filter((b) => {
    const [l, r] = [b.left + dx, b.right + dx];
    return b.bottom > 0 && b.top < 300 && ((l < 0 && r > 0) || (l < 400 && r > 400));
  }).length;
}

describe("uncut", () => {
  it("leaves a view alone that cuts nothing", () => {
    expect(uncut(400, 300, [box(10, 10), box(310, 260)], whole)).toEqual({ dx: 0, dy: 0 });
  });

  it("moves as little as makes cut boxes whole", () => {
    expect(uncut(400, 300, [box(-20, 10), box(150, 150)], whole)).toEqual({ dx: 20, dy: 0 });
    expect(uncut(400, 300, [box(150, 280)], whole)).toEqual({ dx: 0, dy: -10 });
  });

  it("never gives up what has to stay in view", () => {
    const keep: Rect = { left: 0, right: 395, top: 0, bottom: 300 };
    expect(uncut(400, 300, [box(-20, 10), box(150, 280)], keep)).toEqual({ dx: 0, dy: 0 });
  });

  it("never cuts more than before, whatever lies there", () => {
    const rand = random(11);
    for (let i = 0; i < 200; i++) {
      const boxes = Array.from({ length: 20 }, () => box(rand() * 700 - 150, rand() * 500 - 100));
      const { dx, dy } = uncut(400, 300, boxes, whole);
      const [after, before] = [cutSideways(boxes, dx), cutSideways(boxes, 0)];
      expect(after, `seed 11, case ${i}`).toBeLessThanOrEqual(before);
      expect(whole.left + dx).toBeGreaterThanOrEqual(0);
      expect(whole.right + dx).toBeLessThanOrEqual(400);
      expect(whole.top + dy).toBeGreaterThanOrEqual(0);
      expect(whole.bottom + dy).toBeLessThanOrEqual(300);
    }
  });
});
