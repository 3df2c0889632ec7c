/** The search of an exported file against the table of queries and hits that the server's tests have
 * too (tests/viz/views/search/test_shared.py). */
// @vitest-environment node
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { examine } from "../src/data/offline/examine";
import type { Message } from "../src/data/offline/examiner";
import { baseOf, FIRST_RUN, pathOf } from "../src/data/backend";
import { restored } from "../src/data/offline/dense";
import { OfflineSearch, type Held, type Part } from "../src/data/offline/search";
import { commutativeIn, isStructural } from "../src/data/offline/shape";
import { asNumber, casefold, first, splitLines } from "../src/data/offline/text";
import { unpack } from "../src/data/offline/unpack";
import { dialect } from "./dev/dialect";
import type { Row } from "../src/data/messages/run";
import type { SearchIndex, SearchResult } from "../src/data/messages/search";

interface Table {
  commutative: string[];
  entries: Record<string, string>;
  answers: [query: string, found: SearchResult][];
}

/** The run of a table as an exported file holds it. */
async function heldOf(table: Table): Promise<Held> {
  const places = new Map(
    Object.entries(table.entries).flatMap(([paths, packed]) =>
      paths.split(" ").map((path, at) => [path, { packed, at }] as const),
    ),
  );
  const answer = async (path: string): Promise<unknown> => {
    const { packed, at } = places.get(path)!;
    return (await unpack(packed))[at];
  };
  const parts = (paths: readonly string[]): { parts: Part[]; missing: number } => {
    const found = new Map<string, Part>();
    for (const path of paths) {
      const { packed, at } = places.get(path)!;
      if (!found.has(packed)) found.set(packed, { packed, at: [] });
      found.get(packed)!.at.push(at);
    }
    return { parts: [...found.values()], missing: 0 };
  };
  return {
    rows: ((await answer(`${BASE}/tree?since=0`)) as { rows: Row[] }).rows,
    index: (await answer(`${BASE}/search-index`)) as SearchIndex,
    commutative: table.commutative,
    pathOf: (what, number) => BASE + pathOf(what, number),
    parts,
  };
}

const BASE = baseOf(FIRST_RUN);
const read = (at: string | URL): Table => JSON.parse(readFileSync(at, "utf8")) as Table;
/** The table of another run can be named. */
const shared = read(process.env.UOPVIZ_SEARCH_TABLE ?? new URL("./data/search.json", import.meta.url));
const ofTexts = read(new URL("./data/search_texts.json", import.meta.url));

const run = vi.fn(async ({ packed, at, task }: Message) => {
  const items = await unpack(packed);
  return examine(
    task,
    at.map((place) => items[place]),
  );
});

const held = await heldOf(shared);
const heldTexts = await heldOf(ofTexts);

/** The whole answer, as the search box asks for it. */
async function whole(search: OfflineSearch, query: string): Promise<SearchResult> {
  for (;;) {
    const found = await search.search(query);
    if (!found.truncated) return found;
  }
}

