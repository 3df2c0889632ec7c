import { beforeEach, expect, it, vi } from "vitest";
import type { StepValues } from "../src/data/messages/trials/stepvalues";
import type { Shaders } from "../src/data/messages/trials/shaders";
import type { StepTrial } from "../src/webgpu/device/protocol";
import { planOf } from "../src/webgpu/values/plan";
import { stepHere } from "../src/webgpu/stepHere";

const asked = vi.hoisted(() => ({ trial: null as StepTrial | null, error: 0 }));
vi.mock("../src/webgpu/gpu", () => ({
  tryStep: (trial: StepTrial) => {
    asked.trial = trial;
    const apart = { error: asked.error, magnitude: 2, at: 1, got: 0, wanted: 2 };
    const recorded = trial.ends.map(({ buffer }) => ({ buffer, ...apart }));
    return Promise.resolve({ outputs: [], recorded, us: [3, 1, 2], kernels: [1] });
  },
}));
beforeEach(() => (asked.error = 0));

const TEXT = `2 steps on 3 buffers of 24 bytes
b0 = float32[2] CPU  ; changed in this step
b1 = float32[2] CPU  ; input 0
b2 = float32[2] CPU  ; made in this step
step 0 = kernel add(b0, b1)
step 1 = copy(b2, b0)
`;
const argument = (number: number, written: boolean): Shaders["arguments"][number] => ({
  ...{ number, name: `data${number}`, dtype: "float32", size: 2, shape: [2], written },
  ...{ table: [1, 2] as [number, number], allowed: 0, span: null },
});
const kernels = new Map([
  ["add", { arguments: [argument(0, true), argument(1, false)], made: {}, plain: {} } as unknown as Shaders],
]);
const memory = (number: number, ...values: number[]): StepValues["before"][number] => ({
  ...{ number, dtype: "float32", size: values.length },
  data: Buffer.from(new Float32Array(values).buffer).toString("base64"),
});
const values = (of: Partial<StepValues>): StepValues => ({
  ...{ device: "CPU", replay: 1, before: [], after: [], why: "", ...of },
});
const run = (of: StepValues | null, text = TEXT): ReturnType<typeof stepHere> =>
  stepHere(planOf(text)!, kernels, of, () => undefined, new AbortController().signal);

it("begins with the values of the run and compares what it leaves behind", async () => {
  const of = values({ before: [memory(0, 1, 2), memory(1, 3, 4)], after: [memory(0, 4, 6)] });
  const made = await run(of);
  expect([...new Float32Array(asked.trial!.begins[1]!)]).toEqual([3, 4]);
  expect(asked.trial!.launches.map(({ shader }) => shader)).toEqual([0, null]);
  expect(made.memory.map(({ began }) => began)).toEqual(["recorded", "recorded", ""]);
  expect([made.asRecorded, made.median, made.kernels[0]!.launches]).toEqual([true, 2, 1]);
  asked.error = 0.1;
  expect((await run(of)).asRecorded).toBe(false);
});

it("compares with the run only where nothing is generated", async () => {
  const made = await run(values({ before: [memory(1, 3, 4)], after: [memory(0, 4, 6)] }));
  expect(made.memory.map(({ began }) => began)).toEqual(["generated", "recorded", ""]);
  expect(made.asRecorded).toBeNull();
  expect((await run(null)).asRecorded).toBeNull();
});

it.each([memory(7, 1, 2), memory(1, 1), { ...memory(1, 1, 2), data: "?" }, { ...memory(1, 1, 2), dtype: "int32" }])(
  "refuses damaged values: %o",
  async (one) => {
    await expect(run(values({ before: [one] }))).rejects.toThrow("is damaged");
  },
);

it("says that there is no float64", async () => {
  const double = TEXT.replaceAll("float32", "float64");
  await expect(run(null, double)).rejects.toThrow("WebGPU has no float64");
});
