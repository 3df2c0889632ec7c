/** What the memory of a captured step held in the run, around one replay of it. */

/** Memory by its number in the text of the step; `data`: its elements, little-endian, as base64. */
export interface StepMemory {
  number: number;
  dtype: string;
  size: number;
  data: string;
}

export interface StepValues {
  device: string;
  /** Which replay it was, counted from 1. */
  replay: number;
  /** What the step read before it wrote it, and what it left behind. */
  before: StepMemory[];
  after: StepMemory[];
  /** Why some are missing; "" where none is. */
  why: string;
}
