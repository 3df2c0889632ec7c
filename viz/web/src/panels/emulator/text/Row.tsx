/** One line of the emulated text, in the list of all of them or in that of conflicts. */
import { breakpoints, goToLine, line, toggleBreakpoint } from "../../../parts/emulation/stepping";
import { access, litLanes } from "../../../parts/emulation/lit";
import { count, clip } from "../../../state/format";
import { languageOf, pieces, startState } from "../../../ui/code/languages";
import type { Facts } from "./facts";

export const LINE_HEIGHT = 20;
const LONGEST = 2000;

export type Cell = "threads" | "bytes" | "sectors" | "ways" | "extra";

const HEADS: Readonly<Record<Cell, string>> = {
  threads: "How often a thread ran the line",
  bytes: "Bytes loaded and stored",
  sectors: "Sectors of 32 bytes of global memory that were touched",
  ways: "Wavefronts that the slowest access of shared memory takes",
  extra: "Wavefronts of shared memory beyond the first of each phase",
};

/** The head of a list; `names` where a column is called otherwise there. */
export function Head({ cells, names = {} }: { cells: readonly Cell[]; names?: Partial<Record<Cell, string>> }) {
  return (
    <div class="eln hd" aria-hidden="true">
      <span class="no">line</span>
      <span class="code">instruction</span>
      {cells.map((cell) => (
        <span class="f" title={HEADS[cell]} key={cell}>
          {names[cell] ?? cell}
        </span>
      ))}
    </div>
  );
}

interface RowProps {
  id: string;
  number: number;
  text: string;
  kind: string;
  facts: Facts | undefined;
  cells: readonly Cell[];
  top: number;
  cursor: boolean;
  /** It comes from the same as the line that is looked at. */
  related?: boolean;
  /** What is wrong at it. */
  fault?: string;
}

export function Row({ id, number, text, kind, facts, cells, top, cursor, related, fault }: RowProps) {
  const now = line.value === number;
  const stops = breakpoints.value.has(number);
  const lit = now && [...litLanes.value].some((lane) => access.value?.at.has(lane));
  const classes = ["trow eln", now && "now", related && !now && "kin", lit && "lit", cursor && "cur", fault && "fault"];
  const parts = pieces(languageOf(kind), clip(text.trim(), LONGEST).text, startState());
  return (
    <div
      id={id}
      class={classes.filter(Boolean).join(" ")}
      role="option"
      aria-selected={now}
      aria-label={`line ${number}, ${text.trim()}${said(facts, cells)}${fault ? `, ${fault}` : ""}`}
      style={{ top: `${top}px` }}
      title={facts ? "Go on to its next instruction" : undefined}
      onClick={() => facts && goToLine(number)}
    >
      <button
        type="button"
        class="no num"
        tabIndex={-1}
        aria-pressed={stops}
        aria-label={`Stop at line ${number}`}
        title="Stop here (B)"
        onClick={(e) => {
          e.stopPropagation();
          toggleBreakpoint(number);
        }}
      >
        {stops && <span class="stop" aria-hidden="true" />}
        {count(number)}
      </button>
      <span class="code" title={fault}>
        {parts.map((part, i) => (
          <span key={i} class={part.kind ? `s-${part.kind}` : undefined}>
            {part.text}
          </span>
        ))}
      </span>
      {cells.map((cell) => (
        <Figure key={cell} cell={cell} facts={facts} />
      ))}
    </div>
  );
}

function Figure({ cell, facts }: { cell: Cell; facts: Facts | undefined }) {
  if (!facts) return <span class="f" />;
  if (cell === "threads" && facts.missing)
    return (
      <span class="f num">
        <span class="few" title={facts.missing}>
          {facts.threads}
        </span>
      </span>
    );
  if (cell === "sectors" && facts.fewest)
    return (
      <span class="f num">
        <span class="few" title={facts.fewest}>
          {facts.sectors}
        </span>
      </span>
    );
  return <span class={cell === "extra" ? "f num hot" : "f num"}>{facts[cell]}</span>;
}

/** ", 256 threads, 1.02 KB, 4 ways" for those who listen. */
const said = (facts: Facts | undefined, cells: readonly Cell[]): string =>
  cells.map((cell) => (facts?.[cell] ? `, ${facts[cell]}${unitOf(cell)}` : "")).join("");

/** Bytes have their unit already. */
const unitOf = (cell: Cell): string => (cell === "bytes" ? "" : ` ${cell}`);
