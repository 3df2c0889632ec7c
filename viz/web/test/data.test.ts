// @vitest-environment jsdom
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { FORGOTTEN_MS } from "../src/data/server/ahead";
import {
  asProblem,
  baseOf,
  DataError,
  pathOf,
  RUNS,
  type ServerActions,
} from "../src/data/backend";
import { embeddedBackend } from "../src/data/embedded";
import { httpBackend } from "../src/data/server/http";
import { follow } from "../src/data/jobs";
import type { Job } from "../src/data/messages/job";
import { rows, rules, run } from "./dev/fixture";

const json = (body: unknown, status = 200): Response =>
  new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });

describe("http", () => {
  const token = (): string => "secret";

  it("asks relative to the page and sends its token", async () => {
    const fetcher = vi.fn(() => Promise.resolve(json({ rows: [], total: 3 })));
    const backend = httpBackend(token, "", fetcher).of("B");
    expect(await backend.tree(3)).toEqual({ rows: [], total: 3 });
    expect(fetcher).toHaveBeenCalledWith(
      "api/B/tree?since=3",
      expect.objectContaining({ headers: { "X-Uopviz-Token": "secret" } }),
    );
    await backend.search("a b&c", new AbortController().signal);
    expect(fetcher).toHaveBeenLastCalledWith("api/B/search?q=a%20b%26c", expect.anything());
    await backend.server!.open("a.py", 3);
    expect(fetcher).toHaveBeenLastCalledWith(
      "api/B/open",
      expect.objectContaining({
        headers: { "Content-Type": "application/json", "X-Uopviz-Token": "secret" },
      }),
    );
  });

  it("asks for the first answers at once, and gives each once", async () => {
    vi.useFakeTimers();
    let asked = 0;
    const fetcher = vi.fn(() => Promise.resolve(json({ rows: [], total: ++asked })));
    const first = [pathOf("tree", 0), pathOf("bundle", 7)].map((path) => baseOf("A") + path);
    const backend = httpBackend(token, "", fetcher, first).of("A");
    expect(fetcher).toHaveBeenCalledTimes(2);
    expect(await backend.tree(0)).toMatchObject({ total: 1 });
    expect(fetcher).toHaveBeenCalledTimes(2);
    expect(await backend.tree(0)).toMatchObject({ total: 3 });
    vi.advanceTimersByTime(FORGOTTEN_MS);
    expect(await backend.bundle(7)).toMatchObject({ total: 4 });
    vi.useRealTimers();
  });

  it("tells who asks first why a first answer failed", async () => {
    const error = { what: "no such pass", where: "rewrite 9", hint: "choose another" };
    const reply = () => Promise.resolve(json({ error }, 404));
    const backend = httpBackend(token, "", reply, [baseOf("A") + pathOf("bundle", 9)]).of("A");
    await expect(backend.bundle(9)).rejects.toMatchObject(error);
  });

  it("exports by a job, and gets its file", async () => {
    const fetcher = vi.fn((path: string) =>
      Promise.resolve(path === "api/export" ? json({ job: 5 }) : new Response("<!doctype html>")),
    );
    const { server } = httpBackend(token, "", fetcher as unknown as typeof fetch).of("A");
    expect(await server!.exportRun({ kernels: [3, 9], redact: true, values: false, passes: false })).toBe(5);
    expect(fetcher).toHaveBeenLastCalledWith(
      "api/export",
      expect.objectContaining({
        method: "POST",
        body: '{"runs":["A"],"kernels":[3,9],"redact":true,"values":false,"passes":false}',
      }),
    );
    await server!.exportRun({ kernels: [], redact: false, values: true, passes: true }, ["C"]);
    expect(fetcher).toHaveBeenLastCalledWith(
      "api/export",
      expect.objectContaining({
        body: '{"runs":["A","C"],"kernels":[],"redact":false,"values":true,"passes":true}',
      }),
    );
    expect((await server!.exportedFile(5, new AbortController().signal)).size).toBe(15);
    expect(fetcher).toHaveBeenLastCalledWith("api/export/5", expect.anything());
  });

  it("keeps runs apart, opens one and closes one", async () => {
    const fetcher = vi.fn((path: string) => Promise.resolve(json({ path, run: "B" })));
    const backend = httpBackend(token, "", fetcher as unknown as typeof fetch);
    expect(backend.of("A")).toBe(backend.of("A"));
    expect(await backend.of("A").overview()).toMatchObject({ path: "api/A/overview" });
    expect(await backend.of("B").overview()).toMatchObject({ path: "api/B/overview" });
    await backend.of("B").server!.openFormer();
    expect(fetcher).toHaveBeenLastCalledWith("api/B/traces/open", expect.anything());
    expect(await backend.runs()).toMatchObject({ path: "api/runs" });
    expect(await backend.server!.openRun("b.viz")).toBe("B");
    expect(fetcher).toHaveBeenLastCalledWith(
      "api/runs",
      expect.objectContaining({ method: "POST", body: '{"name":"b.viz"}' }),
    );
    await backend.server!.closeRun("B");
    expect(fetcher).toHaveBeenLastCalledWith(
      "api/runs/B",
      expect.objectContaining({ method: "DELETE" }),
    );
  });

  it("passes on what, where and hint", async () => {
    const error = { what: "no such pass", where: "rewrite 9", hint: "choose another" };
    const backend = httpBackend(token, "", () => Promise.resolve(json({ error }, 404)));
    await expect(backend.of("A").run()).rejects.toMatchObject({ ...error, lost: false });
  });

  it("explains a refusal, a crash without JSON, and silence", async () => {
    const answering = (reply: () => Promise<Response>) =>
      httpBackend(token, "", reply).of("A").run();
    await expect(
      answering(() => Promise.resolve(new Response("forbidden", { status: 403 }))),
    ).rejects.toMatchObject({ what: expect.stringContaining("does not accept") as string });
    await expect(
      answering(() => Promise.resolve(new Response("<h1>", { status: 500 }))),
    ).rejects.toMatchObject({ what: expect.stringContaining("500") as string });
    await expect(answering(() => Promise.reject(new TypeError("x")))).rejects.toMatchObject({
      lost: true,
    });
  });
});

