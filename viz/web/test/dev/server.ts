import type { IncomingMessage, ServerResponse } from "node:http";
import type { Job } from "../../src/data/messages/job.ts";
import type { RunResult } from "../../src/data/messages/kernel.ts";
import type { SearchResult } from "../../src/data/messages/search.ts";
import { bundleFor, compiled, kernel, origins, rows, rules, run, schedule } from "./fixture.ts";
import { random } from "./maker.ts";
import { findNames, indexOfRows } from "../../src/data/offline/names.ts";

const jobs: { started: number; ms: number; result: unknown }[] = [];

/** Answers one request under /api from the fixtures. */
export function answer(req: IncomingMessage, res: ServerResponse): void {
  const url = new URL(req.url ?? "/", "http://localhost");
  const path = url.pathname.replace(/^\/[A-Z]\//, "/"); // every run is the same one
  const [, kind = "", id = "", action = ""] = path.split("/");
  let text = "";
  req.on("data", (chunk: Buffer) => (text += chunk.toString()));
  req.on("end", () => {
    const body = (text ? JSON.parse(text) : {}) as Record<string, string>;
    const reply = route(kind, Number(id), action, url, body);
    res.statusCode = reply === undefined ? 404 : 200;
    res.setHeader("Content-Type", "application/json");
    res.end(
      JSON.stringify(
        reply ?? {
          error: {
            what: "No such thing in this trace",
            where: url.pathname,
            hint: "Choose another pass in the navigator.",
          },
        },
      ),
    );
  });
}

function route(
  kind: string,
  id: number,
  action: string,
  url: URL,
  body: Record<string, string>,
): unknown {
  switch (kind) {
    case "runs":
      return [{ name: "A", file: run.file, title: run.name, live: run.live }];
    case "run":
      return run;
    case "tree":
      return { rows: rows.slice(Number(url.searchParams.get("since"))), total: rows.length };
    case "rules":
      return rules;
    case "rewrites":
      return id === 999
        ? undefined
        : bundleFor(
            id,
            rows.find((r) => r.kind === "rewrite" && r.id === id),
          );
    case "kernels":
      if (action === "compile")
        return {
          job: jobs.push({ started: Date.now(), ms: 900, result: compiled(body.target ?? "") }) - 1,
        };
      if (action === "run")
        return {
          job: jobs.push({ started: Date.now(), ms: 700, result: times(body.device ?? "") }) - 1,
        };
      return kernel(id);
    case "schedules":
      return schedule(id);
    case "origins":
      return origins;
    case "since":
      return {
        maker: {
          ...{ compiler: "uopviz", version: "0", reader: "0" },
          ...{ own: true, same: true, here: true, elsewhere: false },
        },
        ...{ files: [], rules: [], compared: rules.length, notes: [] },
      };
    case "search":
      return found(url.searchParams.get("q") ?? "");
    case "jobs": {
      const job = jobs[id];
      if (!job) return undefined;
      const done = Date.now() - job.started > job.ms;
      return {
        state: done ? "done" : "running",
        progress: "Assembling",
        result: done ? job.result : null,
        error: null,
      } satisfies Job;
    }
    case "open":
      return {};
    default:
      return undefined;
  }
}

/** By name only. */
function found(query: string): SearchResult {
  const names = query ? findNames(query.toLowerCase(), indexOfRows(rows)) : [];
  const at = new Map(rows.map((row) => [row.id, row.row]));
  return {
    hits: names.map(({ id, kind, text }) => ({
      ...{ row: at.get(id) ?? -1, kind, text, step: null, node: null, passes: 1, source: null },
    })),
    totals: {},
    total: names.length,
    truncated: null,
    problem: null,
  };
}

function times(device: string): RunResult {
  const rnd = random(5);
  const us = Array.from({ length: 100 }, () => 9.2 + rnd() * rnd() * 2 + (rnd() > 0.97 ? 6 : 0));
  return {
    device,
    opts: null,
    source: null,
    us,
    median: 9.8,
    p90: 10.3,
    equal: true,
    maxError: 2.4e-7,
    reference: "NumPy, float64",
    tolerance: 1e-5,
    detail: "2,048 of 2,048 outputs compared.",
    takes: {},
    instructions: null,
  };
}
