/** All lines of the text that is emulated, with what each did. */
import { useMemo, useState } from "preact/hooks";
import type { Emulation } from "../../../data/messages/emulation";
import { goToLine, line } from "../../../parts/emulation/stepping";
import { kindName } from "../../../parts/kernel/columns";
import { count, plural } from "../../../state/format";
import { VirtualList } from "../../../ui/VirtualList";
import { factsOf } from "./facts";
import { Origin } from "./Origin";
import { related } from "./origin";
import { Head, LINE_HEIGHT, Row, type Cell } from "./Row";

const CELLS: readonly Cell[] = ["threads", "bytes", "sectors", "extra"];

/** The list of the lines, which may have the focus while the keys step. */
export const EMULATED = "emulated";

interface Line {
  number: number;
  text: string;
}

export function Lines({ of }: { of: Emulation }) {
  const lines = useMemo<Line[]>(() => textLines(of), [of]);
  const facts = useMemo(() => factsOf(of.counters), [of]);
  const now = line.value;
  const fault = of.fault ?? of.walk.fault;
  const [cursor, setCursor] = useState<string | null>(null);
  const what = kindName(of.kind);
  return (
    <div class="lines">
      <div class="eh">
        <b>{what}</b>
        {of.source !== null && <span class="badge ac">edited</span>}
        <span class="el">{summary(of)}</span>
      </div>
      <Head cells={CELLS} names={{ extra: "conflicts" }} />
      <VirtualList<Line>
        id={EMULATED}
        class="tree mono"
        role="listbox"
        label={`${what} for ${of.target}, emulated`}
        items={lines}
        keyOf={(one) => `${one.number}`}
        lineHeight={LINE_HEIGHT}
        cursor={cursor}
        reveal={now || fault ? `${now || fault?.line}` : null}
        onCursor={setCursor}
        onKey={(e, one) => {
          if (e.key !== "Enter" || !one) return;
          e.preventDefault();
          goToLine(one.number);
        }}
        draw={(one, i) => (
          <Row
            id={`${EMULATED}-${one.number}`}
            number={one.number}
            text={one.text}
            kind={of.kind}
            facts={facts.get(one.number)}
            cells={CELLS}
            top={i * LINE_HEIGHT}
            cursor={cursor === `${one.number}`}
            related={related.value.has(one.number)}
            fault={one.number === fault?.line ? fault.what : ""}
          />
        )}
      />
      <Origin />
    </div>
  );
}

export const textLines = (of: Emulation): Line[] =>
  of.text
    .replace(/\n$/, "")
    .split("\n")
    .map((text, i) => ({ number: i + 1, text }));

/** "37,120 thread instructions, 4 blocks of 64 threads" */
function summary({ counters, blocks: [done, all], threads }: Emulation): string {
  const size = threads.reduce((a, b) => a * b, 1);
  const counted = done === all ? plural(all, "block") : `${count(done)} of ${plural(all, "block")}`;
  return `${plural(counters.total, "thread instruction")}, ${counted} of ${plural(size, "thread")}`;
}
