import { signal } from "@preact/signals";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { run } from "../src/state/state";
import { Watched } from "../src/state/watched";
import type { Run } from "../src/data/messages/run";
import { run as recorded } from "./dev/fixture";

let asked = 0;
const open = signal(true);
let fails = false;
let more = false;

function told(change: Partial<Run>): void {
  run.value = { ...recorded, ...change };
}

const watched = new Watched(
  "test",
  () => open.value,
  () => (fails ? Promise.reject(new Error("no")) : Promise.resolve(++asked)),
  () => more,
);
watched.start();

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  run.value = null;
  vi.useRealTimers();
});

const wait = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

describe("what a view asks", () => {
  it("is asked anew where what it is about changes before an answer has come", async () => {
    const about = signal("a");
    const answers: ((answer: string) => void)[] = [];
    const slow = new Watched<string>(
      "test",
      () => true,
      () => new Promise((resolve) => answers.push(resolve)),
      undefined,
      () => about.value,
    );
    told({ live: false });
    slow.start();
    await wait(0);
    about.value = "b";
    await wait(0);
    expect(answers.length).toBe(2);
    answers[0]!("of a");
    answers[1]!("of b");
    await wait(0);
    expect(slow.answer.value).toBe("of b");
  });

  it("is asked anew while the program runs, however often the run is heard of", async () => {
    asked = 0;
    for (let i = 0; i < 100; i++) {
      told({ live: true, seconds: i });
      await wait(100);
    }
    expect(asked).toBeGreaterThanOrEqual(5);
    expect(asked).toBeLessThanOrEqual(6);
  });

  it("is asked once more when the program has ended, and then no more", async () => {
    asked = 0;
    told({ live: true });
    await wait(50);
    told({ live: false });
    await wait(20_000);
    expect(asked).toBe(2);
    told({ live: false, started: "another" });
    await wait(20_000);
    expect(asked).toBe(3);
  });

  it("is not asked while the view is closed, nor over and over where it fails", async () => {
    asked = 0;
    open.value = false;
    told({ live: true });
    await wait(5000);
    expect(asked).toBe(0);
    fails = true;
    told({ live: false });
    open.value = true;
    await wait(5000);
    expect(watched.error.value?.what).toBe("no");
    fails = false;
    watched.retry();
    await wait(0);
    expect([asked, watched.error.value, watched.answer.value]).toEqual([1, null, 1]);
  });

  it("goes on with work that is not done", async () => {
    asked = 0;
    more = true;
    told({ live: false });
    await wait(1000);
    more = false;
    expect(asked).toBeGreaterThan(8);
  });
});
