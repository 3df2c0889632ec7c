/** Many launches in order on memory that they share: a captured step of a program. */
import type { Shader } from "../../data/messages/trials/shaders";
import { apart } from "../values/difference";
import { reader } from "../values/dtypes";
import { generated } from "../values/generated";
import { USAGE } from "./flags";
import { STOP } from "../values/counted";
import { GpuProblem } from "../values/problem";
import type { Apart, Stepped, StepTrial } from "./protocol";
import type { Compiled, Session } from "./session";
import { Watch } from "./watch";

/** Bytes of memory up to which the step is run with both sets of programs, to compare them. */
const MOST_COMPARED = 1 << 29;
const GUARD_BYTES = 64;
const MOST_TIMES = 200;

/** Of one kernel, ms: each alone, many times in a row. */
const KERNEL_MS = 40;

interface Launch {
  /** The number of its program; null: it only copies. */
  shader: number | null;
  dispatch: { pipeline: GPUComputePipeline; group: GPUBindGroup; groups: [number, number, number] } | null;
  /** Between shared memory and a buffer of the launch's own, where memory cannot be bound as it is. */
  before: Copy[];
  after: Copy[];
}

type Given = StepTrial["launches"][number]["arguments"];

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
    private readonly watch: Watch | null = null,
  ) {
    this.memory = trial.buffers.map((of, i) => {
      const held = trial.begins[i] ?? generated(of);
      return this.make(held.byteLength + GUARD_BYTES, USAGE.STORAGE | USAGE.COPY_DST, held);
    });
  }

  /** Makes the programs and what they bind. */
  async prepare(shaders: readonly Shader[], progress: (text: string) => void): Promise<void> {
    for (const [i, shader] of shaders.entries()) {
      progress(`compiling ${i + 1} of ${shaders.length}`);
      this.pipelines.set(shader, await this.session.compiled(shader, this.watch));
    }
    for (const { shader, arguments: given } of this.trial.launches)
      this.launches.push(
        shader === null ? this.copied(given) : this.launch(shader, shaders[shader]!, given),
      );
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

  private copied([to, from]: Given): Launch {
    if (!to || !from || to.offset % 4 || from.offset % 4) throw this.uneven();
    const bytes = 4 * Math.ceil(Math.min(to.bytes, from.bytes) / 4);
    const [source, target] = [this.memory[from.buffer]!, this.memory[to.buffer]!];
    const copy = { from: source, at: from.offset, to: target, toAt: to.offset, bytes };
    return { shader: null, dispatch: null, before: [copy], after: [] };
  }

  private uneven(): GpuProblem {
    return new GpuProblem(
      "A part of a buffer begins within a word, where WebGPU cannot copy",
      this.session.adapter.name,
      "Run its kernels one by one.",
    );
  }

  private launch(number: number, shader: Shader, given: Given): Launch {
    const { pipeline, layout } = this.pipelines.get(shader)!;
    const made: Launch = { shader: number, dispatch: null, before: [], after: [] };
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
        if (at % 4 || offset % 4) throw this.uneven();
        const size = 4 * Math.ceil(taken / 4);
        const memory = this.memory[buffer]!;
        made.before.push({ from: memory, at, to: own, toAt: offset, bytes: size });
        if (written)
          made.after.push({ from: own, at: offset, to: memory, toAt: at, bytes: size });
      }
      return { binding, resource: { buffer: own } };
    });
    const group = this.session.device.createBindGroup({ layout, entries });
    made.dispatch = { pipeline, group, groups: shader.groups };
    return made;
  }

  /** Submits the step, or these launches of it, so many times. */
  submit(times: number, launches: readonly Launch[] = this.launches): void {
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
      for (const { dispatch, before, after } of launches) {
        copy(before);
        if (dispatch) {
          pass ??= encoder.beginComputePass();
          pass.setPipeline(dispatch.pipeline);
          pass.setBindGroup(0, dispatch.group);
          if (this.watch) pass.setBindGroup(STOP.group, this.watch.group);
          pass.dispatchWorkgroups(...dispatch.groups);
        }
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
      await endsAtAll(session, trial, shaders, progress);
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
    const recorded = await asInTheRun(session, trial, made!);
    const us = await timed(session, made!, trial.seconds, progress);
    return { outputs, recorded, us, kernels: await each(session, trial, made!, progress) };
  } finally {
    for (const side of sides) side.close();
  }
}

