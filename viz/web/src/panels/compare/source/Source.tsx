/** One text of the selected kernel on both sides: side by side or in one column, linked to nodes. */
import { useMemo, useState } from "preact/hooks";
import { Failed } from "../../../parts/Failed";
import type { SourceDifference } from "../../../data/messages/compare";
import { allData } from "../../../state/actions";
import { clip, count, plural, short } from "../../../state/format";
import { languageOf, pieces, startState } from "../../../ui/code/languages";
import { compareLink, show } from "../link";
import { markedLines, pointedLine } from "../data/lines";
import { keyOfSource, scope, source, watchedScope, watchedSource } from "../data/store";
import { namesOf } from "../overview/Kernels";
import { type LineRow, type Shown, shownRows, tally, unified } from "./fold";

const LONGEST_LINE = 2000;
const MOST_LINES = 2000;

export function Source() {
  const chosen = scope.value;
  if (!chosen) return null;
  const sources = watchedScope.answer.value?.sources ?? [];
  const now = source.value;
  return (
    <section
      class="ov-sec cmp-source"
      data-region="Source"
      aria-label={`Source of ${namesOf(chosen)}`}
    >
      <div class="ov-h">
        <h3 class="el" title={namesOf(chosen)}>
          Source of <span class="mono">{namesOf(chosen)}</span>
        </h3>
        <Tally />
        <span class="sp" />
        {now && (
          <div class="seg" role="group" aria-label="Layout of the text">
            {[false, true].map((one) => (
              <button
                type="button"
                key={String(one)}
                aria-pressed={compareLink.value.unified === one}
                title="Side by side, or in one column"
                onClick={() => show({ unified: one }, "replace")}
              >
                {one ? "Unified" : "Side by side"}
              </button>
            ))}
          </div>
        )}
      </div>
      {sources.length > 1 && (
        <div class="cmp-texts" role="group" aria-label="Texts of the kernel">
          {sources.map((s) => (
            <button
              type="button"
              class={now && keyOfSource(s) === keyOfSource(now) ? "chip on" : "chip"}
              key={keyOfSource(s)}
              aria-pressed={now !== null && keyOfSource(s) === keyOfSource(now)}
              title={`${s.title}${s.target ? ` for ${s.target}` : ""}: ${stateOf(s)}${s.onRequest ? ", compiled on request" : ""}`}
              onClick={() => show({ source: keyOfSource(s) }, "replace")}
            >
              {!s.equal && <span class="cmov">◆</span>}
              <span class="el">
                {short(s.title, 40)}{" "}
                {!s.title.includes(s.target) && <span class="mono">{short(s.target, 24)}</span>}
              </span>
            </button>
          ))}
        </div>
      )}
      {now?.onRequest && (
        <p class="t3 cmp-note">
          Compiled on request, with the code that was installed then, not with the compilers of the
          runs: what these do differently does not show here.
        </p>
      )}
      <Body />
    </section>
  );
}

const stateOf = (s: { a: boolean; b: boolean; equal: boolean }): string =>
  s.equal ? "equal" : !s.a ? "only in B" : !s.b ? "only in A" : "differs";

function Tally() {
  const d = watchedSource.answer.value;
  if (!d) return null;
  const n = tally(d);
  const parts = [
    n.changed && `${count(n.changed)} changed`,
    n.removed && `${count(n.removed)} removed`,
    n.added && `${count(n.added)} added`,
    n.moved && `${count(n.moved)} moved`,
    d.renamed.length && `${plural(d.renamed.length, "register")} renamed`,
  ].filter(Boolean);
  const words = parts.join(", ") || "equal";
  return (
    <span class="t3 num el" title={words}>
      {words}
    </span>
  );
}

function Body() {
  const problem = watchedSource.error.value ?? watchedScope.error.value;
  const d = watchedSource.answer.value;
  if (problem && !d && source.value?.equal && !allData().server)
    return (
      <div class="state">
        This text is the same in both runs. The file leaves it out here; the page of the kernel has
        it.
      </div>
    );
  if (problem && !d)
    return (
      <Failed
        problem={problem}
        retry={watchedSource.error.value ? watchedSource.retry : watchedScope.retry}
      />
    );
  if (!watchedScope.answer.value) return <div class="state">Loading the texts</div>;
  if (!source.value)
    return (
      <div class="state">Neither run recorded a text of this {scope.value?.kind ?? "kernel"}.</div>
    );
  if (!d) return <div class="state">Loading the text</div>;
  return <Lines key={`${scope.value?.a} ${scope.value?.b} ${keyOfSource(source.value)}`} d={d} />;
}