describe("embedded", () => {
  const pack = (...items: unknown[]): string => gzipSync(JSON.stringify(items)).toString("base64");
  const embed = (...blocks: Record<string, unknown>[]): void => {
    for (const [i, entries] of blocks.entries()) {
      const block = document.createElement("script");
      block.type = "application/json";
      block.id = i ? `uopviz-data-${i}` : "uopviz-data";
      block.textContent = JSON.stringify(entries);
      document.body.append(block);
    }
  };
  beforeEach(() => document.body.replaceChildren());

  it("is absent in a page without data", () => {
    expect(embeddedBackend()).toBeNull();
  });

  it("unpacks entries of all blocks and offers nothing that needs a server", async () => {
    embed(
      {
        "/api/A/run /api/A/tree?since=0": pack(
          { ...run, live: true },
          { rows, total: rows.length },
        ),
      },
      { "/api/A/rules": pack(rules) },
    );
    const backend = embeddedBackend()!.of("A");
    expect(embeddedBackend()!.server).toBeNull();
    expect(backend.server).toBeNull();
    expect((await backend.run()).live).toBe(false);
    expect((await backend.tree(0)).rows).toEqual(rows);
    expect((await backend.tree(5)).rows).toEqual([]);
    const found = await backend.search("symb", new AbortController().signal);
    expect(found.hits.some((h) => h.text === "symbolic")).toBe(true);
  });

  it("says what was left out", async () => {
    embed({ "/api/A/run": pack(run) });
    const { signal } = new AbortController();
    await expect(embeddedBackend()!.of("A").bundle(7, signal)).rejects.toBeInstanceOf(DataError);
  });

  it("holds several runs, and searches each by itself", async () => {
    const names = ["A", "B"].map((name) => ({ name, file: "a.viz", title: "a.py", live: false }));
    const other = rows.map((row) => ({ ...row, name: row.name.replace("symbolic", "algebra") }));
    embed({
      [RUNS]: pack(names),
      "/api/A/run /api/B/run": pack(run, { ...run, name: "b.py" }),
      "/api/A/tree?since=0": pack({ rows, total: rows.length }),
      "/api/B/tree?since=0": pack({ rows: other, total: rows.length }),
      "/api/A/rules /api/B/rules": pack([], []),
    });
    const backend = embeddedBackend()!;
    expect(await backend.runs()).toEqual(names);
    expect((await backend.of("B").run()).name).toBe("b.py");
    const { signal } = new AbortController();
    const hits = async (of: string): Promise<string[]> =>
      (await backend.of(of).search("symbolic", signal)).hits.map((hit) => hit.text);
    expect(await hits("A")).toContain("symbolic");
    expect(await hits("B")).not.toContain("symbolic");
    await expect(backend.of("C").run()).rejects.toBeInstanceOf(DataError);
  });
});

