// @vitest-environment jsdom
/** Several runs on one page: which one an address is about, and turning from one to another. */
import { beforeEach, describe, expect, it, vi } from "vitest";
import { DataError, type Backend, type RunData } from "../src/data/backend";
import type { Run, RunName } from "../src/data/messages/run";
import { closeRun, openBeside, showNextRun, showRun, startRuns } from "../src/parts/traces/runs";
import { allData, connect, data, go, readAddress } from "../src/state/actions";
import { flushAddress } from "../src/state/link/address";
import { runNamed, runOfLink } from "../src/state/link/named";
import { refreshNow, refreshRuns, turnTo } from "../src/state/live";
import * as state from "../src/state/state";
import { rows, rules, run } from "./dev/fixture";

const files = new Map([
  ["A", "old.viz"],
  ["B", "new.viz"],
  ["C", "old.viz"],
]);

describe("the run in a link", () => {
  it("is the first one where none is named, and one letter of anybody's", () => {
    expect(runNamed("")).toBe("A");
    expect(runNamed("#r=7")).toBe("A");
    expect(runNamed("#run=B&r=7")).toBe("B");
    for (const bad of ["b", "AB", "", "1", "%00", "<script>", "__proto__"])
      expect(runNamed(`#run=${bad}`), bad).toBe("A");
  });

  it("is found by its trace before its letter, which may be another run's by now", () => {
    expect(runOfLink("", files)).toBe("A");
    expect(runOfLink("#run=B&r=3", files)).toBe("B");
    expect(runOfLink("#run=D", files)).toBeNull();
    expect(runOfLink("#trace=new.viz&r=3", files)).toBe("B");
    expect(runOfLink("#trace=new.viz&run=A", files)).toBe("B");
    expect(runOfLink("#trace=old.viz&run=C", files)).toBe("C");
    expect(runOfLink("#trace=old.viz&run=B", files)).toBe("A");
    expect(runOfLink("#trace=gone.viz&run=B", files)).toBeNull();
  });
});

/** A back end of runs by letters; `slow` holds back an answer of a run until it is let go. */
class Runs {
  readonly open = new Map<string, Run>();
  readonly asked: string[] = [];
  slow: Promise<void> | null = null;
  fails = false;

  constructor() {
    for (const name of ["A", "B"]) this.add(name);
  }

  add(name: string): void {
    const own = { name: `${name.toLowerCase()}.py`, file: `/traces/${name}.viz`, live: false };
    this.open.set(name, { ...run, ...own });
  }

  readonly backend: Backend = {
    runs: () => Promise.resolve(this.names()),
    of: (name) => this.data(name),
    compare: () => {
      throw new Error("nobody compares");
    },
    server: {
      openRun: () => {
        if (this.fails) return Promise.reject(new DataError("no trace", "x", "choose another"));
        this.add("C");
        return Promise.resolve("C");
      },
      closeRun: (name) => Promise.resolve(void this.open.delete(name)),
    },
  };

  private names(): RunName[] {
    return [...this.open].map(([name, { file, live }]) => ({
      ...{ name, file: file.split("/").pop()!, title: name, live },
    }));
  }

  private data(name: string): RunData {
    const answer = async <T>(what: string, value: T): Promise<T> => {
      this.asked.push(`${name}/${what}`);
      if (this.slow && what === "run") await this.slow;
      if (!this.open.has(name)) throw new DataError(`no run ${name} is open`, "", "");
      return value;
    };
    return {
      run: () => answer("run", this.open.get(name)!),
      tree: (since: number) =>
        answer("tree", {
          rows: rows.slice(since).map((r) => ({ ...r, name: `${name} ${r.name}` })),
          total: rows.length,
        }),
      rules: () => answer("rules", rules),
      server: {},
    } as unknown as RunData;
  }
}

startRuns();
let runs: Runs;

beforeEach(async () => {
  vi.useFakeTimers();
  runs = new Runs();
  connect(runs.backend);
  history.replaceState(null, "", "#");
  state.runName.value = "A";
  state.run.value = null;
  state.rows.value = [];
  state.rowsArrived.value = false;
  state.otherLink.value = null;
  await refreshRuns(allData());
  await refreshNow(allData());
  readAddress();
});

