// @vitest-environment jsdom
import { beforeAll, describe, expect, it, vi } from "vitest";

// jsdom has no media queries; the theme asks for one when it loads.
beforeAll(() => {
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined }));
});

const press = (key: string, more: Partial<KeyboardEvent> = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...more,
});

describe("keys", () => {
  it("have one name per press, whatever the layout needs Shift for", async () => {
    const { keyName } = await import("../src/shell/keys");
    expect(keyName(press("n"))).toBe("N");
    expect(keyName(press("N", { shiftKey: true }))).toBe("Shift N");
    expect(keyName(press("?", { shiftKey: true }))).toBe("?");
    expect(keyName(press("{", { shiftKey: true }))).toBe("{");
    expect(keyName(press("k", { metaKey: true }))).toBe("Ctrl K");
    expect(keyName(press("F6", { shiftKey: true }))).toBe("Shift F6");
    expect(keyName(press("ArrowLeft", { altKey: true }))).toBe("Alt ArrowLeft");
  }, 30_000);

  it("name every command at most once", async () => {
    const { commands } = await import("../src/shell/commands");
    const { isOn } = await import("../src/parts/command");
    const { PAGES } = await import("../src/state/link/view");
    for (const page of PAGES) {
      const keys = commands.filter((c) => isOn(c, page)).flatMap((c) => c.keys);
      expect(new Set(keys).size).toBe(keys.length);
    }
    expect(new Set(commands.map((c) => c.id)).size).toBe(commands.length);
    expect(new Set(commands.map((c) => c.title)).size).toBe(commands.length);
  });

  it.each([
    ["theme", "theme"],
    ["dark mode", "theme"],
    ["share", "link"],
    ["bug report", "export"],
    ["shortcuts", "keys"],
    ["settings", "letters"],
    ["bisect", "bisect-run"],
    ["verify", "check"],
    ["bank conflicts", "emulator-conflict"],
    ["allocated", "tl-peak"],
    ["memory", "tl-peak"],
    ["dump", "text"],
    ["bookmark", "next-mark"],
  ])("are found by %s, too", async (phrase, id) => {
    const { commands } = await import("../src/shell/commands");
    const said = (c: (typeof commands)[number]): string =>
      `${c.title} ${c.words ?? ""}`.toLowerCase();
    const found = commands.filter((c) => phrase.split(" ").every((word) => said(c).includes(word)));
    expect(found.map((c) => c.id)).toContain(id);
  });

  it("leave out single letters when these are turned off", async () => {
    const { commandFor } = await import("../src/shell/keys");
    expect(commandFor("N", true)?.id).toBe("match");
    expect(commandFor("N", false)).toBeUndefined();
    expect(commandFor("Shift N", false)).toBeUndefined();
    expect(commandFor("?", false)).toBeUndefined();
    expect(commandFor("ArrowRight", false)?.id).toBe("next");
    expect(commandFor("Ctrl K", false)?.id).toBe("palette");
    expect(commandFor("B", true, "timeline")?.group).toBe("Timeline");
    expect(commandFor("B", true, "rules")).toBeUndefined();
  });

  it("are forty at most, each once in the table", async () => {
    const { BROWSER_KEYS, KEY_ROWS } = await import("../src/parts/keyTable");
    const all = KEY_ROWS.flatMap((row): readonly string[] => row.keys);
    expect(new Set(all).size).toBe(all.length);
    expect(all.length).toBeLessThanOrEqual(40);
    expect(BROWSER_KEYS).toEqual(["F6", "Shift F6", "Alt ArrowLeft", "Alt ArrowRight"]);
  });

  it("that a text names do something where the text stands", async () => {
    const { commandFor } = await import("../src/shell/keys");
    const { PAGES } = await import("../src/state/link/view");
    const { hints } = await import("./keyHints");
    const found = hints();
    expect(found.length).toBeGreaterThan(40);
    const stale = found.filter(({ key, page }) =>
      (page ? [page] : PAGES).every((one) => !commandFor(key, true, one)),
    );
    expect(stale).toEqual([]);
  });

  it("of the table have a command in some view", async () => {
    const { commands } = await import("../src/shell/commands");
    const { KEY_ROWS } = await import("../src/parts/keyTable");
    const given = new Set<string>(commands.flatMap((c) => c.keys));
    expect(KEY_ROWS.flatMap((row) => row.keys).filter((key) => !given.has(key))).toEqual([]);
  });
});
