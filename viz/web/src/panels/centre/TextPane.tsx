/** The step as a text diff: one line per node, only the lines in view are drawn. */
import { computed } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { clip, count, plural } from "../../state/format";
import { sides } from "../../state/state";
import { visibleRange } from "../../ui/visibleRange";
import { graphLink } from "./link";
import { type DiffLine, textDiff } from "./textdiff";

const LINE = 16;
const CONTEXT = 3;
const LONGEST = 400;

/** A line and its number, or how many unchanged ones are folded there. */
type Shown = { key: number } & ({ line: DiffLine } | { folded: number });

const unfolded = computed(() => graphLink.value.scope === "all");

/** Lines of the current step; unchanged stretches fold to a line that says how many. */
const diff = computed<Shown[]>(() => {
  const both = sides.value;
  if (!both) return [];
  const lines = textDiff(both.before, both.after);
  const keep = new Uint8Array(lines.length);
  lines.forEach((line, i) => {
    if (line.kind !== "same") keep.fill(1, Math.max(0, i - CONTEXT), i + CONTEXT + 1);
  });
  if (unfolded.value || !keep.includes(1)) return lines.map((line, key) => ({ line, key }));
  const out: Shown[] = [];
  for (let i = 0; i < lines.length;) {
    if (keep[i]) {
      out.push({ line: lines[i]!, key: i });
      i += 1;
      continue;
    }
    let end = i;
    while (end < lines.length && !keep[end]) end += 1;
    out.push({ folded: end - i, key: i });
    i = end;
  }
  return out;
});

export function TextPane() {
  const box = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState(0);
  const [height, setHeight] = useState(400);
  useLayoutEffect(() => {
    const el = box.current!;
    const watch = new ResizeObserver(() => setHeight(el.clientHeight));
    watch.observe(el);
    return () => watch.disconnect();
  }, []);
  const lines = diff.value;
  const { from, to } = visibleRange(scroll, height, LINE, lines.length);
  return (
    <div
      class="textdiff"
      ref={box}
      tabIndex={0}
      role="region"
      aria-label="Text diff of the step"
      onScroll={(e) => setScroll(e.currentTarget.scrollTop)}
    >
      <div class="virtual code" style={{ height: `${lines.length * LINE}px` }}>
        <div style={{ height: `${from * LINE}px` }} />
        {lines.slice(from, to).map((shown) => (
          <Line key={shown.key} shown={shown} />
        ))}
      </div>
    </div>
  );
}

function Line({ shown }: { shown: Shown }) {
  if ("folded" in shown)
    return (
      <div class="ln t3">
        <i />
        <span class="sg">⋮</span>
        <span>{plural(shown.folded, "unchanged line")}</span>
      </div>
    );
  const { line, key } = shown;
  const { text, cut } = clip(line.text, LONGEST);
  const name = { same: "ln", del: "ln dd", add: "ln da" }[line.kind];
  return (
    <div class={name}>
      <i>{count(key + 1)}</i>
      <span class="sg">{{ same: "", del: "−", add: "+" }[line.kind]}</span>
      <span>
        {text}
        {cut > 0 && <span class="t3"> … {count(cut)} more characters</span>}
      </span>
    </div>
  );
}
