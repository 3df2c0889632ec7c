/** Lines with bank conflicts, worst first. */
import { useMemo } from "preact/hooks";
import type { Emulation } from "../../../data/messages/emulation";
import { goToLine, line } from "../../../parts/emulation/stepping";
import { plural } from "../../../state/format";
import { VirtualList } from "../../../ui/VirtualList";
import { factsOf, worstOf } from "./facts";
import { textLines } from "./Lines";
import { Head, LINE_HEIGHT, Row, type Cell } from "./Row";

const CELLS: readonly Cell[] = ["threads", "bytes", "ways", "extra"];
/** Lines that are seen at once. */
const MOST = 8;

export function Conflicts({ of }: { of: Emulation }) {
  const worst = useMemo(() => worstOf(of.counters), [of]);
  const facts = useMemo(() => factsOf(of.counters), [of]);
  const texts = useMemo(() => textLines(of), [of]);
  if (!worst.length)
    return (
      <div class="eh">
        <b>Conflicts</b>
        <span>{usesShared(of) ? "No line has bank conflicts." : "No line uses shared memory."}</span>
      </div>
    );
  const extra = worst.reduce((all, one) => all + one.extra, 0);
  const now = worst.some((one) => one.line === line.value) ? `${line.value}` : null;
  return (
    <div class="conflicts">
      <div class="eh">
        <b>Conflicts, worst first</b>
        <span class="el">
          {plural(worst.length, "line")}, {plural(extra, "extra wavefront")}
        </span>
      </div>
      <Head cells={CELLS} />
      <div style={{ height: `${Math.min(MOST, worst.length) * LINE_HEIGHT}px` }}>
        <VirtualList
          id="conflict"
          class="tree mono"
          role="listbox"
          label="Lines with bank conflicts"
          items={worst}
          keyOf={(one) => `${one.line}`}
          lineHeight={LINE_HEIGHT}
          cursor={now}
          reveal={now}
          onCursor={(key) => void goToLine(Number(key))}
          onKey={(e, one) => {
            if (e.key !== "Enter" || !one) return;
            e.preventDefault();
            goToLine(one.line);
          }}
          draw={(one, i) => (
            <Row
              id={`conflict-${one.line}`}
              number={one.line}
              text={texts[one.line - 1]?.text ?? ""}
              kind={of.kind}
              facts={facts.get(one.line)}
              cells={CELLS}
              top={i * LINE_HEIGHT}
              cursor={false}
            />
          )}
        />
      </div>
    </div>
  );
}

const usesShared = ({ counters: { lines } }: Emulation): boolean =>
  [...lines.loaded, ...lines.stored].some((of) => of["shared"]);
