/** The back end of the live page: JSON over the loopback server. Never retries by itself. */
import { askAhead } from "./ahead";
import {
  baseOf,
  DataError,
  isAbort,
  pairQuestions,
  questions,
  RUNS,
  type Backend,
  type RunData,
  type ServerActions,
} from "../backend";
import { follow } from "../jobs";
import type { Fleet, FleetNames, FleetRuns, FleetSeries } from "../fleet";
import type { Job } from "../messages/job";
import type { Peak } from "../messages/kernel";
import type { RecentTraces, RunName } from "../messages/run";
import { whatIfActions } from "../whatif";

type Fetch = typeof fetch;

const HEADER = "X-Uopviz-Token";

interface ErrorBody {
  error?: { what?: unknown; where?: unknown; hint?: unknown };
}

/** Asks `base` (the page's own address by default) for everything, at once for the answers at the
 * paths `first`; `token` gives what proves that it may. */
export function httpBackend(
  token: () => string,
  base = "",
  fetcher: Fetch = (...a) => fetch(...a),
  first: readonly string[] = [],
): Backend {
  async function send(path: string, init: RequestInit = {}): Promise<Response> {
    let response: Response;
    try {
      response = await fetcher(base + path, {
        credentials: "same-origin",
        cache: "no-store",
        ...init,
        headers: { ...(init.headers as Record<string, string>), [HEADER]: token() },
      });
    } catch (thrown) {
      if (isAbort(thrown)) throw thrown;
      throw new DataError(
        "The server does not answer",
        path,
        "Start it again with `uopviz open <trace>`. This page reconnects automatically.",
        true,
      );
    }
    if (!response.ok) throw await refusal(response, path);
    return response;
  }
  const ask = async <T>(path: string, init: RequestInit = {}): Promise<T> =>
    (await (await send(path, init)).json()) as T;
  const get = <T>(path: string, signal?: AbortSignal): Promise<T> =>
    ask<T>(path, signal ? { signal } : {});
  const post = <T>(path: string, body: unknown): Promise<T> =>
    ask<T>(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });

  const actions = (run: string): ServerActions => {
    const own = baseOf(run).slice(1);
    const kernel = async (context: number, what: string, how: object): Promise<number> =>
      (await post<{ job: number }>(`${own}/kernels/${context}/${what}`, how)).job;
    return {
      whatIf: whatIfActions(own, { get, post, send }),
      compile: (context, target) => kernel(context, "compile", { target }),
      shaders: (context, opts, skip) => kernel(context, "shaders", { opts, skip }),
      launch: (context, count, how) => kernel(context, "run", { ...how, count }),
      bench: (context, how) => kernel(context, "bench", how),
      changedTexts: (context, target, opts, skip) =>
        kernel(context, "texts", { target, opts, skip }),
      kernelOpts: (context, target, opts) => kernel(context, "opts", { target, opts }),
      searchOpts: (context, device, width) => kernel(context, "search", { device, width }),
      emulate: (context, how) => kernel(context, "emulate", how),
      whyDeclined: async (rewrite, node, rule) =>
        (await post<{ job: number }>(`${own}/rewrites/${rewrite}/why-declined`, { node, rule })).job,
      check: async (what) => (await post<{ job: number }>(`${own}/check`, what)).job,
      bisect: (context, how) => kernel(context, "bisect", how),
      bisectRun: async () => (await post<{ job: number }>(`${own}/bisect`, {})).job,
      peaks: () => get<Peak[]>("api/peaks"),
      measure: async (device) => (await post<{ job: number }>("api/peaks", { device })).job,
      job: (id) => get<Job>(`api/jobs/${id}`),
      cancel: async (id) => void (await ask<unknown>(`api/jobs/${id}`, { method: "DELETE" })),
      open: async (file, line) => void (await post<unknown>(`${own}/open`, { file, line })),
      traces: () => get<RecentTraces>(`${own}/traces`),
      openTrace: async (name) => void (await post<unknown>(`${own}/traces/open`, { name })),
      openAgain: async () => void (await post<unknown>(`${own}/traces/open`, { again: true })),
      openFormer: async () => void (await post<unknown>(`${own}/traces/open`, { former: true })),
      exportRun: async (how, beside = []) =>
        (await post<{ job: number }>("api/export", { runs: [run, ...beside], ...how })).job,
      exportedFile: async (job, signal) => (await send(`api/export/${job}`, { signal })).blob(),
    };
  };
  // relative to the page, which a proxy may serve below a folder
  const answer = askAhead((path, signal) => get(path.slice(1), signal), first);
  const runs = new Map<string, RunData>();
  const made = (run: string): RunData => {
    const server = actions(run);
    return {
      ...questions(run, answer),
      server,
      shadersOf: (context, { opts, skip }, progress, signal) =>
        follow(server, () => server.shaders(context, opts, skip), progress, signal),
    };
  };
  return {
    runs: () => answer(RUNS) as Promise<RunName[]>,
    of: (run) => {
      if (!runs.has(run)) runs.set(run, made(run));
      return runs.get(run)!;
    },
    compare: (a, b) => pairQuestions(a, b, answer),
    fleet: {
      summary: () => get<Fleet | null>("api/fleet"),
      names: () => get<FleetNames>("api/fleet/names"),
      runs: (text, order, begin, signal) =>
        get<FleetRuns>(`api/fleet/runs?${query({ text, order, begin })}`, signal),
      series: (metric, of, signal) =>
        get<FleetSeries>(`api/fleet/series?${query({ metric, of })}`, signal),
      open: async (run) => (await post<{ run: string }>("api/fleet/open", { run })).run,
    },
    server: {
      openRun: async (name) => (await post<{ run: string }>("api/runs", { name })).run,
      closeRun: async (run) => void (await ask<unknown>(`api/runs/${run}`, { method: "DELETE" })),
    },
  };
}

const query = (values: Readonly<Record<string, string | number>>): string =>
  new URLSearchParams(Object.entries(values).map(([key, value]) => [key, String(value)])).toString();

async function refusal(response: Response, path: string): Promise<DataError> {
  if (response.status === 403)
    return new DataError(
      "The server does not accept this page",
      path,
      "Open the address that uopviz printed. It contains the access token of this server.",
    );
  let body: ErrorBody = {};
  try {
    body = (await response.json()) as ErrorBody;
  } catch {
    // An answer that is not JSON has no better explanation than its status.
  }
  const text = (value: unknown, otherwise: string): string =>
    typeof value === "string" && value ? value : otherwise;
  return new DataError(
    text(body.error?.what, `The server answered ${response.status} ${response.statusText}`),
    text(body.error?.where, path),
    text(body.error?.hint, "See the log of the server."),
  );
}
