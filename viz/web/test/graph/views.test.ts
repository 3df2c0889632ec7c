import { beforeAll, describe, expect, it, vi } from "vitest";
import { Camera } from "../../src/graph/camera";
import { Labels } from "../../src/graph/labels";
import type { Pane } from "../../src/graph/pane";
import { Picture } from "../../src/graph/picture";
import type { Content } from "../../src/graph/scene";
import { Views } from "../../src/graph/views";
import { allSlots, layoutInputOf } from "../../src/model/around";
import { stepDiff } from "../../src/model/diff";
import { layout } from "../../src/model/layout/layered";
import { Replay } from "../../src/model/replay";
import { bundleOf, random } from "../model/fixtures";

const op = Array.from({ length: 120 }, () => "ADD");
const rand = random(5);
const b = bundleOf(
  { op, edges: op.slice(1).map((_, i): [number, number] => [Math.floor(rand() * (i + 1)), i + 1]) },
  12,
);
const before = new Replay(b);
const after = new Replay(b, before.timeline);
const slots = allSlots(before.timeline);
const picture = new Picture(before.timeline, slots, layout(layoutInputOf(before.timeline, slots)), 54);
const labels = new Labels(b);

function content(k: number): Content {
  before.goto(k - 1);
  after.goto(k);
  return { picture, labels, before, after, diff: stepDiff(before, after), part: null };
}

function views(width: number, height: number): { views: Views; camera: Camera } {
  const cameras = [0, 1].map(() => Object.assign(new Camera(), { width, height }));
  const panes = cameras.map((camera) => ({ camera })) as unknown as [Pane, Pane];
  return { views: new Views(panes, () => undefined), camera: cameras[1]! };
}

const inView = (c: Camera, s: number): boolean => {
  const v = c.rect();
  const [x, y] = [picture.x(s), picture.y(s)];
  return x > v.left && x < v.right && y > v.top && y < v.bottom;
};

beforeAll(() => {
  vi.stubGlobal("matchMedia", () => ({ matches: true }));
});

describe("views", () => {
  it("show everything where that can be read, else the change near", () => {
    const large = views(6000, 6000);
    large.views.content = content(3);
    large.views.home();
    expect(large.views.fitted).toBe(true);
    const usual = views(650, 560);
    usual.views.content = content(3);
    usual.views.home();
    expect(usual.views.fitted).toBe(false);
    expect(usual.camera.zoom).toBeGreaterThanOrEqual(0.85);
    expect(usual.camera.zoom).toBeLessThanOrEqual(1);
    expect(inView(usual.camera, b.steps[2]!.result)).toBe(true);
  });

  it("keep the zoom and bring every step's change into view, the result if it is new", () => {
    const { views: v, camera } = views(650, 560);
    v.content = content(1);
    v.home();
    const { zoom } = camera;
    let elsewhere = 0;
    for (let k = 1; k <= b.steps.length; k++) {
      v.content = content(k);
      v.reveal();
      const { diff } = v.content;
      const { slot, result } = b.steps[k - 1]!;
      if (!diff.nodes.has(result)) elsewhere++;
      expect(inView(camera, diff.nodes.has(result) ? result : slot)).toBe(true);
      expect(camera.zoom).toBe(zoom);
      const there = [camera.x, camera.y];
      v.reveal(); // it is in view now: nothing moves
      expect([camera.x, camera.y]).toEqual(there);
    }
    expect(elsewhere).toBeGreaterThan(0); // a match became a node that was there before
  });

  it("keep a change in view when the pane shrinks", () => {
    const { views: v, camera } = views(650, 560);
    v.content = content(4);
    v.home();
    v.zoomBy(1.01); // from now on the view is the reader's
    v.resized(() => (camera.height = 300));
    expect(inView(camera, b.steps[3]!.result)).toBe(true);
  });

  it("look again where they looked", () => {
    const { views: v, camera } = views(650, 560);
    v.content = content(2);
    v.home();
    expect(v.get()).toMatchObject({ slot: -1, rewrite: b.rewrite });
    camera.panBy(200, -120);
    v.zoomBy(1.2);
    const kept = v.get()!;
    const was = [camera.x, camera.y, camera.zoom];
    camera.panBy(-900, 500);
    v.put(kept);
    [camera.x, camera.y, camera.zoom].forEach((n, i) => expect(n).toBeCloseTo(was[i]!, 6));
    v.put({ ...kept, slot: 99_999 });
    expect(v.get()!.slot).toBe(-1);
  });
});
