/** What a search looks for in the answers that an exported file holds: in passes nodes of a
 * structure, in kernels lines of texts. Pure; runs in the worker. */
import type { Bundle } from "../messages/bundle";
import type { Kernel } from "../messages/kernel";
import { findShape, type Place } from "./match";
import type { Shape } from "./shape";
import { casefold, first, splitLines, strip } from "./text";

export type Task = { kind: "structure"; shape: Shape } | { kind: "lines"; wanted: string };

/** A line of a source of a kernel. */
export interface Line {
  context: number;
  text: string;
  source: { kind: string; target: string; line: number };
}

export interface Examined {
  places: Place[];
  lines: Line[];
  /** Passes of which a part was left out of the file. */
  partial: number;
}

/** Lines of one process that are kept; the others are not looked for. */
export const MAX_LINES = 2000;
/** Characters of a line that are shown. */
const MAX_LINE = 300;

/** Looks through some answers: bundles for a structure, kernels for lines. */
export function examine(task: Task, answers: readonly unknown[]): Examined {
  const found: Examined = { places: [], lines: [], partial: 0 };
  for (const answer of answers) {
    if (!answer) continue;
    if (task.kind === "lines") found.lines.push(...linesOf(answer as Kernel, task.wanted));
    else {
      const bundle = answer as Bundle;
      const place = findShape(bundle, task.shape);
      if (place) found.places.push(place);
      else if (bundle.truncated !== null) found.partial++;
    }
  }
  return found;
}

/** Lines of the texts of a kernel that have a text, which is case-folded, in them. */
function linesOf(kernel: Kernel, wanted: string): Line[] {
  const found: Line[] = [];
  for (const { kind, target, text, passes } of kernel.artifacts) {
    // Texts that were compiled on request belong to a kernel of their own.
    if ((passes ?? kernel.context) !== kernel.context || !casefold(text).includes(wanted)) continue;
    for (const [at, line] of splitLines(text).entries())
      if (found.length < MAX_LINES && casefold(line).includes(wanted))
        found.push({
          context: kernel.context,
          text: first(strip(line), MAX_LINE),
          source: { kind, target, line: at + 1 },
        });
  }
  return found;
}
