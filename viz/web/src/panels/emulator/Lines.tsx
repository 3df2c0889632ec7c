/** The text that is emulated: what each line did, where the warp is, where it stops. */
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Counters, Emulation } from "../../data/messages/emulation";
import { nextLine } from "../../parts/emulation/walk";
import { columnKey } from "../../parts/kernel/columns";
import { kernelArtifacts } from "../../parts/kernel/kernel";
import { pointAt } from "../../parts/source/Column";
import { bytes, clip, count, short } from "../../state/format";
import { pieces, languageOf, startState } from "../../ui/code/languages";
import { VirtualList } from "../../ui/VirtualList";
import { breakpoints, runOn, stepBy, steps, toggleBreakpoint } from "../../parts/emulation/store";

const LINE_HEIGHT = 18;
const LONGEST = 2000;

interface Line {
  number: number;
  text: string;
}

export function Lines({ of }: { of: Emulation }) {
  const lines = useMemo<Line[]>(
    () =>
      of.text
        .replace(/\n$/, "")
        .split("\n")
        .map((text, i) => ({ number: i + 1, text })),
    [of],
  );
  const facts = useMemo(() => factsOf(of.counters), [of]);
  const most = useMemo(() => Math.max(1, ...of.counters.lines.threads), [of]);
  const shown = useMemo(
    () => HEADS.map((_, i) => i).filter((i) => [...facts.values()].some((f) => f.cells[i])),
    [facts],
  );
  const now = nextLine(of.walk, steps.value);
  const fault = of.fault ?? of.walk.fault;
  const [cursor, setCursor] = useState<string | null>(null);
  const stops = breakpoints.value;
  useEffect(() => light(of, now), [of, now]);
  useEffect(() => () => light(of, 0), [of]);
  return (
    <div class="lines">
      <div class="lh" aria-hidden="true">
        <span class="no">line</span>
        <span class="code" />
        {shown.map((i) => (
          <span class="f" title={HEADS[i]!.title} key={i}>
            {HEADS[i]!.name}
          </span>
        ))}
      </div>
      <VirtualList<Line>
        id="emulated"
        class="tree mono"
        role="listbox"
        label={`${of.kind} for ${of.target}, emulated`}
        items={lines}
        keyOf={(line) => `${line.number}`}
        lineHeight={LINE_HEIGHT}
        cursor={cursor}
        reveal={now || fault ? `${now || fault?.line}` : null}
        onCursor={setCursor}
        onKey={(e, line) => {
          const done = key(e.key, line);
          if (done) e.preventDefault();
        }}
        draw={(line, i) => (
          <Row
            line={line}
            top={i * LINE_HEIGHT}
            cursor={cursor === `${line.number}`}
            kind={of.kind}
            facts={facts.get(line.number)}
            most={most}
            shown={shown}
            now={line.number === now}
            fault={line.number === fault?.line ? fault.what : ""}
            stops={stops.has(line.number)}
          />
        )}
      />
    </div>
  );
}

function key(pressed: string, line: Line | undefined): boolean {
  if (pressed === "ArrowRight") stepBy(1);
  else if (pressed === "ArrowLeft") stepBy(-1);
  else if (pressed === " ") runOn();
  else if (pressed === "Enter" && line) toggleBreakpoint(line.number);
  else return false;
  return true;
}

/** Lights what the line (from 1) belongs to in graph and sources, where the text is one of these. */
function light(of: Emulation, line: number): void {
  const key = `${of.kind}:${of.target}`;
  const found = kernelArtifacts.peek().find((a) => columnKey(a) === key && a.text === of.text);
  if (found) pointAt(found, line ? line - 1 : null);
}

interface Facts {
  threads: number;
  cells: readonly string[];
  /** Which of them say that something is slower than it could be. */
  bad: readonly boolean[];
}

const HEADS = [
  { name: "threads", title: "How often a thread ran the line" },
  { name: "diverged", title: "Warps that ran it with some of their threads only" },
  { name: "bytes", title: "Bytes loaded and stored" },
  {
    name: "sectors",
    title: "Sectors of 32 bytes touched, in place of how few could hold the bytes",
  },
  { name: "conflicts", title: "Turns of shared memory beyond the first of each access" },
] as const;

function factsOf({ lines }: Counters): Map<number, Facts> {
  const sum = (of: Record<string, number>): number => Object.values(of).reduce((a, b) => a + b, 0);
  return new Map(
    lines.line.map((number, i) => {
      const [threads, warps, divergent] = [lines.threads[i]!, lines.warps[i]!, lines.divergent[i]!];
      const moved = sum(lines.loaded[i]!) + sum(lines.stored[i]!);
      const ratio = lines.least[i]! ? lines.sectors[i]! / lines.least[i] : 0;
      const cells = [
        count(threads),
        divergent ? `${Math.round((100 * divergent) / warps)}%` : "",
        moved ? bytes(moved) : "",
        ratio ? `${ratio.toFixed(1)}×` : "",
        lines.conflicts[i] ? count(lines.conflicts[i]) : "",
      ];
      const bad = [false, divergent > 0, false, ratio > 1.5, lines.conflicts[i]! > 0];
      return [number, { threads, cells, bad }];
    }),
  );
}

interface RowProps {
  line: Line;
  top: number;
  cursor: boolean;
  kind: string;
  facts: Facts | undefined;
  most: number;
  /** Which of HEADS have figures. */
  shown: readonly number[];
  now: boolean;
  stops: boolean;
  /** What is wrong at it. */
  fault: string;
}

/** Shades of the first column, by how often the line ran beside the most frequent one. */
const SHADES = 4;

function cellClass(facts: Facts | undefined, column: number, most: number): string {
  if (!facts) return "f num";
  if (column === 0) return `f num heat${Math.ceil((SHADES * facts.threads) / most)}`;
  return facts.bad[column] ? "f num bad" : "f num";
}

function Row({ line, top, cursor, kind, facts, most, shown, now, stops, fault }: RowProps) {
  const parts = pieces(languageOf(kind), clip(line.text, LONGEST).text, startState());
  return (
    <div
      id={`emulated-${line.number}`}
      class={`trow eln${now ? " now" : ""}${cursor ? " cur" : ""}${fault ? " fault" : ""}`}
      role="option"
      aria-selected={cursor}
      aria-current={now ? "step" : undefined}
      style={{ top: `${top}px` }}
    >
      <button
        type="button"
        class="no num"
        tabIndex={-1}
        aria-pressed={stops}
        aria-label={`Stop before line ${line.number}`}
        onClick={() => toggleBreakpoint(line.number)}
      >
        {stops && <span class="stop">●</span>}
        {line.number}
      </button>
      {fault && (
        <span class="sig del" role="img" aria-label={fault} title={fault}>
          !
        </span>
      )}
      <span class="code" title={short(line.text.trim(), 1000)}>
        {parts.map((p, j) => (
          <span key={j} class={p.kind ? `s-${p.kind}` : undefined}>
            {p.text}
          </span>
        ))}
      </span>
      {shown.map((i) => (
        <span class={cellClass(facts, i, most)} key={i}>
          {facts?.cells[i]}
        </span>
      ))}
    </div>
  );
}
