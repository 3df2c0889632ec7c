import { beforeAll, describe, expect, it, vi } from "vitest";
import { Camera } from "../../src/graph/view/camera";
import { Labels } from "../../src/graph/picture/labels";
import type { Pane } from "../../src/graph/paint/pane";
import { Picture } from "../../src/graph/picture/picture";
import { joinRects, overlap, type Rect } from "../../src/graph/view/rect";
import type { Content } from "../../src/graph/picture/scene";
import { type Overlay, Views } from "../../src/graph/views";
import { allSlots, layoutInputOf } from "../../src/model/around/around";
import { stepDiff } from "../../src/model/diff";
import { layout } from "../../src/model/layered";
import { stepPairs } from "../../src/model/pair/statePairs";
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
const picture = new Picture(before.timeline, slots, layout(layoutInputOf(stepPairs(before.timeline), slots)), 54);
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
    expect(usual.camera.zoom).toBeGreaterThanOrEqual(0.5);
    expect(usual.camera.zoom).toBeLessThanOrEqual(0.85);
    const half = views(
      (picture.bounds.right - picture.bounds.left) / 2 + 40,
      (picture.bounds.bottom - picture.bounds.top) / 2 + 40,
    );
    half.views.content = content(3);
    half.views.home();
    expect(half.views.fitted).toBe(true);
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

  /** Lies in a corner of 200 x 150 px; says how often it was placed. */
  const overlay = (camera: Camera): Overlay & { settled: number; corner: number } => ({
    settled: 0,
    corner: 0,
    settle(boxes) {
      this.settled++;
      const free = [0, 1, 2, 3].findIndex(
        (c) => !boxes.some((b) => overlap(b, rectAt(c, camera))),
      );
      this.corner = Math.max(0, free);
    },
    rect() {
      return rectAt(this.corner, camera);
    },
  });
  const rectAt = (corner: number, { width, height }: Camera): Rect => {
    const left = corner & 1 ? width - 200 : 0;
    const top = corner & 2 ? height - 150 : 0;
    return { left, top, right: left + 200, bottom: top + 150 };
  };

  it("are never covered where the change is, and what covers them stays in its corner", () => {
    const cameras = [0, 1].map(() => Object.assign(new Camera(), { width: 650, height: 560 }));
    const panes = cameras.map((camera) => ({ camera })) as unknown as [Pane, Pane];
    const map = overlay(cameras[1]!);
    const v = new Views(panes, () => undefined, map);
    v.content = content(1);
    v.home();
    const { corner } = map;
    expect(map.settled).toBe(1);
    let small = 0;
    for (let k = 1; k <= b.steps.length; k++) {
      v.content = content(k);
      v.reveal();
      const boxes = v.important().map((r) => cameras[1]!.toScreen(r));
      const all = joinRects(boxes)!;
      if (all.right - all.left > 430 && all.bottom - all.top > 390) continue; // no room anywhere
      small++;
      for (const box of boxes) {
        if (box.right < 0 || box.left > 650 || box.bottom < 0 || box.top > 560) continue;
        expect(overlap(box, map.rect(cameras[1]!)!), `step ${k}`).toBe(false);
      }
    }
    expect(small).toBeGreaterThan(3);
    expect([map.settled, map.corner]).toEqual([1, corner]);
  });

  it("keep both ends of every changed edge in view where there is room for them", () => {
    const { views: v, camera } = views(1400, 1100);
    v.content = content(1);
    v.home();
    v.zoomBy(0.5 / camera.zoom);
    let edges = 0;
    for (let k = 1; k <= b.steps.length; k++) {
      v.content = content(k);
      v.reveal();
      const { diff } = v.content;
      const t = picture.timeline;
      const ends = [...diff.after.keys(), ...diff.before.keys()].flatMap((e) => [
        t.edgeSrc[e]!,
        t.edgeUser[e]!,
      ]);
      const xs = ends.map((s) => picture.x(s));
      const ys = ends.map((s) => picture.y(s));
      const [w, h] = [Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys)];
      if (!ends.length || w + 300 > 1400 / 0.5 || h + 200 > 1100 / 0.5) continue;
      edges += ends.length / 2;
      for (const s of ends) expect(inView(camera, s), `step ${k}`).toBe(true);
    }
    expect(edges).toBeGreaterThan(10);
  });
});
