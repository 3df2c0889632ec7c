// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from "vitest";

type Address = typeof import("../src/state/link/address");
let a: Address;
let camera: string;

beforeEach(async () => {
  vi.resetModules();
  history.replaceState(null, "", "/");
  a = await import("../src/state/link/address");
  a.rememberWith(() => camera);
  a.changeEntry();
});

/** The browser goes back or forward, as `popstate` tells the page. */
async function travel(by: number): Promise<void> {
  const there = new Promise((resolve) => addEventListener("popstate", resolve, { once: true }));
  history.go(by);
  await there;
  a.changeEntry();
  a.changeEntry(); // the `hashchange` that follows a `popstate`
}

describe("history", () => {
  it("looks where it looked, back and forward", async () => {
    camera = "first";
    a.pushAddress("#r=2", a.looking());
    camera = "second, moved since";
    await travel(-1);
    expect(location.hash).toBe("");
    expect(a.lookedHere()).toBe("first");
    camera = "first, moved since";
    await travel(1);
    expect(location.hash).toBe("#r=2");
    expect(a.lookedHere()).toBe("second, moved since");
    await travel(-1);
    expect(a.lookedHere()).toBe("first, moved since");
  });

  it("forgets entries that a jump has replaced", async () => {
    camera = "first";
    a.pushAddress("#r=2", a.looking());
    camera = "second";
    await travel(-1);
    a.pushAddress("#r=3", "first again");
    expect(a.lookedHere()).toBeNull();
    a.replaceAddress("#r=3&k=2");
    a.flushAddress();
    expect(location.hash).toBe("#r=3&k=2");
    camera = "third";
    await travel(-1);
    expect(a.lookedHere()).toBe("first again");
  });

  it("numbers an address that was typed", async () => {
    camera = "first";
    location.hash = "#r=9";
    await new Promise((resolve) => addEventListener("popstate", resolve, { once: true }));
    a.changeEntry();
    expect(a.lookedHere()).toBeNull();
    camera = "typed";
    await travel(-1);
    expect(a.lookedHere()).toBe("first");
    await travel(1);
    expect(a.lookedHere()).toBe("typed");
  });
});
