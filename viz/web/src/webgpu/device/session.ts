/** Runs WGSL on the GPU that the browser offers. In a worker, so that a kernel that hangs can be left. */
import type { Shader, ShaderBinding } from "../../data/messages/trials/shaders";
import { COMPUTE_STAGE, MAP_READ, USAGE } from "./flags";
import { STOP } from "../values/counted";
import { generated } from "../values/generated";
import { GpuProblem } from "../values/problem";
import type { Adapter, Trial, Tried } from "./protocol";
import { Watch } from "./watch";

/** Words behind each buffer that a kernel may write, and what they hold. */
const GUARD_WORDS = 16;
const GUARD = 0x5afe5afe;
/** Wanted of a batch, ms: browsers make timestamps as coarse as 0.1 ms, and clocks, too. */
const BATCH_MS = 10;
const MOST_LAUNCHES = 10_000;
const MOST_BATCHES = 60;
const WARM = 2;

/** Limits that are raised to what the adapter has. */
const RAISED = [
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxStorageBuffersPerShaderStage",
  "maxUniformBufferBindingSize",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupSizeX",
  "maxComputeWorkgroupSizeY",
  "maxComputeWorkgroupSizeZ",
  "maxComputeWorkgroupsPerDimension",
] as const;
/** Asked of the adapter where it has them: edited texts may use the last two. */
const WANTED = ["timestamp-query", "shader-f16", "subgroups"] as const;

export class Session {
  private constructor(
    readonly adapter: Adapter,
    readonly device: GPUDevice,
  ) {}

  /** Raises a GpuProblem where the browser offers no GPU. */
  static async open(): Promise<Session> {
    const gpu = (navigator as Partial<Navigator>).gpu;
    if (!gpu)
      throw new GpuProblem(
        "This browser has no WebGPU here",
        "",
        isSecureContext
          ? "Chrome and Edge have it, Safari from 26 and Firefox from 141 on; on Linux it may have to be switched on."
          : "Browsers have it at secure addresses only: open the page at 127.0.0.1, localhost or https.",
      );
    const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
    if (!adapter)
      throw new GpuProblem(
        "The browser offers no GPU",
        "",
        "Its page about GPUs (chrome://gpu, about:support) says why: often a driver that is blocked.",
      );
    const features = WANTED.filter((name) => adapter.features.has(name));
    const requiredLimits: Record<string, number> = {};
    for (const name of RAISED) requiredLimits[name] = adapter.limits[name];
    const device = await adapter.requestDevice({ requiredFeatures: features, requiredLimits });
    return new Session(described(adapter), device);
  }

  /** Calls back once the device is lost. */
  whenLost(told: (why: string) => void): void {
    void this.device.lost.then((info) => told(info.message || info.reason));
  }

  close(): void {
    this.device.destroy();
  }

  /** See Trial. Raises a GpuProblem for what is not valid, and for what does not fit. */
  async run(trial: Trial, progress: (text: string) => void): Promise<Tried> {
    progress("making inputs");
    const memory = trial.arguments.map(generated);
    const programs: Program[] = [];
    try {
      for (const [i, side] of trial.sides.entries()) {
        progress(`compiling${trial.sides.length > 1 ? ` ${i + 1} of ${trial.sides.length}` : ""}`);
        programs.push(await this.program(side, memory));
      }
      for (const side of trial.sides) await this.endsAtAll(side, memory, progress);
      const outputs: ArrayBuffer[][] = [];
      const overrun: [number, number][] = [];
      for (const [i, program] of programs.entries()) {
        progress("running");
        await this.checked(() => this.submit(program, 1));
        const { memory, broken } = await this.read(program, trial.written);
        outputs.push(memory);
        overrun.push(...broken.map((argument): [number, number] => [i, argument]));
      }
      const timed = trial.timed.map((i) => programs[i]!);
      const { us, timing } = await this.time(timed, trial.seconds, progress);
      return { outputs, us, timing, overrun };
    } finally {
      for (const program of programs) for (const buffer of program.buffers) buffer.destroy();
    }
  }

