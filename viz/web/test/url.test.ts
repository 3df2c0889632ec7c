import { describe, expect, it } from "vitest";
import { FIRST_VIEW, fromHash, isJump, toHash, type View } from "../src/state/link/view";

const view = (more: Partial<View>): View => ({ ...FIRST_VIEW, ...more });

describe("address", () => {
  it("says nothing about the default and comes back the same", () => {
    expect(toHash(FIRST_VIEW)).toBe("");
    expect(fromHash("")).toEqual(FIRST_VIEW);
    const full = view({
      rewrite: 7,
      step: 42,
      slot: 0,
      mode: "merged",
      scope: "all",
      rule: 3,
      op: "DEFINE_GLOBAL",
      node: 12,
      tab: "node",
      uid: 124,
      page: "timeline",
      time: [1.5, 2000],
      pick: "n:r_32 & co",
      marks: [3, 4.25],
      sort: "matches",
      perPass: true,
      pass: "lower & co",
      never: true,
      query: "div mod",
    });
    expect(fromHash(toHash(full))).toEqual(full);
  });

  it("drops what a stranger made up", () => {
    const bad =
      "#r=-1&k=1e9&s=NaN&m=%3Cscript%3E&g=x&rule=99999999999999&op=a%20b&node=&tab=zz&__proto__=1&v=x&t=5_1&i=%0A&mk=a_-1&o=%3C&by=1&in=%0A&only=1";
    expect(fromHash(bad)).toEqual(FIRST_VIEW);
  });

  it("makes history entries of jumps, not of single steps", () => {
    const at = view({ rewrite: 7, step: 4 });
    expect(isJump(at, { ...at, step: 5 })).toBe(false);
    expect(isJump(at, { ...at, step: 9 })).toBe(true);
    expect(isJump(at, { ...at, rewrite: 8 })).toBe(true);
    expect(isJump(at, { ...at, rule: 1 })).toBe(true);
    expect(isJump(at, { ...at, slot: 3 })).toBe(false);
    expect(isJump(at, { ...at, page: "rules" })).toBe(true);
    expect(isJump({ ...at, page: "timeline" }, { ...at, page: "timeline", marks: [1] })).toBe(
      false,
    );
    expect(isJump(FIRST_VIEW, at)).toBe(false);
  });
});
