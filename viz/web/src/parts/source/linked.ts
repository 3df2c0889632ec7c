/**
 * What is lit in texts that stand side by side: the lines that come from the same nodes as a line that
 * was clicked or is pointed at, or those of a node. Knows no editor and no graph.
 */
import { computed, signal } from "@preact/signals";
import type { Artifact } from "../../data/messages/kernel";
import { columnKey } from "../kernel/columns";
import { lineIndex, NOTHING, sameOrigin, type Lit } from "../kernel/lines";

/** A line (0-based) of a text. */
export interface At {
  artifact: Artifact;
  line: number;
}

/** The line that was clicked last, how far it is below the upper edge of its column, and the node that
 * is selected with it. */
export interface Clicked extends At {
  top: number;
  slot: number | null;
  subject: string;
}

/** How the reader came to a line: by the page itself; by the arrows of the column, which bring it into view;
 * or level with lines of other columns, which all come to one height. Each step is a new object. */
export interface Walked {
  readonly line: number;
  readonly by: "page" | "arrows" | "level";
}

interface Source {
  /** Tells one kernel from another; a click holds for one. */
  subject: () => string;
  /** The slot that is selected. */
  slot: () => number | null;
  /** The nodes of a graph that are selected and under the pointer; null for none. */
  selected: () => number | null;
  hovered: () => number | null;
  linesOfNode: (artifact: Artifact, id: number) => Lit;
}

export class Linked {
  readonly pointed = signal<At | null>(null);
  private readonly lastClicked = signal<Clicked | null>(null);
  /** Where the reader is among the lit lines of each column, and of what these are the lines. */
  private readonly walked = signal<{ of: unknown; at: ReadonlyMap<string, Walked> }>({
    of: null,
    at: new Map(),
  });

  constructor(private readonly source: Source) {}

  /** The clicked line, until another kernel or another node is looked at. */
  readonly clicked = computed<Clicked | null>(() => {
    const last = this.lastClicked.value;
    if (last?.subject !== this.source.subject()) return null;
    const slot = this.source.slot();
    return slot === null || slot === last.slot ? last : null;
  });

  /** The line whose relatives are lit; null where it is a node that lights them, or nothing does. */
  readonly line = computed<At | null>(
    () => this.pointed.value ?? (this.source.hovered() === null ? this.clicked.value : null),
  );

  /** What lights lines apart from the pointer: another object or number for another thing. */
  readonly chosen = computed<Clicked | number | null>(
    () => this.clicked.value ?? this.source.selected(),
  );

  /** Whether lines of any text are lit, as far as they have some. */
  readonly isAny = computed(
    () =>
      this.chosen.value !== null || this.pointed.value !== null || this.source.hovered() !== null,
  );

  /** The lines that are lit now. */
  litIn(artifact: Artifact): Lit {
    if (this.pointed.value) return relatives(this.pointed.value, artifact);
    const hovered = this.source.hovered();
    return hovered === null ? this.chosenIn(artifact) : this.source.linesOfNode(artifact, hovered);
  }

  /** The lines that are lit once the pointer is elsewhere. */
  chosenIn(artifact: Artifact): Lit {
    const chosen = this.chosen.value;
    if (chosen === null) return NOTHING;
    return typeof chosen === "number"
      ? this.source.linesOfNode(artifact, chosen)
      : relatives(chosen, artifact);
  }

  /** The line that the reader is at, of the lit ones of a column. */
  current(key: string, lines: readonly number[]): number | null {
    const walked = this.walkedIn(key)?.line;
    const clicked = this.clicked.value;
    if (walked !== undefined && lines.includes(walked)) return walked;
    const isHere = clicked !== null && columnKey(clicked.artifact) === key;
    return isHere && lines.includes(clicked.line) ? clicked.line : (lines[0] ?? null);
  }

  /** The line of a column that the reader has stepped to; null until then. */
  steppedTo(key: string): Walked | null {
    const walked = this.walkedIn(key);
    return walked && walked.by !== "page" ? walked : null;
  }

  private walkedIn(key: string): Walked | undefined {
    const { of, at } = this.walked.value;
    return of === this.chosen.value ? at.get(key) : undefined;
  }

  walkTo(key: string, line: number, by: Walked["by"] = "page"): void {
    const { of, at } = this.walked.peek();
    const now = this.chosen.peek();
    const before = of === now ? at : new Map<string, Walked>();
    const was = before.get(key);
    if (by !== "page" || was?.line !== line || was.by !== by)
      this.walked.value = { of: now, at: new Map([...before, [key, { line, by }]]) };
  }

  /** To the next or previous lit line of a column, from the last on to the first. */
  walk(key: string, lines: readonly number[], way: 1 | -1): void {
    const now = lines.indexOf(this.current(key, lines) ?? -1);
    const next = lines[(now + way + lines.length) % lines.length];
    if (next !== undefined) this.walkTo(key, next, "arrows");
  }

  click(at: Clicked | null): void {
    this.lastClicked.value = at;
  }
}

/** Lines that come from the same as a line, in its own text or in another one. */
function relatives({ artifact: from, line }: At, artifact: Artifact): Lit {
  const found = sameOrigin(from, line, lineIndex(artifact));
  if (columnKey(from) !== columnKey(artifact) || found.lines.includes(line)) return found;
  return { ...found, lines: [...found.lines, line].sort((x, y) => x - y) };
}

/** Of lines, the one that has the shortest way to a height. */
export function nearest(
  lines: readonly number[],
  top: number,
  topOf: (line: number) => number,
): number | null {
  let best: number | null = null;
  let way = Infinity;
  for (const line of lines) {
    const far = Math.abs(topOf(line) - top);
    if (far < way) [best, way] = [line, far];
  }
  return best;
}
