/** What a memory holds at a moment, against allocations that are followed by hand. */
import { expect, test } from "vitest";
import { momentOf, momentPick, PEAK } from "../src/panels/timeline/data/alive";
import type { TimelineData } from "../src/data/messages/timeline";

/** x of 100 B is taken, then y of 50 by kernel k; x ends; y ends; what was there before ends. */
const data = (over: object = {}): TimelineData => ({
  version: 1,
  end: 10,
  names: ["", "k", "a.py:3 matmul\nb.py:4 add"],
  truncated: null,
  tracks: [
    { kind: "device", name: "CPU", process: 0, pid: 1, thread: 0, start: [], ns: [], names: [], bytes: [] },
    {
      ...{ kind: "memory", name: "CPU", process: 0, pid: 1, thread: 0 },
      start: [1, 1, 1, 1, 1],
      bytes: [107, 157, 57, 7, 0],
      numbers: [1, 2, 1, 2, 0],
      taken: [100, 50, 0, 0, 0],
      kernels: [0, 1, 0, 0, 0],
      lines: [0, 2, 0, 0, 0],
      ...over,
    },
  ],
});

test("at the peak are the allocations that have begun and not ended, largest first", () => {
  const m = momentOf(data(), PEAK)!;
  expect([m.device, m.time, m.bytes, m.peak, m.unknown]).toEqual(["CPU", 2, 157, true, 7]);
  expect(m.alive).toEqual([
    { bytes: 100, since: 1, kernel: "", lines: [] },
    { bytes: 50, since: 2, kernel: "k", lines: ["a.py:3 matmul", "b.py:4 add"] },
  ]);
});

test("an allocation that has ended is not there", () => {
  const m = momentOf(data(), momentPick(1, 2))!;
  expect([m.alive.map((one) => one.bytes), m.peak, m.unknown]).toEqual([[50], false, 7]);
  expect(momentOf(data(), momentPick(1, 4))!.alive).toEqual([]);
});

test("a trace that says sizes alone knows nothing of buffers, and says so", () => {
  const m = momentOf(data({ numbers: [0, 0, 0, 0, 0] }), PEAK)!;
  expect([m.alive, m.unknown]).toEqual([[], 157]);
});

test("no other pick is a moment", () => {
  for (const pick of [null, "m0.0", "m1.5", "m9.9", "l0.0", "e1", "n:peak"])
    expect(momentOf(data(), pick)).toBeNull();
});