function Lines({ d }: { d: SourceDifference }) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const isUnified = compareLink.value.unified;
  const rows = useMemo(() => {
    const shown = shownRows(d.rows, opened);
    return isUnified ? unified(shown) : shown;
  }, [d, opened, isUnified]);
  const language = languageOf(source.value?.kind ?? "");
  const coloured = useMemo(() => ({ a: colour(d.a, language), b: colour(d.b, language) }), [d]);
  const open = (at: number): void => setOpened(new Set([...opened, at]));
  return (
    <div
      class={`code cmp-lines${isUnified ? " one" : ""}`}
      tabIndex={0}
      role="region"
      aria-label="Lines of both texts"
      onPointerLeave={() => (pointedLine.value = null)}
    >
      {rows.slice(0, MOST_LINES).map((one, i) => (
        <Row key={i} one={one} text={coloured} open={open} unified={isUnified} />
      ))}
      {rows.length > MOST_LINES && (
        <div class="cmp-more t3 num">{plural(rows.length - MOST_LINES, "more line")} not drawn</div>
      )}
      {d.truncated && <div class="cmp-more t3">{short(d.truncated, 300)}</div>}
    </div>
  );
}

type Pieces = ReturnType<typeof pieces>;

/** Coloured when it is drawn: a text may have 100,000 lines, of which few are shown. */
function colour(lines: readonly string[], language: string): (line: number) => Pieces {
  const known = new Map<number, Pieces>();
  return (line) => {
    let made = known.get(line);
    if (!made) {
      made = pieces(language, clip(lines[line - 1] ?? "", LONGEST_LINE).text, startState());
      known.set(line, made);
    }
    return made;
  };
}

interface RowProps {
  one: Shown;
  text: { a: (line: number) => Pieces; b: (line: number) => Pieces };
  open: (at: number) => void;
  unified: boolean;
}

function Row({ one, text, open, unified: isOne }: RowProps) {
  if (!("row" in one)) {
    const renamed = one.renamed ? `, ${count(one.renamed)} with renamed registers only` : "";
    return (
      <button type="button" class="link num cmp-fold" onClick={() => open(one.at)}>
        ⋮ {plural(one.folded, "equal line")}
        {renamed}
      </button>
    );
  }
  const { row } = one;
  if (isOne)
    return row.a && (row.state === "removed" || !row.b) ? (
      <Line side="a" row={row} text={text.a} both />
    ) : (
      <Line side="b" row={row} text={text.b} both />
    );
  return (
    <div class="cmp-pair">
      <Line side="a" row={row} text={text.a} />
      <Line side="b" row={row} text={text.b} />
    </div>
  );
}

const SIGN = { a: "−", b: "+" };

/** Lines of so many characters may be cut where both sides stand beside each other. */
const FITS = 40;

interface LineProps {
  side: "a" | "b";
  row: LineRow;
  text: (line: number) => Pieces;
  both?: boolean;
}

function Line({ side, row, text, both = false }: LineProps) {
  const line = row[side];
  if (!line) return <div class="ln gap" />;
  const { state } = row;
  const differs = state === "changed" || state === "removed" || state === "added";
  const kind = state === "moved" ? " dm" : differs ? (side === "a" ? " dd" : " da") : "";
  const parts = text(line);
  const words = parts.map((p) => p.text).join("");
  const marked = markedLines[side].value.has(line);
  const point = (): void => void (pointedLine.value = { side, line });
  return (
    <div
      class={`ln${kind}${marked ? " hl" : ""}`}
      title={state === "renamed" ? "Only registers have other names" : undefined}
      onPointerEnter={point}
    >
      {both && <i>{row.a || ""}</i>}
      <i>{both ? row.b || "" : line}</i>
      <span class="sg">
        {state === "moved" ? "◆" : differs ? SIGN[side] : state === "renamed" ? "≈" : ""}
      </span>
      <span title={!both && words.length > FITS ? words : undefined}>
        {parts.map((p, i) => (
          <span key={i} class={p.kind ? CLASSES[p.kind] : undefined}>
            {p.text}
          </span>
        ))}
      </span>
    </div>
  );
}

const CLASSES = { keyword: "k", number: "nn", comment: "cm", string: "cm", label: "b" };
