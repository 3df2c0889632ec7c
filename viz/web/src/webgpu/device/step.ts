/** Many launches in order on memory that they share: a captured step of a program. */
import type { Shader } from "../../data/messages/trials/shaders";
import { apart } from "../values/difference";
import { reader } from "../values/dtypes";
import { generated } from "../values/generated";
import { USAGE } from "./flags";
import { GpuProblem } from "../values/problem";
import type { Stepped, StepTrial } from "./protocol";
import type { Compiled, Session } from "./session";

/** Bytes of memory up to which the step is run with both sets of programs, to compare them. */
const MOST_COMPARED = 1 << 29;
const GUARD_BYTES = 64;
const MOST_TIMES = 200;

interface Launch {
  pipeline: GPUComputePipeline;
  group: GPUBindGroup;
  groups: [number, number, number];
  /** Between shared memory and a buffer of the launch's own, where memory cannot be bound as it is. */
  before: Copy[];
  after: Copy[];
}

interface Copy {
  from: GPUBuffer;
  at: number;
  to: GPUBuffer;
  toAt: number;
  bytes: number;
}

/** One set of programs on memory of its own. */
class Side {
  readonly launches: Launch[] = [];
  readonly memory: GPUBuffer[];
  private readonly own: GPUBuffer[] = [];
  private readonly pipelines = new Map<Shader, Compiled>();

  constructor(
    private readonly session: Session,
    private readonly trial: StepTrial,
  ) {
    this.memory = trial.buffers.map((of) => {
      const held = generated(of);
      return this.make(held.byteLength + GUARD_BYTES, USAGE.STORAGE | USAGE.COPY_DST, held);
    });
  }

  /** Makes the programs and what they bind. */
  async prepare(shaders: readonly Shader[], progress: (text: string) => void): Promise<void> {
    for (const [i, shader] of shaders.entries()) {
      progress(`compiling ${i + 1} of ${shaders.length}`);
      this.pipelines.set(shader, await this.session.compiled(shader));
    }
    for (const { shader, arguments: given } of this.trial.launches)
      this.launches.push(this.launch(shaders[shader]!, given));
  }

  private make(size: number, usage: number, held: ArrayBuffer | null): GPUBuffer {
    const bytes = 16 * Math.ceil(size / 16);
    if (bytes > this.session.device.limits.maxStorageBufferBindingSize)
      throw new GpuProblem(
        `A buffer of ${bytes} bytes is more than this GPU binds at once`,
        this.session.adapter.name,
        "Run a smaller step.",
      );
    const buffer = this.session.device.createBuffer({
      size: bytes,
      usage: usage | USAGE.COPY_SRC,
      mappedAtCreation: held !== null,
    });
    if (held) {
      new Uint8Array(buffer.getMappedRange()).set(new Uint8Array(held));
      buffer.unmap();
    }
    this.own.push(buffer);
    return buffer;
  }

  private launch(shader: Shader, given: StepTrial["launches"][number]["arguments"]): Launch {
    const { pipeline, layout } = this.pipelines.get(shader)!;
    const made: Launch = { ...{ pipeline, groups: shader.groups, before: [], after: [] }, group: null! };
    const bound = new Set<number>();
    const entries = shader.bindings.map(({ binding, kind, bytes, parts }) => {
      if (kind === "uniform") {
        const held = new ArrayBuffer(16 * Math.ceil(bytes / 16));
        for (const { offset, value } of parts) new DataView(held).setInt32(offset, value ?? 0, true);
        return { binding, resource: { buffer: this.make(bytes, USAGE.UNIFORM, held) } };
      }
      const only = parts.length === 1 ? given[parts[0]!.argument!]! : null;
      if (only && only.offset === 0 && !bound.has(only.buffer)) {
        bound.add(only.buffer);
        return { binding, resource: { buffer: this.memory[only.buffer]! } };
      }
      const own = this.make(bytes + GUARD_BYTES, USAGE.STORAGE | USAGE.COPY_DST, null);
      for (const { argument, offset } of parts) {
        const { buffer, offset: at, bytes: taken, written } = given[argument!]!;
        if (at % 4 || offset % 4)
          throw new GpuProblem(
            "A part of a buffer begins within a word, where WebGPU cannot copy",
            this.session.adapter.name,
            "Run its kernels one by one.",
          );
        const size = 4 * Math.ceil(taken / 4);
        const memory = this.memory[buffer]!;
        made.before.push({ from: memory, at, to: own, toAt: offset, bytes: size });
        if (written)
          made.after.push({ from: own, at: offset, to: memory, toAt: at, bytes: size });
      }
      return { binding, resource: { buffer: own } };
    });
    made.group = this.session.device.createBindGroup({ layout, entries });
    return made;
  }

