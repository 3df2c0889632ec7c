/** A kernel as WGSL, with all that a browser needs to run it and to judge its outcome. */
import type { ApiProblem } from "../job";
import type { Numeric } from "./workbench";

/** A stretch of a binding at `offset` bytes: an argument by its number, or a word such as a variable. */
export interface ShaderPart {
  argument: number | null;
  value: number | null;
  offset: number;
}

/** A buffer that the shader binds at `binding` of group 0. */
export interface ShaderBinding {
  binding: number;
  kind: "storage" | "read-only-storage" | "uniform";
  bytes: number;
  parts: ShaderPart[];
}

/** One WGSL module. `groups`: work groups along x, y and z, for the largest values of all variables. */
export interface Shader {
  text: string;
  entry: string;
  /** The optimisations that were applied; null where its graph does not say. */
  opts: string | null;
  groups: [number, number, number];
  bindings: ShaderBinding[];
}

/** A pointer argument of a kernel. */
export interface ShaderArgument {
  number: number;
  name: string;
  dtype: string;
  /** Elements; `shape` is how they lie, where the kernel says it. */
  size: number;
  shape: number[];
  /** Rows and columns of its picture. */
  table: [number, number];
  written: boolean;
  /** The error that counts as equal, relative to the largest magnitude, at least 1; 0: exact. */
  allowed: number;
  /** The integers that it may hold, where it is an index; null: any. */
  span: [number, number] | null;
}

/** Elements of an output as the reference computed them on generated inputs. */
export interface ShaderExpected {
  argument: number;
  at: number[];
  values: Numeric[];
}

/** A kernel for WebGPU. */
export interface Shaders {
  name: string;
  arguments: ShaderArgument[];
  /** Names and the values that are used, the largest of each. */
  variables: { name: string; value: number }[];
  /** As the compiler chose, or as was asked for. */
  made: Shader;
  /** Without any optimisation: one thread per element of the output. */
  plain: Shader;
  /** What the reference computes on generated inputs; null, and why, where it was not run. */
  expected: ShaderExpected[] | null;
  why: string;
  flops: number;
  bytes: number;
}

/** Either of it, or why there is none. */
export type ShadersOrWhy = Shaders | { error: ApiProblem };