describe("jobs", () => {
  const server = (jobs: Job[], cancel = vi.fn(() => Promise.resolve())): ServerActions => ({
    whatIf: {} as ServerActions["whatIf"],
    compile: () => Promise.resolve(1),
    shaders: () => Promise.resolve(1),
    check: () => Promise.resolve(1),
    bisect: () => Promise.resolve(1),
    bisectRun: () => Promise.resolve(1),
    launch: () => Promise.resolve(1),
    whyDeclined: () => Promise.resolve(1),
    bench: () => Promise.resolve(1),
    changedTexts: () => Promise.resolve(1),
    kernelOpts: () => Promise.resolve(1),
    searchOpts: () => Promise.resolve(1),
    emulate: () => Promise.resolve(1),
    peaks: () => Promise.resolve([]),
    measure: () => Promise.resolve(1),
    job: () => Promise.resolve(jobs.length > 1 ? jobs.shift()! : jobs[0]!),
    cancel,
    open: () => Promise.resolve(),
    traces: () => Promise.resolve({ open: "run.viz", former: null, traces: [] }),
    openTrace: () => Promise.resolve(),
    openFormer: () => Promise.resolve(),
    openAgain: () => Promise.resolve(),
    exportRun: () => Promise.resolve(1),
    exportedFile: () => Promise.resolve(new Blob()),
  });
  const running: Job = { state: "running", progress: "half", result: null, error: null };
  const start = (): Promise<number> => Promise.resolve(4);

  it("reports progress and gives the result", async () => {
    const heard: string[] = [];
    const done: Job = { state: "done", progress: "", result: [7], error: null };
    const s = server([running, done]);
    expect(await follow(s, start, (t) => heard.push(t), new AbortController().signal)).toEqual([7]);
    expect(heard).toEqual(["half"]);
  });

  it("rejects with the job's own words", async () => {
    const error = { what: "ptxas failed", where: "line 3", hint: "see the log" };
    const s = server([{ state: "error", progress: "", result: null, error }]);
    await expect(
      follow(s, start, () => undefined, new AbortController().signal),
    ).rejects.toMatchObject(error);
  });

  it("cancels on the server too", async () => {
    const cancel = vi.fn(() => Promise.resolve());
    const stop = new AbortController();
    const waiting = follow(server([running], cancel), start, () => stop.abort(), stop.signal);
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
    expect(cancel).toHaveBeenCalledWith(4);
  });
});

describe("problems", () => {
  it("turns anything thrown into what, where, hint", () => {
    const own = Object.assign(new Error("x"), { what: "a", where: "b", hint: "c" });
    expect(asProblem(own, "z")).toEqual({ what: "a", where: "b", hint: "c", lost: false });
    expect(asProblem("boom", "z")).toMatchObject({ what: "boom", where: "z" });
  });
});
