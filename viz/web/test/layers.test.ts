import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { PAGES } from "../src/state/link/view";

/** The rooms of the page from the bottom up: each may use itself and those before it. */
const ROOMS = ["data", "webgpu", "model", "graph", "state", "ui", "parts", "panels", "shell"];
/** Panels that may use another one: none. */
const BETWEEN_PANELS: readonly string[] = [];
/** A folder is a room that a reader can hold. */
const MOST_FILES = 12;
/** Rooms inside a room, from the bottom up; "" is the room itself. */
const INSIDE: Readonly<Record<string, readonly string[]>> = {
  data: ["messages", "offline", "", "server"],
  webgpu: ["values", "device", ""],
  graph: ["view", "picture", "paint", ""],
};

const SRC = join(import.meta.dirname, "../src");

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)],
  );
}

const files = filesBelow(SRC)
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => relative(SRC, file));

function resolved(from: string, to: string): string | undefined {
  const base = normalize(join(dirname(from), to));
  return ["", ".ts", ".tsx", "/index.ts"]
    .map((ending) => base + ending)
    .find((path) => files.includes(path));
}

/** What each file imports of the page itself. */
const imports = new Map(
  files.map((file) => {
    const text = readFileSync(join(SRC, file), "utf8");
    const found = [...text.matchAll(/(?:from|import|new URL\()\s*"(\.[^"]+)"/g)];
    return [file, found.flatMap(([, to]) => resolved(file, to!) ?? [])];
  }),
);

const roomOf = (file: string): string => file.split("/")[0]!;
const panelOf = (file: string): string | null => /^panels\/([^/]+)\//.exec(file)?.[1] ?? null;
const edges = [...imports].flatMap(([from, all]) => all.map((to) => [from, to] as const));

describe("the rooms of the page", () => {
  it("are all listed", () => {
    const rooms = readdirSync(SRC).filter((name) => statSync(join(SRC, name)).isDirectory());
    expect(rooms.filter((room) => room !== "style").sort()).toEqual([...ROOMS].sort());
  });

  it("import downwards only", () => {
    const up = edges.filter(
      ([from, to]) =>
        from !== "main.tsx" && ROOMS.indexOf(roomOf(from)) < ROOMS.indexOf(roomOf(to)),
    );
    expect(up).toEqual([]);
  });

  it("have rooms inside that import downwards, too", () => {
    const insideOf = (file: string): string =>
      file.split("/").length > 2 ? file.split("/")[1]! : "";
    for (const [room, order] of Object.entries(INSIDE)) {
      const own = edges.filter(([from, to]) => roomOf(from) === room && roomOf(to) === room);
      const named = files.filter((file) => roomOf(file) === room).map(insideOf);
      expect(new Set(named), room).toEqual(new Set(order));
      const up = own.filter(
        ([from, to]) => order.indexOf(insideOf(from)) < order.indexOf(insideOf(to)),
      );
      expect(up, room).toEqual([]);
    }
  });

  it("keep panels apart", () => {
    const across = edges.filter(([from, to]) => {
      const [a, b] = [panelOf(from), panelOf(to)];
      return a !== null && b !== null && a !== b && !BETWEEN_PANELS.includes(`${a} ${b}`);
    });
    expect(across).toEqual([]);
  });

  it("have no circles between files", () => {
    expect(circles(imports)).toEqual([]);
  });

  it("do not import each other, folder by folder", () => {
    const apart = edges.filter(([from, to]) => dirname(from) !== dirname(to));
    const ways = new Set(apart.map(([from, to]) => `${dirname(from)} ${dirname(to)}`));
    const back = (way: string): string => way.split(" ").reverse().join(" ");
    expect([...ways].filter((way) => way < back(way) && ways.has(back(way)))).toEqual([]);
  });

  it("stay small", () => {
    const sizes = new Map<string, number>();
    for (const file of files) sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1);
    const large = [...sizes].filter(([, n]) => n > MOST_FILES);
    expect(large).toEqual([]);
  });
});

describe("a panel", () => {
  const panels = readdirSync(join(SRC, "panels"));

  it("declares itself in one file, which the list of panels alone imports", () => {
    for (const panel of panels) {
      const declared = `panels/${panel}/panel.ts`;
      expect(files, panel).toContain(declared);
      const users = edges.filter(([, to]) => to === declared).map(([from]) => from);
      expect(new Set(users), panel).toEqual(new Set(["shell/panels.ts"]));
    }
  });

  it("is known to no other room by name, but to the list of panels", () => {
    const outside = edges.filter(([from, to]) => panelOf(to) !== null && panelOf(from) === null);
    expect(new Set(outside.map(([from]) => from))).toEqual(new Set(["shell/panels.ts"]));
  });
});

/** Files that lead back to themselves, each as the way there. Depth-first, without recursion. */
function circles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const done = new Set<string>();
  const found: string[][] = [];
  for (const root of graph.keys()) {
    const path: { file: string; next: number }[] = [{ file: root, next: 0 }];
    while (path.length) {
      const top = path.at(-1)!;
      const to = done.has(top.file) ? undefined : graph.get(top.file)?.[top.next++];
      if (to === undefined) {
        done.add(top.file);
        path.pop();
        continue;
      }
      const at = path.findIndex(({ file }) => file === to);
      if (at >= 0) found.push(path.slice(at).map(({ file }) => file));
      else if (!done.has(to)) path.push({ file: to, next: 0 });
    }
  }
  return found;
}

describe("a page", () => {
  it("is named outside its panel by the list of pages and by links alone", () => {
    // The first page is also what a link without a page means; the graphs are a frame of panels.
    for (const page of PAGES.slice(2)) {
      const naming = files.filter((file) =>
        readFileSync(join(SRC, file), "utf8").includes(`"${page}"`),
      );
      const own = naming.filter((file) => files.includes(`panels/${panelOf(file)}/panel.ts`));
      expect(own.length, page).toBeGreaterThan(0);
      const others = naming.filter((file) => !own.includes(file));
      expect(others, page).toContain("state/link/view.ts");
      const links = ["state/link/links.ts", "state/link/view.ts"];
      expect(
        others.filter((file) => !links.includes(file)),
        page,
      ).toEqual([]);
    }
  });
});

describe("the search for circles", () => {
  it("finds one, and none where there is none", () => {
    const graph = new Map([
      ["a", ["b", "c"]],
      ["b", ["c"]],
      ["c", ["d"]],
      ["d", []],
    ]);
    expect(circles(graph)).toEqual([]);
    expect(circles(new Map([...graph, ["d", ["b"]]]))).toEqual([["b", "c", "d"]]);
  });
});