  /** Does `act` and raises what the device finds invalid in it. */
  async checked<T>(act: () => T): Promise<Awaited<T>> {
    this.device.pushErrorScope("validation");
    this.device.pushErrorScope("out-of-memory");
    const [made] = await Promise.allSettled([new Promise<T>((done) => done(act()))]);
    const [memory, invalid] = [await this.device.popErrorScope(), await this.device.popErrorScope()];
    // a browser throws a RangeError where it cannot map so much memory
    if (memory || (made.status === "rejected" && made.reason instanceof RangeError))
      throw new GpuProblem("The GPU has no memory for this kernel", "", "Close other pages that use it.");
    if (invalid) throw new GpuProblem(firstLine(invalid.message), "WebGPU", "");
    if (made.status === "rejected") throw made.reason;
    return made.value;
  }

  /** Launches a program once with its loops counted, where one might not end. Raises a GpuProblem where
   * one does not. */
  private async endsAtAll(
    shader: Shader,
    memory: readonly ArrayBuffer[],
    progress: (text: string) => void,
  ): Promise<void> {
    if (!Watch.counts(shader, this.device)) return;
    progress("counting the turns of loops");
    const watch = new Watch(this.device);
    const program = await this.program(shader, memory, watch);
    try {
      await this.checked(() => this.submit(program, 1));
      await watch.check();
    } finally {
      for (const buffer of program.buffers) buffer.destroy();
      watch.close();
    }
  }

  private async program(
    shader: Shader,
    memory: readonly ArrayBuffer[],
    watch: Watch | null = null,
  ): Promise<Program> {
    const { pipeline, layout } = await this.compiled(shader, watch);
    const parts = await this.checked(() => shader.bindings.map((one) => this.buffer(one, memory)));
    const group = await this.checked(() =>
      this.device.createBindGroup({
        layout,
        entries: shader.bindings.map((one, i) => ({
          binding: one.binding,
          resource: { buffer: parts[i]! },
        })),
      }),
    );
    return { shader, pipeline, group, watch, buffers: parts };
  }

  /** The program of a module, and how it binds memory; raises what its compiler says, at its line. With
   * `watch`, which it then binds as well, its loops are counted where that is possible. */
  async compiled(shader: Shader, watch: Watch | null = null): Promise<Compiled> {
    if (!watch) return this.module(shader, []);
    const counting = Watch.counts(shader, this.device);
    // a count may keep threads from meeting at a barrier as WGSL demands: then it is left out
    const made = counting && (await this.module(counting, [watch.layout]).catch(() => null));
    return made ?? this.module(shader, [watch.layout]);
  }

  private async module(shader: Shader, more: readonly GPUBindGroupLayout[]): Promise<Compiled> {
    const layout = this.device.createBindGroupLayout({
      entries: shader.bindings.map((one) => ({
        binding: one.binding,
        visibility: COMPUTE_STAGE,
        buffer: { type: accessIn(shader.text, one) },
      })),
    });
    this.device.pushErrorScope("validation");
    const module = this.device.createShaderModule({ code: shader.text });
    const { messages } = await module.getCompilationInfo();
    const invalid = await this.device.popErrorScope();
    const wrong = messages.find(({ type }) => type === "error");
    if (wrong)
      throw new GpuProblem(
        firstLine(wrong.message),
        wrong.lineNum ? `line ${wrong.lineNum}` : "WGSL",
        "Reported by the WGSL compiler of the browser.",
      );
    if (invalid) throw new GpuProblem(firstLine(invalid.message), "WGSL", "");
    try {
      const pipeline = await this.device.createComputePipelineAsync({
        layout: this.device.createPipelineLayout({ bindGroupLayouts: [layout, ...more] }),
        compute: { module, entryPoint: shader.entry },
      });
      return { pipeline, layout };
    } catch (thrown) {
      throw new GpuProblem(
        firstLine(thrown instanceof Error ? thrown.message : String(thrown)),
        entryIn(shader.text),
        `The browser cannot make a program of it: its function is ${shader.entry}.`,
      );
    }
  }

