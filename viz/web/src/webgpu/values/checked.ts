/** A kernel for WebGPU as a file has it, which may be a stranger's: what is not of its form, or too large for
 * a page, is one sentence before anything is made of it. Pure. */
import type { Shaders } from "../../data/messages/trials/shaders";
import { GpuProblem } from "./problem";
import { bytesOf, FLOATS, INTEGERS } from "./dtypes";

/** Elements of all arguments, or of all memory of a step: the page makes and compares them one by one. */
const MOST_ELEMENTS = 1 << 27;
const MOST_BYTES = 1 << 30;
const NAMES = ["nan", "inf", "-inf"];
const KINDS = ["storage", "read-only-storage", "uniform"];

type Fields = Readonly<Record<string, unknown>>;
type Test = (value: unknown) => boolean;

const isText: Test = (value) => typeof value === "string";
const isNumber: Test = (value) => Number.isFinite(value);
const isCount: Test = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isWord: Test = (value) => Number.isInteger(value) && Math.abs(value as number) <= 0xffffffff;
const isNumeric: Test = (value) => isNumber(value) || NAMES.includes(value as string);
const all =
  (test: Test, count?: number): Test =>
  (value) =>
    Array.isArray(value) && (count === undefined || value.length === count) && value.every(test);
const orNull =
  (test: Test): Test =>
  (value) =>
    value === null || test(value);
const has =
  (of: Readonly<Record<string, Test>>): Test =>
  (value) =>
    typeof value === "object" &&
    value !== null &&
    Object.entries(of).every(([name, test]) => test((value as Fields)[name]));

const isShader = has({
  text: isText,
  entry: isText,
  opts: orNull(isText),
  groups: all(isCount, 3),
  bindings: all(
    has({
      binding: isCount,
      kind: (value) => KINDS.includes(value as string),
      bytes: isCount,
      parts: all(has({ argument: orNull(isCount), value: orNull(isWord), offset: isCount })),
    }),
  ),
});

const isKernel = has({
  name: isText,
  arguments: all(
    has({
      number: isCount,
      name: isText,
      dtype: (value) => Object.hasOwn(FLOATS, value as string) || Object.hasOwn(INTEGERS, value as string),
      size: isCount,
      shape: all(isCount),
      table: all(isCount, 2),
      written: (value) => typeof value === "boolean",
      allowed: isNumber,
      span: orNull(all(Number.isInteger, 2)),
    }),
  ),
  variables: all(has({ name: isText, value: isNumber })),
  made: isShader,
  plain: isShader,
  expected: orNull(all(has({ argument: isCount, at: all(isCount), values: all(isNumeric) }))),
  why: isText,
  flops: isNumber,
  bytes: isNumber,
});

/** The kernel, once it is one. Raises a GpuProblem. */
export function checked(found: unknown): Shaders {
  if (!isKernel(found)) throw damaged();
  const kernel = found as Shaders;
  const { arguments: given } = kernel;
  if (given.some(({ number }, i) => number !== i)) throw damaged();
  checkSize(given);
  for (const { bindings } of [kernel.made, kernel.plain]) {
    if (bindings.reduce((sum, { bytes }) => sum + bytes, 0) > MOST_BYTES) throw tooLarge();
    for (const { bytes, parts } of bindings)
      for (const { argument, offset } of parts) {
        const of = argument === null ? null : given[argument];
        if (of === undefined) throw damaged();
        const taken = of ? 4 * Math.ceil((of.size * bytesOf(of.dtype)) / 4) : 4;
        if (offset + taken > Math.max(bytes, 4)) throw damaged();
      }
  }
  for (const { argument, at, values } of kernel.expected ?? []) {
    const of = given[argument];
    if (!of?.written || at.length !== values.length || at.some((i) => i >= of.size)) throw damaged();
  }
  return kernel;
}

/** Raises a GpuProblem where these are more elements than a page makes. */
export function checkSize(memory: readonly { dtype: string; size: number }[]): void {
  const elements = memory.reduce((sum, { size }) => sum + size, 0);
  const bytes = memory.reduce((sum, { dtype, size }) => sum + size * bytesOf(dtype), 0);
  if (!(elements <= MOST_ELEMENTS && bytes <= MOST_BYTES)) throw tooLarge();
}

const damaged = (): GpuProblem =>
  new GpuProblem(
    "What this file has of the kernel for WebGPU is damaged",
    "WebGPU",
    "Ask the author of the file to export it again.",
  );

const tooLarge = (): GpuProblem =>
  new GpuProblem(
    `This takes more memory than a page makes: ${MOST_ELEMENTS.toLocaleString("en")} elements`,
    "WebGPU",
    "Run a smaller kernel, or use DEV=WEBGPU.",
  );
