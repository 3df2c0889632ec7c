/** The compiler's own text before and after a pass as one difference, whose lines select nodes. */
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { announce, go } from "../../state/actions";
import { clip, count, plural } from "../../state/format";
import { hovered, view } from "../../state/state";
import { languageOf, pieces, startState } from "../../ui/code/languages";
import { visibleRange } from "../../ui/visibleRange";
import { Failed } from "../Failed";
import { cursorAfter, isChanged, shownLines, type Shown, type TextLine } from "./lines";
import { lines, placeOfLine, seen, selected, sought, texts, watchedTexts } from "./store";

const LINE = 16;
const LONGEST = 2000;
const CLASSES = { keyword: "k", number: "nn", comment: "cm", string: "cm", label: "b" } as const;
const SIGNS = { same: "", named: "", del: "−", add: "+" } as const;

/** `whole`: unchanged lines are not folded. */
export function PassTextPane({ whole }: { whole: boolean }) {
  useEffect(() => {
    seen.value += 1;
    return () => void (seen.value -= 1);
  }, []);
  if (watchedTexts.error.value)
    return <Failed problem={watchedTexts.error.value} retry={watchedTexts.retry} />;
  const answer = texts.value;
  if (!answer) return <div class="state">Loading the text of the pass</div>;
  const errors = [answer.before, answer.after].flatMap((text) => (text?.error ? [text.error] : []));
  if (errors.length)
    return <div class="state">The text of this pass cannot be read: {errors.join("; ")}.</div>;
  return <Lines key={answer.rewrite} whole={whole} />;
}

function Lines({ whole }: { whole: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState(0);
  const [height, setHeight] = useState(400);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  useLayoutEffect(() => {
    const el = box.current!;
    const watch = new ResizeObserver(() => setHeight(el.clientHeight));
    watch.observe(el);
    return () => watch.disconnect();
  }, []);
  const all = lines.value;
  const shown = useMemo(() => shownLines(all, whole, open), [all, whole, open]);
  const chosen = selected.value;
  const lit = (line: TextLine): boolean => line.nodes.some((node) => chosen.has(node));
  useEffect(() => {
    if (!chosen.size) return;
    const at = shown.findIndex((one) => "line" in one && lit(one.line));
    const el = box.current!;
    const top = at * LINE;
    if (at >= 0 && (top < el.scrollTop || top + LINE > el.scrollTop + el.clientHeight))
      el.scrollTop = top - el.clientHeight / 2;
  }, [view.value.slot, all]);
  const { from, to } = visibleRange(scroll, height, LINE, shown.length);
  const id = useId();
  /** The line that the keys are on; -1 until the pane has had the focus. */
  const [cursor, setCursor] = useState(-1);
  const onCursor = Math.min(cursor, shown.length - 1);
  const move = (to: number): void => {
    const el = box.current!;
    setCursor(to);
    el.scrollTop = Math.min(to * LINE, Math.max(el.scrollTop, (to + 2) * LINE - el.clientHeight));
  };
  const looked = sought.value;
  useEffect(() => {
    if (!looked || looked.rewrite !== view.peek().rewrite || !all.length) return;
    const side = looked.when === "before" ? "old" : "now";
    const at = shown.findIndex((one) => "line" in one && one.line[side] === looked.line);
    sought.value = null;
    if (at < 0) return;
    box.current!.focus();
    move(at);
  }, [looked, all]);
  const act = (one: Shown | undefined): void => {
    if (one && "folded" in one) setOpen(new Set([...open, one.at]));
    else if (one?.line.nodes.length) pick(one.line);
  };
  const onKey = (e: KeyboardEvent): void => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.shiftKey) return;
    const rows = Math.max(1, Math.floor(height / LINE) - 1);
    const to = cursorAfter(e.key, onCursor, shown.length, rows);
    if (to === null && e.key !== "Enter") return;
    e.preventDefault();
    e.stopPropagation();
    if (to === null) act(shown[onCursor]);
    else move(to);
  };
  const kind = (texts.value?.after ?? texts.value?.before)?.kind ?? "";
  return (
    <div
      class="textdiff passtext"
      ref={box}
      tabIndex={0}
      role="listbox"
      aria-label="The compiler's text before and after the pass. Enter selects the node of a line."
      aria-activedescendant={onCursor < 0 ? undefined : `${id}-${shown[onCursor]!.at}`}
      onKeyDown={onKey}
      onFocus={() => {
        if (onCursor >= 0) return;
        const first = shown.findIndex((one) => "line" in one && isChanged(one.line));
        setCursor(Math.max(0, first));
      }}
      onScroll={(e) => setScroll(e.currentTarget.scrollTop)}
      onPointerLeave={() => (hovered.value = null)}
    >
      <div class="virtual code" style={{ height: `${shown.length * LINE}px` }}>
        <div style={{ height: `${from * LINE}px` }} />
        {shown.slice(from, to).map((one, i) => {
          const at = { id: `${id}-${one.at}`, isOn: from + i === onCursor, act: () => act(one) };
          return "line" in one ? (
            <Line
              key={one.at}
              line={one.line}
              language={languageOf(kind)}
              lit={lit(one.line)}
              {...at}
            />
          ) : (
            <Folded key={one.at} folded={one.folded} {...at} />
          );
        })}
      </div>
    </div>
  );
}