  private buffer(binding: ShaderBinding, memory: readonly ArrayBuffer[]): GPUBuffer {
    const uniform = binding.kind === "uniform";
    const guards = uniform ? 0 : GUARD_WORDS;
    const bytes = 4 * Math.ceil(Math.max(binding.bytes, 4) / 4);
    const size = uniform ? 16 * Math.ceil(bytes / 16) : bytes + 4 * guards;
    if (size > this.device.limits.maxStorageBufferBindingSize)
      throw new GpuProblem(
        `A buffer of ${size} bytes is more than this GPU binds at once`,
        this.adapter.name,
        "Run a smaller kernel.",
      );
    const buffer = this.device.createBuffer({
      size,
      usage: (uniform ? USAGE.UNIFORM : USAGE.STORAGE) | USAGE.COPY_SRC,
      mappedAtCreation: true,
    });
    const mapped = buffer.getMappedRange();
    const to = new Uint8Array(mapped);
    for (const { argument, value, offset } of binding.parts) {
      if (argument !== null) to.set(new Uint8Array(memory[argument]!), offset);
      if (value !== null) new DataView(mapped).setInt32(offset, value, true);
    }
    if (guards) new Uint32Array(mapped, bytes, guards).fill(GUARD);
    buffer.unmap();
    return buffer;
  }

  private submit(program: Program, launches: number, stamps: GPUQuerySet | null = null): void {
    const encoder = this.device.createCommandEncoder();
    const pass = encoder.beginComputePass(
      stamps
        ? {
            timestampWrites: {
              querySet: stamps,
              beginningOfPassWriteIndex: 0,
              endOfPassWriteIndex: 1,
            },
          }
        : {},
    );
    pass.setPipeline(program.pipeline);
    pass.setBindGroup(0, program.group);
    if (program.watch) pass.setBindGroup(STOP.group, program.watch.group);
    for (let i = 0; i < launches; i++) pass.dispatchWorkgroups(...program.shader.groups);
    pass.end();
    this.device.queue.submit([encoder.finish()]);
  }

  /** What is in the arguments of these numbers, and which of them have a broken guard. */
  private async read(
    program: Program,
    written: readonly number[],
  ): Promise<{ memory: ArrayBuffer[]; broken: number[] }> {
    const held = new Map<number, ArrayBuffer>();
    const broken = new Set<number>();
    for (const [i, binding] of program.shader.bindings.entries()) {
      const own = binding.parts.filter((p) => p.argument !== null && written.includes(p.argument));
      if (!own.length || binding.kind === "uniform") continue;
      const bytes = await this.copy(program.buffers[i]!);
      const behind = new Uint32Array(bytes, bytes.byteLength - 4 * GUARD_WORDS);
      const whole = behind.every((word) => word === GUARD);
      const ends = own.map((p) => p.offset).sort((a, z) => a - z);
      for (const { argument, offset } of own) {
        const next = ends.find((other) => other > offset) ?? bytes.byteLength - 4 * GUARD_WORDS;
        held.set(argument!, bytes.slice(offset, next));
        if (!whole) broken.add(argument!);
      }
    }
    return { memory: written.map((n) => held.get(n) ?? new ArrayBuffer(0)), broken: [...broken] };
  }

  /** What is in a buffer. */
  async copy(buffer: GPUBuffer): Promise<ArrayBuffer> {
    const to = this.device.createBuffer({
      size: buffer.size,
      usage: USAGE.COPY_DST | USAGE.MAP_READ,
    });
    const encoder = this.device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, 0, to, 0, buffer.size);
    this.device.queue.submit([encoder.finish()]);
    await to.mapAsync(MAP_READ);
    const bytes = to.getMappedRange().slice(0);
    to.destroy();
    return bytes;
  }

  /** Times programs in turn: each batch of one is followed by one of the next. */
  private async time(
    programs: readonly Program[],
    seconds: number,
    progress: (text: string) => void,
  ): Promise<{ us: number[][]; timing: string }> {
    const us: number[][] = programs.map(() => []);
    if (!programs.length) return { us, timing: "" };
    const clock = this.adapter.timestamps ? new Stamps(this.device) : null;
    const once = async (program: Program, launches: number): Promise<number> => {
      const began = performance.now();
      this.submit(program, launches, clock?.set ?? null);
      if (clock) return clock.read();
      await this.device.queue.onSubmittedWorkDone();
      return 1000 * (performance.now() - began);
    };
    const until = performance.now() + 1000 * seconds;
    const counts: number[] = [];
    for (const program of programs) {
      let launches = 1;
      for (let i = 0; i < WARM; i++) await once(program, 1);
      for (;;) {
        const took = await once(program, launches);
        if (took >= 1000 * BATCH_MS || launches >= MOST_LAUNCHES || performance.now() > until) break;
        const wanted = took > 0 ? (launches * 1200 * BATCH_MS) / took : 8 * launches;
        launches = Math.min(MOST_LAUNCHES, Math.max(2 * launches, Math.min(8 * launches, wanted)));
        launches = Math.ceil(launches);
      }
      counts.push(launches);
    }
    for (let batch = 0; batch < MOST_BATCHES; batch++) {
      for (const [i, program] of programs.entries())
        us[i]!.push((await once(program, counts[i]!)) / counts[i]!);
      if (batch % 4 === 0) progress(`timing: ${batch + 1} of ${MOST_BATCHES} batches`);
      if (performance.now() > until && batch >= 2) break;
    }
    clock?.close();
    const by = clock ? "timestamps of the GPU" : "the browser's clock, readback left out";
    const launches = counts.map(String).join(" and ");
    return { us, timing: `${by}; ${us[0]!.length} batches of ${launches} launches` };
  }
}

