/** The user's own lines that made work, and the kernels that they became. */
import { useState } from "preact/hooks";
import type { LineShare } from "../../../data/messages/overview";
import { onArrows } from "../../../parts/arrows";
import { Go } from "../../../parts/Go";
import { kernelAt } from "../../../state/link/links";
import { percent } from "../../../parts/speed";
import { count, micros, plural, short, toldApart } from "../../../state/format";
import { saidOf } from "../../../ui/code/since";
import { openEditor } from "../../../ui/code/Text";
import { overview, steady, steadyList, textOf, textsKnown } from "../data/store";
import { CutMiddle } from "../../../ui/CutMiddle";

/** Lines that are listed before "more" is asked for, and in a tall window. */
const FEW = 6;
const FEW_TALL = 12;
const TALL = 960;
/** Kernels that are named of one line; the others are counted. */
const CHIPS = 3;

const keyOf = (line: LineShare): string => `${line.file}:${line.line}`;

export function Lines() {
  const [all, setAll] = useState(false);
  const lines = overview.value?.lines ?? [];
  if (!lines.length) return null;
  const files = new Set(lines.map((line) => line.file));
  const names = toldApart(files);
  const said = saidOf([...files]);
  const one = files.size === 1 ? lines[0]!.file : null;
  const few = innerHeight >= TALL ? FEW_TALL : FEW;
  const shown = all ? lines : steady("lines", "", lines.slice(0, few), keyOf);
  const inOrder = one === null ? shown : [...shown].sort((a, z) => a.line - z.line);
  const more = lines.length - few;
  return (
    <section
      class={one === null ? "ov-sec ov-lines several" : "ov-sec ov-lines"}
      data-region="Your lines"
      aria-label="Your lines"
    >
      <div class="ov-h">
        <h3>Your lines</h3>
        <span class="t3 mono el">{one === null ? `in ${count(files.size)} files` : one}</span>
        {said && <span class="badge mov nw">◆ {said}</span>}
        <span class="sp" />
        {more > 0 && (
          <button type="button" class="link num" onClick={() => setAll(!all)}>
            {all ? `Show the first ${few}` : `Show ${count(more)} more`}
          </button>
        )}
      </div>
      <div onKeyDown={onArrows} {...steadyList("lines")}>
        {inOrder.map((line) => (
          <Line
            key={keyOf(line)}
            line={line}
            name={one === null ? (names.get(line.file) ?? line.file) : ""}
          />
        ))}
      </div>
    </section>
  );
}

/** `name`: of the file, where there are several. */
function Line({ line, name }: { line: LineShare; name: string }) {
  const chips = line.kernels.slice(0, CHIPS);
  const rest = line.kernels.length + line.more - chips.length;
  const text = textOf(line.file, line.line).trim();
  const at = `${short(name, 60)}:${line.line}`;
  return (
    <div class="ov-line" data-line style={{ "--share": String(Math.min(1, line.share)) }}>
      <span
        class="num r share"
        title={line.us > 0 ? `${micros(line.us)} in its kernels` : undefined}
      >
        {percent(line.share)}
      </span>
      <button
        type="button"
        class="link mono nw"
        title={`Open ${short(line.file, 500)}:${line.line}`}
        onClick={() => openEditor(line.file, line.line)}
      >
        {name ? <CutMiddle text={at} /> : line.line}
      </button>
      <span class="fit">
        {!textsKnown.value ? null : text ? (
          <code class="el" title={short(text, 1000)}>
            {short(text, 300)}
          </code>
        ) : (
          <span class="mono el" title={short(line.calls, 1000)}>
            {short(line.calls, 200)}
          </span>
        )}
        {text && line.calls && (
          <span class="t3 small el spare" title={short(line.calls, 1000)}>
            {short(line.calls, 200)}
          </span>
        )}
      </span>
      <span class="row g4 ov-chips">
        {chips.map((k) => (
          <Go
            key={k.context}
            to={kernelAt(k.context)}
            class="chip mono"
            inner
            title={short(k.name, 500)}
          >
            <span class="el">
              <CutMiddle text={short(k.name, 60)} />
            </span>
          </Go>
        ))}
        {rest > 0 && (
          <span class="t3 small num nw" title={`${plural(rest, "more kernel")} of this line`}>
            +{count(rest)}
          </span>
        )}
      </span>
    </div>
  );
}