const settled = (): Promise<unknown> => vi.advanceTimersByTimeAsync(1000);

describe("several runs", () => {
  it("are shown one at a time, with their own rows", async () => {
    expect(state.severalRuns.value).toBe(true);
    expect(state.rows.value[0]!.name).toMatch(/^A /);
    const before = state.runKey.value;
    showRun("B");
    await settled();
    expect(state.runName.value).toBe("B");
    expect(state.run.value?.name).toBe("b.py");
    expect(state.rows.value[0]!.name).toMatch(/^B /);
    expect(state.runKey.value).not.toBe(before);
    expect(data()).not.toBe(null);
    expect(location.hash).toBe("#run=B");
    expect(runs.asked.slice(-3)).toEqual(["B/run", "B/tree", "B/rules"]);
  });

  it("keep the page, and what was looked at on it", async () => {
    go({ page: "rules" });
    showNextRun();
    await settled();
    expect(location.hash).toBe("#run=B&v=rules");
    go({ page: "rules", rule: 3 });
    flushAddress();
    showNextRun();
    await settled();
    expect([state.runName.value, state.view.value.rule]).toEqual(["A", null]);
    showNextRun();
    await settled();
    expect([state.runName.value, state.view.value.rule]).toEqual(["B", 3]);
  });

  it("follow the address, back and forward and typed", async () => {
    location.hash = "#run=B&v=timeline";
    readAddress();
    await settled();
    expect([state.runName.value, state.view.value.page]).toEqual(["B", "timeline"]);
    location.hash = "#v=rules";
    readAddress();
    await settled();
    expect([state.runName.value, state.view.value.page]).toEqual(["A", "rules"]);
  });

  it("leave a link of a run that is not open aside", async () => {
    location.hash = "#run=D&r=3";
    readAddress();
    await settled();
    expect(state.runName.value).toBe("A");
    expect(state.view.value.rewrite).toBeNull();
    expect(state.otherLink.value).toEqual({ name: "", hash: "#run=D&r=3" });
  });

  it("open one more, and close it", async () => {
    await openBeside("C.viz");
    await settled();
    expect(state.openRuns.value.map((one) => one.name)).toEqual(["A", "B", "C"]);
    showRun("C");
    await settled();
    await closeRun("C");
    await settled();
    expect(state.runName.value).toBe("A");
    expect(state.openRuns.value.map((one) => one.name)).toEqual(["A", "B"]);
    runs.fails = true;
    const before = state.ownProblems.value.length;
    await openBeside("C.viz");
    expect(state.ownProblems.value.slice(before).map((p) => p.what)).toEqual(["no trace"]);
    expect(state.opening.value).toBeNull();
  });

  it("go back to the first where another page has closed the one that is shown", async () => {
    showRun("B");
    await settled();
    runs.open.delete("B");
    await refreshNow(allData());
    await settled();
    expect(state.runName.value).toBe("A");
    expect(state.connection.value.kind).toBe("connected");
    expect(state.severalRuns.value).toBe(false);
  });

  it("show the one that was asked for last, whatever comes first", async () => {
    let release = (): void => undefined;
    runs.slow = new Promise((resolve) => (release = resolve));
    const first = turnTo(allData(), "B", () => undefined);
    runs.slow = null;
    const second = turnTo(allData(), "A", () => undefined);
    expect(await second).toBe(true);
    release();
    expect(await first).toBe(false);
    expect(state.runName.value).toBe("A");
  });

  it("take no answer of the run that was left", async () => {
    let release = (): void => undefined;
    runs.slow = new Promise((resolve) => (release = resolve));
    const late = refreshNow(allData());
    runs.slow = null;
    showRun("B");
    await settled();
    release();
    await late;
    expect(state.run.value?.name).toBe("b.py");
  });
});

describe("one run", () => {
  it("is the case of one: its addresses name no run", async () => {
    runs.open.delete("B");
    await refreshRuns(allData());
    expect(state.severalRuns.value).toBe(false);
    go({ page: "rules" });
    flushAddress();
    expect(location.hash).toBe("#v=rules");
    showNextRun();
    await settled();
    expect(state.runName.value).toBe("A");
  });
});
