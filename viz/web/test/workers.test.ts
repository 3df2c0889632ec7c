// @vitest-environment jsdom
import { describe, expect, it, vi } from "vitest";
import { removeWorkers } from "../src/data/server/workers";

type Workers = Parameters<typeof removeWorkers>[0];
const workers = (found: object[] | Error, controller: object | null = null): Workers =>
  ({
    controller,
    getRegistrations: () =>
      found instanceof Error ? Promise.reject(found) : Promise.resolve(found),
  }) as unknown as Workers;

describe("service workers of others", () => {
  it("are removed with what they keep", async () => {
    const unregister = vi.fn(() => Promise.resolve(true));
    const dropped = vi.fn(() => Promise.resolve(true));
    vi.stubGlobal("caches", { keys: () => Promise.resolve(["a", "b"]), delete: dropped });
    expect(await removeWorkers(workers([{ unregister }, { unregister }]))).toBe(true);
    expect(unregister).toHaveBeenCalledTimes(2);
    expect(dropped.mock.calls).toEqual([["a"], ["b"]]);
    vi.unstubAllGlobals();
  });

  it("count while one still controls the page, and not where there can be none", async () => {
    expect(await removeWorkers(workers([], {}))).toBe(true);
    expect(await removeWorkers(workers([]))).toBe(false);
    expect(await removeWorkers(workers(new Error("insecure")))).toBe(false);
    expect(await removeWorkers(undefined)).toBe(false);
  });
});