  /** Submits the step so many times. */
  submit(times: number): void {
    const encoder = this.session.device.createCommandEncoder();
    let pass: GPUComputePassEncoder | null = null;
    const copy = (all: readonly Copy[]): void => {
      if (!all.length) return;
      pass?.end();
      pass = null;
      for (const { from, at, to, toAt, bytes } of all)
        encoder.copyBufferToBuffer(from, at, to, toAt, bytes);
    };
    for (let i = 0; i < times; i++)
      for (const { pipeline, group, groups, before, after } of this.launches) {
        copy(before);
        pass ??= encoder.beginComputePass();
        pass.setPipeline(pipeline);
        pass.setBindGroup(0, group);
        pass.dispatchWorkgroups(...groups);
        copy(after);
      }
    (pass)?.end();
    this.session.device.queue.submit([encoder.finish()]);
  }

  close(): void {
    for (const buffer of this.own) buffer.destroy();
  }
}

/** See StepTrial. Raises a GpuProblem. */
export async function runStep(
  session: Session,
  trial: StepTrial,
  progress: (text: string) => void,
): Promise<Stepped> {
  const sides: Side[] = [];
  const taken = trial.buffers.reduce((sum, of) => sum + of.size * 8, 0);
  try {
    for (const shaders of taken > MOST_COMPARED ? [trial.made] : [trial.made, trial.plain]) {
      const side = await session.checked(() => new Side(session, trial));
      sides.push(side);
      await session.checked(() => side.prepare(shaders, progress));
      progress("running the step");
      await session.checked(() => side.submit(1));
      await session.device.queue.onSubmittedWorkDone();
    }
    const [made, plain] = sides;
    progress("comparing");
    const outputs = plain ? await compared(session, trial, made!, plain) : null;
    return { outputs, us: await timed(session, made!, trial.seconds, progress) };
  } finally {
    for (const side of sides) side.close();
  }
}

async function compared(
  session: Session,
  trial: StepTrial,
  a: Side,
  b: Side,
): Promise<NonNullable<Stepped["outputs"]>> {
  const outputs: NonNullable<Stepped["outputs"]> = [];
  const written = new Set(
    trial.launches.flatMap((one) => one.arguments.filter((g) => g.written).map((g) => g.buffer)),
  );
  for (const buffer of written) {
    const { dtype, size } = trial.buffers[buffer]!;
    const read = reader(dtype);
    const views = await Promise.all(
      [a, b].map(async (side) => new DataView(await session.copy(side.memory[buffer]!))),
    );
    let [error, magnitude] = [0, 1];
    for (let i = 0; i < size; i++) {
      const [x, y] = [read(views[0]!, i), read(views[1]!, i)];
      error = Math.max(error, apart(x, y));
      if (Number.isFinite(y)) magnitude = Math.max(magnitude, Math.abs(y));
    }
    outputs.push({ buffer, error, magnitude });
  }
  return outputs;
}

/** Microseconds of the step, by the browser's clock around a few of them that are submitted together. */
async function timed(
  session: Session,
  side: Side,
  seconds: number,
  progress: (text: string) => void,
): Promise<number[]> {
  const { queue } = session.device;
  const once = async (times: number): Promise<number> => {
    const began = performance.now();
    side.submit(times);
    await queue.onSubmittedWorkDone();
    return (1000 * (performance.now() - began)) / times;
  };
  const first = await once(1);
  const together = Math.max(1, Math.min(50, Math.round(20_000 / Math.max(1, first))));
  const until = performance.now() + 1000 * seconds;
  const us: number[] = [];
  while (us.length < MOST_TIMES && (us.length < 3 || performance.now() < until)) {
    us.push(await once(together));
    if (us.length % 5 === 0) progress(`timing: ${us.length} times`);
  }
  return us;
}