export interface Compiled {
  pipeline: GPUComputePipeline;
  layout: GPUBindGroupLayout;
}

interface Program {
  shader: Shader;
  pipeline: GPUComputePipeline;
  group: GPUBindGroup;
  watch: Watch | null;
  buffers: GPUBuffer[];
}

/** Two timestamps of one pass. */
class Stamps {
  readonly set: GPUQuerySet;
  private readonly resolved: GPUBuffer;
  private readonly mapped: GPUBuffer;

  constructor(private readonly device: GPUDevice) {
    this.set = device.createQuerySet({ type: "timestamp", count: 2 });
    const { QUERY_RESOLVE, COPY_SRC, COPY_DST, MAP_READ } = USAGE;
    this.resolved = device.createBuffer({ size: 16, usage: QUERY_RESOLVE | COPY_SRC });
    this.mapped = device.createBuffer({ size: 16, usage: COPY_DST | MAP_READ });
  }

  /** Microseconds between them, of the pass that was submitted last. */
  async read(): Promise<number> {
    const encoder = this.device.createCommandEncoder();
    encoder.resolveQuerySet(this.set, 0, 2, this.resolved, 0);
    encoder.copyBufferToBuffer(this.resolved, 0, this.mapped, 0, 16);
    this.device.queue.submit([encoder.finish()]);
    await this.mapped.mapAsync(MAP_READ);
    const [from, to] = new BigUint64Array(this.mapped.getMappedRange());
    const us = Number(to! - from!) / 1000;
    this.mapped.unmap();
    return us;
  }

  close(): void {
    this.set.destroy();
    this.resolved.destroy();
    this.mapped.destroy();
  }
}

/** How a text declares a binding: an edited one may read what the compiler's writes, or the other way. */
export function accessIn(text: string, { binding, kind }: ShaderBinding): GPUBufferBindingType {
  const declared = new RegExp(
    `@binding\\s*\\(\\s*${binding}u?\\s*\\)\\s*var\\s*<\\s*(\\w+)\\s*(?:,\\s*(\\w+)\\s*)?>`,
  ).exec(text);
  if (!declared) return kind;
  if (declared[1] === "uniform") return "uniform";
  return declared[2] === "read_write" ? "storage" : "read-only-storage";
}

/** Where a text declares its function: what is wrong with a program as a whole is about that. */
export function entryIn(text: string): string {
  const at = text.split("\n").findIndex((line) => /@compute\b/.test(line));
  return at < 0 ? "WGSL" : `line ${at + 1}`;
}

function described(adapter: GPUAdapter): Adapter {
  const { vendor, architecture, device, description } = adapter.info;
  const software = /swiftshader|llvmpipe|lavapipe|basic render/i.test(`${architecture} ${description}`);
  const words = description || [vendor, device || architecture].filter(Boolean).join(" ");
  return {
    name: software ? `${architecture || description}, on the processor` : words || "GPU",
    software,
    timestamps: adapter.features.has("timestamp-query"),
  };
}

const firstLine = (text: string): string => text.trim().split("\n", 1)[0]!;