describe("the search of an exported file", () => {
  const search = new OfflineSearch(held, { run });

  it("has a table that is worth something", () => {
    expect(shared.answers.length).toBeGreaterThan(100);
    expect(commutativeIn(dialect).sort()).toEqual(shared.commutative);
  });

  it.each(shared.answers)("finds for %j what the server finds", async (query, found) => {
    expect(await whole(search, query)).toEqual(found);
  });

  it.each(ofTexts.answers)("finds for %j in texts of passes what the server finds", async (query, found) => {
    expect(await whole(new OfflineSearch(heldTexts, { run }), query)).toEqual(found);
  });

  it("goes on where it stopped, and says how far it is", async () => {
    const clock = vi.spyOn(performance, "now");
    let time = 0;
    clock.mockImplementation(() => (time += 200));
    try {
      run.mockClear();
      const slow = new OfflineSearch({ ...held, parts: onePerAnswer }, { run });
      const [query, found] = shared.answers.find(([, { totals }]) => (totals.node ?? 0) > 9)!;
      const first = await slow.search(query);
      expect(first.truncated).toMatch(/^\d+% of the run searched so far\.$/);
      expect(first.total).toBeLessThan(found.total);
      expect(await whole(slow, query)).toEqual(found);
      const count = held.rows.filter((row) => row.kind === "rewrite").length;
      expect(run).toHaveBeenCalledTimes(count);
    } finally {
      clock.mockRestore();
    }
  });

  it("is given up with its signal", async () => {
    const stop = new AbortController();
    const waiting = { run: (_: Message, signal?: AbortSignal) => waitFor(signal!) };
    const given = new OfflineSearch(held, waiting).search("ADD(x, y)", stop.signal);
    stop.abort();
    await expect(given).rejects.toMatchObject({ name: "AbortError" });
  });

  it("says what the file does not have", async () => {
    const without = { ...held, parts: () => ({ parts: [], missing: 12 }) };
    const found = await new OfflineSearch(without, { run }).search("ADD(x, y)");
    expect(found.problem?.what).toBe("12 passes are not in this file as a whole");
    const old = new OfflineSearch({ ...held, index: null }, { run });
    expect((await whole(old, "simplify")).problem?.what).toMatch(/no index/);
    expect((await whole(old, "simplify")).totals.pass).toBeGreaterThan(0);
  });

  it("reads a pass of a stranger that is no graph", () => {
    const bundle = {
      ...{ version: 1, rewrite: 3, name: "x", context: 0, bottomUp: false, slots: 2, root: 0 },
      ...{ ops: ["A"], dtypes: [""], args: [], locs: [], tags: [], shapes: [], origins: [] },
      nodes: { id: [1, 2], op: [0, 0], dtype: [0, 0], arg: [-1, 7], src: [[1, 5], [0]] },
      initial: { slot: [0, 1], node: [0, 1], src: [[1], [0]] },
      steps: [{ after: 99, set: [[0, 99, []]] }],
      error: null,
      truncated: null,
    };
    const shape = { ops: ["a"], dtype: null, arg: null, src: null, rest: false, name: null, commutes: false };
    expect(examine({ kind: "structure", shape }, [bundle, undefined]).places).toHaveLength(1);
  });
});

/** As in a large file, where each pass has an entry of its own. */
function onePerAnswer(paths: readonly string[]): { parts: Part[]; missing: number } {
  return { parts: paths.flatMap((path) => held.parts([path]).parts), missing: 0 };
}

function waitFor(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as DOMException));
  });
}

describe("texts as Python reads them", () => {
  it("folds case one character at a time", () => {
    expect(casefold("ΑΣ Straße İx")).toBe(casefold("ας STRASSE i̇X"));
    expect(casefold("ΑΣ").includes("σ")).toBe(true);
  });

  it("reads numbers, and nothing else", () => {
    expect(["0.5", "1_000", " -inf ", "1e-3", ".5", "5."].map(asNumber)).toEqual([
      0.5,
      1000,
      -Infinity,
      0.001,
      0.5,
      5,
    ]);
    for (const text of ["", "0x10", "1__0", "True", "nan", "1e", "Infinity1"])
      expect(asNumber(text)).toBeNaN();
  });

  it("splits lines and cuts texts", () => {
    expect(splitLines("a\r\nb\x0cc\u2028d\n")).toEqual(["a", "b", "c", "d"]);
    expect(splitLines("")).toEqual([]);
    expect(first("😀😀😀", 2)).toBe("😀😀");
  });

  it("tells structures from texts", () => {
    for (const text of ["MUL(x, y)", "CONST 64", "CAST.half(x)", "_(x)", "ADD|SUB(", "MUL.(x)"])
      expect(isStructural(text), text).toBe(true);
    const texts = ["mul", "MUL", "r_32_10", "fma(", "a.py:64", "softmax 3", "DEFINE_VAR", "2 x"];
    for (const text of texts) expect(isStructural(text), text).toBe(false);
    expect(isStructural("mul(x, y)", ["MUL"])).toBe(true);
    expect(isStructural("fma(x, y)", ["MUL"])).toBe(false);
  });

  it("restores dense passes, and nothing else", () => {
    const file = new URL("./data/dense.json", import.meta.url);
    const { bundle, dense } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    expect(restored(dense)).toEqual(bundle);
    for (const answer of [null, 3, "text", [], { version: 1 }, bundle])
      expect(restored(answer)).toBe(answer);
    expect(() => restored({ version: 2 })).toThrow();
  });

  it("unpacks an entry", async () => {
    const packed = gzipSync(JSON.stringify([1, { a: "ä" }])).toString("base64");
    expect(await unpack(packed)).toEqual([1, { a: "ä" }]);
  });
});
