/** All rows of the two passes in one strip: jump by click, preview by drag. */
import { useLayoutEffect, useMemo } from "preact/hooks";
import { kindOfRow, kindsIn } from "../../../model/pair/rows";
import { drawRows } from "./strip";
import { pointing } from "../../../parts/strip/pointing";
import { makeScale, xOf } from "../../../parts/strip/scale";
import { useStrip } from "../../../parts/strip/useStrip";
import { count } from "../../../state/format";
import { Icon } from "../../../ui/Icon";
import { MoveButton } from "../../../ui/MoveButton";
import { goDifference, goRow, passes, previewRow, row } from "../data/walk";
import { announce } from "../../../state/actions";

export function Strip() {
  const now = passes.value;
  const r = row.value;
  const n = now?.rows.count ?? 0;
  const kinds = useMemo(() => now && kindsIn(now.rows), [now]);
  return (
    <section class="cmp-strip" data-region="Steps" aria-label="Steps of both passes">
      <div class="ctl">
        <MoveButton
          icon="first"
          label="Input graphs (Home)"
          off={r === 0}
          onClick={() => goRow(0)}
          quiet
        />
        <MoveButton
          icon="prev"
          label="Previous row (←)"
          off={r === 0}
          onClick={() => goRow(r - 1)}
        />
        <MoveButton icon="right" label="Next row (→)" off={r >= n} onClick={() => goRow(r + 1)} />
        <MoveButton
          icon="last"
          label="Last row (End)"
          off={r >= n}
          onClick={() => goRow(n)}
          quiet
        />
        <span class="vr" />
        <button
          type="button"
          class="btn sm"
          title="Previous row that differs (Shift D)"
          onClick={() => difference(-1)}
        >
          <span class="flip">
            <Icon name="right" />
          </span>
          <span class="sr">Previous difference</span>
          <span aria-hidden="true">◆</span>
        </button>
        <button
          type="button"
          class="btn sm"
          title="Next row that differs (D)"
          onClick={() => difference(1)}
        >
          <span class="sr">Next difference</span>
          <span aria-hidden="true">◆</span>
          <Icon name="right" />
        </button>
      </div>
      <span class="lane a" aria-hidden="true">
        A
      </span>
      <span class="lane b" aria-hidden="true">
        B
      </span>
      <Canvas />
      <div class="cmp-of num">
        <b>Steps</b>
        {kinds && (
          <>
            <span class="t2">{count(kinds.same)} the same</span>
            {kinds.differs > 0 && (
              <span class="cmov" title="Both match the same node, and go on differently">
                ◆ {count(kinds.differs)} on one node, by another rule or with another result
              </span>
            )}
            {kinds.onlyA > 0 && <span class="cdel">− {count(kinds.onlyA)} only in A</span>}
            {kinds.onlyB > 0 && <span class="cadd">+ {count(kinds.onlyB)} only in B</span>}
          </>
        )}
      </div>
    </section>
  );
}

export function difference(way: 1 | -1): void {
  if (!goDifference(way)) announce(way > 0 ? "No later row differs" : "No earlier row differs");
}

/** "12 of 40, only in A": a row, for those who do not see the strip. */
function wordsOf(r: number): string {
  const rows = passes.peek()?.rows;
  if (!rows || r === 0) return "input graphs";
  const kind = kindOfRow(rows, r);
  const words = { same: "the same", differs: "differs", onlyA: "only in A", onlyB: "only in B" };
  return `row ${count(r)} of ${count(rows.count)}, ${words[kind]}`;
}

function Canvas() {
  const { canvas, kept, palette, width, height } = useStrip();
  const rows = passes.value?.rows;
  const scale = makeScale(rows?.count ?? 0, width);
  const r = row.value;
  useLayoutEffect(() => {
    if (rows) drawRows(canvas.current!, { scale, height, palette, current: r }, kept, rows);
  }, [width, height, r, rows, palette]);
  return (
    <div class="over">
      <canvas
        ref={canvas}
        role="slider"
        tabIndex={0}
        aria-label="Row"
        aria-valuemin={0}
        aria-valuemax={rows?.count ?? 0}
        aria-valuenow={r}
        aria-valuetext={wordsOf(r)}
        {...pointing(scale, previewRow, goRow)}
      />
      {previewRow.value !== null && (
        <div
          class="tip num"
          style={{ left: `${Math.min(Math.max(xOf(scale, r), 70), width - 70)}px` }}
        >
          {wordsOf(r)}
        </div>
      )}
    </div>
  );
}
