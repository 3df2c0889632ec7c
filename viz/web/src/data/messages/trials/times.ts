/** Two programs timed in turn: what the workbench and the variants of a kernel have in common. */

/** New time over old, and the interval that holds it with 95 %. */
export interface Interval {
  ratio: number;
  low: number;
  high: number;
}

/** Of two programs in turn, the median ratio; microseconds of both. */
export interface Times extends Interval {
  old: number;
  new: number;
  turns: number;
}