interface Row {
  id: string;
  /** Whether the keys are on it. */
  isOn: boolean;
  /** A click, or Enter. */
  act: () => void;
}

function Folded({ folded, id, isOn, act }: Row & { folded: number }) {
  return (
    <div
      class={`ln fold t3${isOn ? " on" : ""}`}
      role="option"
      id={id}
      aria-selected={false}
      title="Show these lines"
      onClick={act}
    >
      <i />
      <i />
      <span class="sg">⋮</span>
      <span>{plural(folded, "unchanged line")}</span>
    </div>
  );
}

/** Selects the node of a line. */
function pick(line: TextLine): void {
  const slot = placeOfLine(line.nodes, line.kind === "del");
  if (slot === null) announce("The graph of the pass does not show the node of this line");
  else go({ slot, uid: null });
}

interface LineProps extends Row {
  line: TextLine;
  language: string;
  /** Whether it is of the selected node. */
  lit: boolean;
}

function Line({ line, language, lit, id, isOn, act }: LineProps) {
  const { text, cut } = clip(line.text, LONGEST);
  const parts = useMemo(() => pieces(language, text, startState()), [language, text]);
  const tint = { same: "", named: "", del: " dd", add: " da" }[line.kind];
  const linked = line.nodes.length > 0;
  const isBefore = line.kind === "del";
  return (
    <div
      class={`ln${tint}${lit ? " hl" : ""}${linked ? " linked" : ""}${isOn ? " on" : ""}`}
      role="option"
      id={id}
      aria-selected={lit}
      title={line.kind === "named" ? "The same, with other names of values" : undefined}
      onClick={linked ? act : undefined}
      onPointerEnter={() =>
        (hovered.value = linked ? placeOfLine(line.nodes, isBefore) : null)
      }
    >
      <i>{line.old || ""}</i>
      <i>{line.now || ""}</i>
      <span class="sg">{SIGNS[line.kind]}</span>
      <span>
        {parts.map((part, i) => (
          <span key={i} class={part.kind ? CLASSES[part.kind] : undefined}>
            {part.text}
          </span>
        ))}
        {cut > 0 && <span class="t3"> … {count(cut)} more characters</span>}
      </span>
    </div>
  );
}

/** "12 lines added, 3 removed", and what was not kept of the texts. */
export function PassTextCounts() {
  const answer = texts.value;
  if (!answer) return null;
  const added = lines.value.filter((line) => line.kind === "add").length;
  const removed = lines.value.filter((line) => line.kind === "del").length;
  const cut = Math.max(answer.before?.leftOut ?? 0, answer.after?.leftOut ?? 0);
  const alone = !answer.before ? "only the text after it" : !answer.after ? "only the text before it" : "";
  const changed = lines.value.some(isChanged)
    ? `${plural(added, "line")} added, ${count(removed)} removed`
    : "no line changed";
  return (
    <span class="t3 num el" title={cut ? `Not kept: ${plural(cut, "line")} at the end` : undefined}>
      {alone || changed}
      {cut > 0 && `, cut: ${plural(cut, "more line")}`}
    </span>
  );
}
