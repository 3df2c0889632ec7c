import { describe, expect, it } from "vitest";
import { Camera, MAX_ZOOM } from "../../src/graph/view/camera";
import { Labels } from "../../src/graph/picture/labels";
import { Picture } from "../../src/graph/picture/picture";
import type { Rect } from "../../src/graph/view/rect";
import { Scene } from "../../src/graph/picture/scene";
import { inSlices } from "../../src/graph/picture/slices";
import { walkFrom } from "../../src/graph/walk";
import { allSlots, layoutInputOf } from "../../src/model/around/around";
import { stepDiff } from "../../src/model/diff";
import { BOX_H, BOX_W, layout } from "../../src/model/layered";
import { stepPairs } from "../../src/model/pair/statePairs";
import { Replay } from "../../src/model/replay";
import { bundleOf, designBundle, random } from "../model/fixtures";

function grid(): Picture {
  const op = Array.from({ length: 300 }, () => "ADD");
  const rand = random(9);
  const edges = op.slice(1).flatMap((_, i): [number, number][] => [
    [Math.floor(rand() * (i + 1)), i + 1],
    [Math.max(0, i - Math.floor(rand() * 5)), i + 1],
  ]);
  const t = new Replay(bundleOf({ op, edges }, 20)).timeline;
  const slots = allSlots(t);
  return new Picture(t, slots, layout(layoutInputOf(stepPairs(t), slots)), 60);
}

const all = (): boolean => true;

describe("picture", () => {
  const picture = grid();
  const { bounds } = picture;
  const rand = random(4);
  const rects: Rect[] = Array.from({ length: 40 }, () => {
    const left = bounds.left + rand() * (bounds.right - bounds.left);
    const top = bounds.top + rand() * (bounds.bottom - bounds.top);
    return { left, top, right: left + rand() * 900, bottom: top + rand() * 500 };
  });

  it("finds exactly the boxes that touch a rectangle", () => {
    for (const rect of rects) {
      const found: number[] = [];
      picture.visit(rect, (s) => found.push(s));
      const plain = [...picture.slots].filter(
        (s) =>
          Math.abs(picture.x(s) - (rect.left + rect.right) / 2) <= (rect.right - rect.left + BOX_W) / 2 &&
          Math.abs(picture.y(s) - (rect.top + rect.bottom) / 2) <= (rect.bottom - rect.top + BOX_H) / 2,
      );
      expect(found.sort((a, b) => a - b)).toEqual(plain);
    }
  });

  it("finds every edge whose course touches a rectangle", () => {
    const t = picture.timeline;
    for (const rect of rects) {
      const found = new Set<number>();
      picture.visitEdges(rect, (e) => found.add(e));
      for (let e = 0; e < t.edgeSrc.length; e++) {
        if (picture.stub[e]) continue;
        const inside: boolean[] = [];
        const put = (x: number, y: number): void =>
          void inside.push(x > rect.left && x < rect.right && y > rect.top && y < rect.bottom);
        picture.trace(
          { moveTo: put, lineTo: put, bezierCurveTo: (_a, _b, _c, _d, x, y) => put(x, y) }, e, 0, 1,
        );
        if (inside.includes(true)) expect(found.has(e)).toBe(true);
      }
    }
  });

  it("knows which box a point is in", () => {
    for (const s of picture.slots) {
      const only = (t: number): boolean => t === s;
      expect(picture.at(picture.x(s), picture.y(s), 0, only)).toBe(s);
      expect(picture.at(picture.x(s) + BOX_W / 2 - 1, picture.y(s) + BOX_H / 2 - 1, 0, only)).toBe(s);
      expect(picture.at(picture.x(s), picture.y(s) + BOX_H / 2 + 2, 0, all)).toBe(-1);
    }
    expect(picture.at(-9e6, 0, 0, all)).toBe(-1);
    expect(picture.at(0, 9e6, 0, all)).toBe(-1);
  });
});

