import { expect, it, vi } from "vitest";

vi.mock("../src/webgpu/gpu", () => ({ adapter: vi.fn() }));
vi.mock("../src/state/actions", () => ({ data: () => ({ server: null }) }));

it("gives all runs that wait for the reader one answer", async () => {
  const { answerConsent, asksConsent, consent } = await import("../src/parts/run/here");
  const { signal } = new AbortController();
  const given = new AbortController();
  const both = [consent(signal), consent(signal)];
  const rejected = expect(consent(given.signal)).rejects.toThrow("not allowed");
  given.abort();
  await rejected;
  expect(asksConsent.value).toBe(true);
  answerConsent(true);
  await Promise.all(both);
  expect(asksConsent.value).toBe(false);
});
