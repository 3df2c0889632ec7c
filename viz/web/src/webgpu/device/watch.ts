/** Finds out whether loops of a program end: one launch with their turns counted. */
import { counted, STOP } from "../values/counted";
import { GpuProblem } from "../values/problem";
import { COMPUTE_STAGE, MAP_READ, USAGE } from "./flags";
import type { Shader } from "../../data/messages/trials/shaders";

export class Watch {
  readonly layout: GPUBindGroupLayout;
  readonly group: GPUBindGroup;
  private readonly stop: GPUBuffer;

  constructor(private readonly device: GPUDevice) {
    this.layout = device.createBindGroupLayout({
      entries: [{ binding: STOP.binding, visibility: COMPUTE_STAGE, buffer: { type: "storage" } }],
    });
    this.stop = device.createBuffer({ size: 4, usage: USAGE.STORAGE | USAGE.COPY_SRC });
    this.group = device.createBindGroup({
      layout: this.layout,
      entries: [{ binding: STOP.binding, resource: { buffer: this.stop } }],
    });
  }

  /** The program with its loops counted; null where they all end, or the GPU binds no more memory. */
  static counts(shader: Shader, device: GPUDevice): Shader | null {
    const buffers = shader.bindings.filter(({ kind }) => kind !== "uniform").length;
    if (buffers >= device.limits.maxStorageBuffersPerShaderStage) return null;
    const text = counted(shader.text);
    return text === null ? null : { ...shader, text };
  }

  /** Waits for what was launched. Raises a GpuProblem, at its line, for a loop that went on. */
  async check(): Promise<void> {
    const to = this.device.createBuffer({ size: 4, usage: USAGE.COPY_DST | USAGE.MAP_READ });
    const encoder = this.device.createCommandEncoder();
    encoder.copyBufferToBuffer(this.stop, 0, to, 0, 4);
    this.device.queue.submit([encoder.finish()]);
    await to.mapAsync(MAP_READ);
    const [line] = new Uint32Array(to.getMappedRange());
    to.destroy();
    if (line)
      throw new GpuProblem(
        "This loop may never end: it was stopped after millions of turns",
        `line ${line}`,
        "Nothing else was run, and the GPU is free.",
      );
  }

  close(): void {
    this.stop.destroy();
  }
}