describe("scene", () => {
  const b = designBundle();
  const before = new Replay(b);
  const after = new Replay(b, before.timeline);
  after.goto(1);
  const slots = allSlots(before.timeline);
  const picture = new Picture(before.timeline, slots, layout(layoutInputOf(stepPairs(before.timeline), slots)), 60);
  const content = {
    picture, labels: new Labels(b), before, after, diff: stepDiff(before, after), part: null,
  };
  const [step] = b.steps;
  const states = (side: "before" | "after" | "merged"): string[] =>
    [step!.removed[0]!, step!.added[0]!, step!.moved[0]!, b.root].map((s) => new Scene(side, content).state(s));

  it("gives every pane its own view of a change", () => {
    expect(states("before")).toEqual(["removed", "ghost", "moved", "same"]);
    expect(states("after")).toEqual(["ghost", "added", "moved", "same"]);
    expect(states("merged")).toEqual(["removed", "added", "moved", "same"]);
  });

  it("walks to sources, users and neighbours, never to what is not there", () => {
    const scene = new Scene("after", content);
    const moved = step!.moved[0]!;
    const up = walkFrom(scene, moved, "k")!;
    expect(after.srcOf(moved)).toContain(up);
    expect(after.usersOf(moved)).toContain(walkFrom(scene, moved, "j"));
    expect(walkFrom(scene, b.root, "j")).toBeNull();
    for (const s of after.slots())
      for (const d of ["h", "j", "k", "l"] as const) {
        const to = walkFrom(scene, s, d);
        if (to !== null) expect(after.has(to)).toBe(true);
      }
  });

  it("writes labels that fit their box", () => {
    const labels = new Labels(b);
    for (let c = 0; c < b.nodes.id.length; c++) {
      const l = labels.of(c);
      expect(l.op.length + (l.arg ? l.arg.length + 1 : 0)).toBeLessThanOrEqual(14);
      expect(l.detail.length * 6.6 + l.ranges.join(" ").length * 6.3).toBeLessThanOrEqual(104);
    }
    const load = labels.of(after.nodeOf(18));
    expect([load.op, load.detail, load.ranges.join(" ")]).toEqual(["LOAD", "float32", "g0 l1 r2"]);
  });
});

describe("devices of nodes", () => {
  /** Second lines of some loads that are on these devices. */
  const on = (...devices: string[]): string[] => {
    const b = designBundle();
    const loads = b.nodes.id.map((_, c) => c).filter((c) => b.ops[b.nodes.op[c]!] === "LOAD");
    b.devices = [...new Set(devices)].filter((d) => d);
    b.nodes.device = b.nodes.id.map((_, c) => b.devices!.indexOf(devices[loads.indexOf(c)] ?? ""));
    const labels = new Labels(b);
    return devices.map((_, i) => labels.of(loads[i]!).detail);
  };

  it("are on the boxes where they differ", () => {
    const plain = on("", "");
    expect(on("CPU", "CPU")).toEqual(plain);
    const [first, second] = on("CPU", "CPU and CPU:1, cut along axis 0");
    expect(first).toMatch(/^CPU fl/);
    expect(second).toMatch(/^2 dev/);
    expect(on("CPU", "CPU:1")[1]).toMatch(/^CPU:1/);
  });
});

describe("camera", () => {
  const camera = (): Camera => Object.assign(new Camera(), { width: 800, height: 600 });

  it("keeps the point under the pointer when zooming, within limits", () => {
    const c = camera();
    const at = c.toWorld(300, 200);
    c.zoomAt(1.7, 300, 200);
    expect(c.toWorld(300, 200)[0]).toBeCloseTo(at[0]);
    expect(c.toWorld(300, 200)[1]).toBeCloseTo(at[1]);
    c.zoomAt(1e9, 0, 0);
    expect(c.zoom).toBe(MAX_ZOOM);
  });

  it("fits a rectangle, but does not magnify a small one", () => {
    const c = camera();
    const big = { left: -1000, top: 0, right: 3000, bottom: 500 };
    c.set(c.fitting(big));
    expect(c.shows(big)).toBe(true);
    expect(c.fitting({ left: 0, top: 0, right: 10, bottom: 10 }).zoom).toBe(1.08);
  });

  it("shows no emptiness on one side while content goes on beyond the other", () => {
    const c = camera();
    const all = { left: 0, top: 0, right: 2000, bottom: 100 };
    c.set(c.around({ left: 0, top: 0, right: 100, bottom: 50 }, all, 1));
    expect(c.rect().left).toBe(-16);
    expect(c.rect().top).toBe(50 - 300);
    c.set(c.around({ left: 1900, top: 0, right: 2000, bottom: 50 }, all, 1));
    expect(c.rect().right).toBe(2016);
  });

  it("travels in 240 ms and not at all under reduced motion", () => {
    const c = camera();
    c.travel({ x: 100, y: 50, zoom: 2 }, 0, true);
    expect(c.step(120)).toBe(true);
    expect(c.travelling).toBe(true);
    expect(c.zoom).toBeGreaterThan(1);
    c.step(240);
    expect([c.x, c.y, c.zoom, c.travelling]).toEqual([100, 50, 2, false]);
    c.travel({ x: 0, y: 0, zoom: 1 }, 0, false);
    expect([c.x, c.zoom, c.travelling]).toEqual([0, 1, false]);
  });
});

describe("slices", () => {
  function* work(): Generator<number, string> {
    yield 0.5;
    return "done";
  }

  it("gives the result and stops when nobody wants it", async () => {
    const heard: number[] = [];
    expect(await inSlices(work(), new AbortController().signal, (s) => heard.push(s))).toBe("done");
    expect(heard).toEqual([0.5]);
    await expect(inSlices(work(), AbortSignal.abort(), () => undefined)).rejects.toThrow("cancelled");
  });
});
