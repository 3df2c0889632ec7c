import { describe, expect, it } from "vitest";
import { graphLink } from "../src/panels/centre/link";
import { rulesLink } from "../src/panels/rules/data/link";
import { timelineLink } from "../src/panels/timeline/data/link";
import { namingTrace, traceNamed } from "../src/state/link/named";
import { hashOf, Query } from "../src/state/link/query";
import { FIRST_VIEW, isJump, readView, writeView, type View } from "../src/state/link/view";

const view = (more: Partial<View>): View => ({ ...FIRST_VIEW, ...more });
const toHash = (of: View): string => hashOf((put) => writeView(of, put));
const fromHash = (hash: string): View => readView(new Query(hash));

describe("the trace in a link", () => {
  const page = "http://127.0.0.1:61000/";

  it("is named once, before what is looked at", () => {
    const link = namingTrace(`${page}#r=7&k=42`, "a b&c.viz");
    expect(link).toBe(`${page}#trace=a+b%26c.viz&r=7&k=42`);
    expect(namingTrace(link, "other.viz")).toBe(`${page}#trace=other.viz&r=7&k=42`);
    expect(traceNamed(new URL(link).hash)).toBe("a b&c.viz");
    expect(fromHash(new URL(link).hash)).toEqual(view({ rewrite: 7, step: 42, page: "graphs" }));
  });

  it("is not named by other addresses, and cut where a stranger made it long", () => {
    expect(traceNamed("")).toBe("");
    expect(traceNamed("#r=7&t=1_2")).toBe("");
    expect(traceNamed(`#trace=${"x".repeat(10_000)}`)).toHaveLength(200);
    const file = namingTrace(page, "x".repeat(10_000));
    expect(traceNamed(new URL(file).hash)).toHaveLength(200);
  });
});

describe("the view in a link", () => {
  it("says nothing about the default and comes back the same", () => {
    expect(toHash(FIRST_VIEW)).toBe("");
    expect(fromHash("")).toEqual(FIRST_VIEW);
    const full = view({
      rewrite: 7,
      step: 42,
      slot: 0,
      rule: 3,
      op: "DEFINE_GLOBAL",
      node: 12,
      tab: "node",
      uid: 124,
      page: "timeline",
    });
    expect(fromHash(toHash(full))).toEqual(full);
  });

  it("drops what a stranger made up", () => {
    const bad = "#r=-1&k=1e9&s=NaN&rule=99999999999999&op=a%20b&node=&tab=zz&__proto__=1&v=x&u=%00";
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
    expect(isJump(FIRST_VIEW, at)).toBe(false);
  });
});

describe("the panels' parts of a link", () => {
  const parts = [graphLink, timelineLink, rulesLink];
  const hash = (): string => hashOf((put) => parts.forEach((part) => part.write(put)));
  const read = (text: string): void => parts.forEach((part) => part.read(new Query(text)));
  const values = (): unknown[] => parts.map((part) => part.peek());

  it("say nothing about the default and come back the same", () => {
    read("");
    const first = values();
    expect(hash()).toBe("");
    graphLink.with({ mode: "merged", scope: "all" }).make();
    timelineLink.with({ time: [1.5, 2000], pick: "n:r_32 & co", marks: [3, 4.25] }).make();
    rulesLink.with({ sort: "matches", perPass: true, pass: "lower & co", never: true }).make();
    rulesLink.with({ query: "div mod" }).make();
    const full = values();
    const text = hash();
    read("");
    expect(values()).toEqual(first);
    read(text);
    expect(values()).toEqual(full);
  });

  it("drop what a stranger made up", () => {
    read("");
    const first = values();
    read("#m=%3Cscript%3E&g=x&t=5_1&i=%0A&mk=a_-1&o=%3C&by=1&in=%0A&only=1");
    expect(values()).toEqual(first);
  });

  it("jump only where the timeline shows something else that was picked", () => {
    read("#i=e4");
    expect(timelineLink.with({ pick: "e5" }).isJump).toBe(true);
    expect(timelineLink.with({ marks: [1] }).isJump).toBe(false);
    read("");
    expect(timelineLink.with({ pick: "e5" }).isJump).toBe(false);
  });
});
