/** What each line of the text did, in the words of the tables. Pure. */
import type { Counters } from "../../../data/messages/emulation";
import { bytes, count } from "../../../state/format";

export interface Facts {
  threads: string;
  /** Why fewer threads ran it than its warps have; "" where all did. */
  missing: string;
  bytes: string;
  /** Sectors that are touched; `fewest`: how few would do, where these are many more. */
  sectors: string;
  fewest: string;
  ways: string;
  extra: string;
}

/** How many times the fewest sectors are worth a word. */
const MANY = 1.5;

const sum = (of: Record<string, number>): number => Object.values(of).reduce((a, b) => a + b, 0);

/** By line, from 1. */
export function factsOf({ lines }: Counters): ReadonlyMap<number, Facts> {
  return new Map(
    lines.line.map((number, i) => {
      const [threads, lanes, divergent] = [lines.threads[i]!, lines.lanes[i]!, lines.divergent[i]!];
      const moved = sum(lines.loaded[i]!) + sum(lines.stored[i]!);
      const [sectors, least] = [lines.sectors[i]!, lines.least[i]!];
      const parted = divergent ? `, ${count(divergent)} of ${count(lines.warps[i]!)} warps with some only` : "";
      return [
        number,
        {
          threads: count(threads),
          missing:
            threads < lanes
              ? `${count(threads)} of the ${count(lanes)} threads of its warps${parted}`
              : "",
          bytes: moved ? bytes(moved) : "",
          sectors: sectors ? count(sectors) : "",
          fewest:
            sectors > MANY * least
              ? `${(sectors / least).toFixed(1)} times the ${count(least)} sectors that could hold as many bytes`
              : "",
          ways: lines.ways[i]! > 1 ? count(lines.ways[i]!) : "",
          extra: lines.conflicts[i] ? count(lines.conflicts[i]) : "",
        },
      ];
    }),
  );
}

/** Lines with bank conflicts, those with most extra wavefronts first. */
export function worstOf({ lines }: Counters): readonly { line: number; extra: number }[] {
  return lines.line
    .map((line, i) => ({ line, extra: lines.conflicts[i]! }))
    .filter(({ extra }) => extra > 0)
    .sort((a, b) => b.extra - a.extra || a.line - b.line);
}
