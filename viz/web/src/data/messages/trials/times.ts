/** Two programs timed in turn: what the workbench and the variants of a kernel have in common. */

/** New time over old: the median ratio, and the interval that holds it with 95 %; microseconds of both. */
export interface Times {
  ratio: number;
  low: number;
  high: number;
  old: number;
  new: number;
  turns: number;
}
