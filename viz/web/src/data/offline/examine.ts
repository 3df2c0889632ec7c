/** What a search looks for in the answers that an exported file holds: in passes nodes of a
 * structure, in kernels and the compiler's texts of passes lines. Pure; runs in the worker. */
import type { Bundle, PassTexts } from "../messages/bundle";
import type { Kernel } from "../messages/kernel";
import { findShape, type Place } from "./match";
import type { Shape } from "./shape";
import { casefold, first, splitLines, strip } from "./text";

export type Task = { kind: "structure"; shape: Shape } | { kind: "lines"; wanted: string };

/** A line of a source of a kernel, or one that a pass changed. */
export interface Line {
  kind: "source" | "text";
  /** The kernel or the pass. */
  entry: number;
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

/** Looks through some answers: bundles for a structure, the others for lines. */
export function examine(task: Task, answers: readonly unknown[]): Examined {
  const found: Examined = { places: [], lines: [], partial: 0 };
  for (const answer of answers) {
    if (!answer) continue;
    if (task.kind === "lines") {
      const held = answer as Kernel | PassTexts;
      const lines = "artifacts" in held ? linesOf : changedLines;
      found.lines.push(...lines(held as Kernel & PassTexts, task.wanted));
    } else {
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
    if ((passes ?? kernel.context) !== kernel.context) continue;
    for (const { line, shown } of linesWith(text, wanted))
      found.push({
        kind: "source",
        entry: kernel.context,
        text: shown,
        source: { kind, target, line },
      });
  }
  return found.slice(0, MAX_LINES);
}

/** Names of values: a line with other ones is the same line. */
const NAMES = /%[\w$.-]+(?:#\d+)?/g;

/** Lines with a text that only the text before a pass, or only that after it has. */
function changedLines(texts: PassTexts, wanted: string): Line[] {
  const sides = (["before", "after"] as const).map((when) => {
    const lines = linesWith(texts[when]?.text ?? "", wanted).map((one) => ({
      ...one,
      plain: one.shown.replace(NAMES, "%"),
    }));
    return { when, kind: texts[when]?.kind ?? "", lines };
  });
  const counts = sides.map(({ lines }) => {
    const found = new Map<string, number>();
    for (const { plain } of lines) found.set(plain, (found.get(plain) ?? 0) + 1);
    return found;
  });
  const found: Line[] = [];
  sides.forEach(({ when, kind, lines }, side) => {
    const other = new Map(counts[1 - side]);
    for (const { line, shown, plain } of lines) {
      const left = other.get(plain) ?? 0;
      if (left > 0) other.set(plain, left - 1);
      else
        found.push({
          kind: "text",
          entry: texts.rewrite,
          text: shown,
          source: { kind, target: when, line },
        });
    }
  });
  return found.slice(0, MAX_LINES);
}

/** The lines of a text that have a text, which is case-folded, and their numbers from 1. */
function linesWith(text: string, wanted: string): { line: number; shown: string }[] {
  if (!casefold(text).includes(wanted)) return [];
  return [...splitLines(text).entries()]
    .filter(([, line]) => casefold(line).includes(wanted))
    .map(([at, line]) => ({ line: at + 1, shown: first(strip(line), MAX_LINE) }));
}