/** Runs the step once with loops counted, where one might not end. Raises a GpuProblem where one does not. */
async function endsAtAll(
  session: Session,
  trial: StepTrial,
  shaders: readonly Shader[],
  progress: (text: string) => void,
): Promise<void> {
  if (!shaders.some((one) => Watch.counts(one, session.device))) return;
  const watch = new Watch(session.device);
  const side = await session.checked(() => new Side(session, trial, watch));
  try {
    await session.checked(() => side.prepare(shaders, progress));
    progress("counting the turns of loops");
    await session.checked(() => side.submit(1));
    await watch.check();
  } finally {
    side.close();
    watch.close();
  }
}

async function compared(session: Session, trial: StepTrial, a: Side, b: Side): Promise<Apart[]> {
  const outputs: Apart[] = [];
  const written = new Set(
    trial.launches.flatMap((one) => one.arguments.filter((g) => g.written).map((g) => g.buffer)),
  );
  for (const buffer of written) {
    const [x, y] = await Promise.all([a, b].map((side) => session.copy(side.memory[buffer]!)));
    outputs.push(furthest(trial, buffer, x!, y!));
  }
  return outputs;
}

/** What the step has left behind, against what it left in the run. */
async function asInTheRun(session: Session, trial: StepTrial, side: Side): Promise<Apart[]> {
  const found: Apart[] = [];
  for (const { buffer, bytes } of trial.ends)
    found.push(furthest(trial, buffer, await session.copy(side.memory[buffer]!), bytes));
  return found;
}

function furthest(trial: StepTrial, buffer: number, a: ArrayBuffer, b: ArrayBuffer): Apart {
  const { dtype, size } = trial.buffers[buffer]!;
  const read = reader(dtype);
  const [x, y] = [new DataView(a), new DataView(b)];
  const found: Apart = { buffer, error: 0, magnitude: 1, at: 0, got: 0, wanted: 0 };
  for (let i = 0; i < size; i++) {
    const [got, wanted] = [read(x, i), read(y, i)];
    const error = apart(got, wanted);
    if (Number.isFinite(wanted)) found.magnitude = Math.max(found.magnitude, Math.abs(wanted));
    if (i === 0 || error > found.error) Object.assign(found, { error, at: i, got, wanted });
  }
  return found;
}

/** Microseconds of some launches, which are submitted so many times together. */
async function once(session: Session, submit: (times: number) => void, times: number): Promise<number> {
  const began = performance.now();
  submit(times);
  await session.device.queue.onSubmittedWorkDone();
  return (1000 * (performance.now() - began)) / times;
}

/** Microseconds of the step, by the browser's clock around a few of them that are submitted together. */
async function timed(
  session: Session,
  side: Side,
  seconds: number,
  progress: (text: string) => void,
): Promise<number[]> {
  const step = (times: number): void => side.submit(times);
  const first = await once(session, step, 1);
  const together = Math.max(1, Math.min(50, Math.round(20_000 / Math.max(1, first))));
  const until = performance.now() + 1000 * seconds;
  const us: number[] = [];
  while (us.length < MOST_TIMES && (us.length < 3 || performance.now() < until)) {
    us.push(await once(session, step, together));
    if (us.length % 5 === 0) progress(`timing: ${us.length} times`);
  }
  return us;
}

/** Microseconds of one launch of each program, the first one of it in the step. */
async function each(
  session: Session,
  trial: StepTrial,
  side: Side,
  progress: (text: string) => void,
): Promise<number[]> {
  const us: number[] = [];
  for (const number of trial.made.keys()) {
    progress(`timing kernel ${number + 1} of ${trial.made.length}`);
    const launch = side.launches.filter(({ shader }) => shader === number).slice(0, 1);
    const kernel = (times: number): void => side.submit(times, launch);
    const first = await once(session, kernel, 1);
    const together = Math.floor((1000 * KERNEL_MS) / Math.max(1, first));
    us.push(together < 2 ? first : await once(session, kernel, Math.min(1000, together)));
  }
  return us;
}
