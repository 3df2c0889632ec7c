/** The navigator's lines as the reader sees and steers them: one mark and one number each. */
import type { CSSProperties, HTMLAttributes } from "preact";
import {
  clearFilters,
  goStep,
  openContext,
  openPasses,
  openRewrite,
  openSubject,
} from "../../state/actions";
import { count, millis, plural, short } from "../../state/format";
import {
  arrived,
  bundle,
  connection,
  filtered,
  loading,
  passing,
  rows,
  ruleName,
  stepCount,
  subjectRowOf,
  view,
} from "../../state/state";
import { CheckMark } from "../../parts/check/CheckMark";
import { choices, showPasses } from "../../parts/kernel/passes";
import { marks, verdicts } from "../../parts/check/checks";
import { KIND_WORDS, signOf, SIGNS } from "../../parts/check/marks";
import type { Step } from "../../data/messages/bundle";
import type { Row } from "../../data/messages/run";
import { Icon } from "../../ui/Icon";
import { VirtualList } from "../../ui/VirtualList";
import { stepKey, type Line } from "./fold";
import {
  cursor,
  inside,
  lines,
  markedStep,
  openKeys,
  setOpen,
} from "./tree";

const LINE = 24;

export function TreeList() {
  const all = lines.value;
  const current = all.find((l) => l.kind === "row" && isCurrent(rows.value[l.row]));
  const inSteps = all.some((l) => l.key === stepKey(markedStep.value));
  return (
    <>
      {filtered.value && arrived.value && (
        <div class="cols">
          <span class="num el sp" role="status">
            {count(passing.value.length)} of {plural(stepCount.value, "step")} here
          </span>
          <button type="button" class="link" title="Clear all filters" onClick={clearFilters}>
            Clear
          </button>
        </div>
      )}
      {all.length === 0 && (
        <div class="state unread">
          {connection.value.kind === "starting"
            ? "Loading the run"
            : "No pass has been recorded yet"}
        </div>
      )}
      <VirtualList
        id="nav-list"
        class="tree"
        role="tree"
        label="Passes of the run"
        items={all}
        keyOf={(line) => line.key}
        lineHeight={LINE}
        cursor={cursor.value}
        of={view.value.rewrite}
        reveal={inSteps ? stepKey(markedStep.value) : (current?.key ?? null)}
        draw={(line, i) => <TreeLine key={line.key} line={line} top={i * LINE} />}
        isHead={(line) => line.kind === "head"}
        onCursor={(key) => (cursor.value = key)}
        onKey={onKey}
      />
    </>
  );
}

const isCurrent = (row: Row | undefined): boolean =>
  row?.kind === "rewrite" && row.id === view.value.rewrite;

function onKey(e: KeyboardEvent, line: Line | undefined): void {
  if (!line || !["Enter", " ", "ArrowLeft", "ArrowRight"].includes(e.key)) return;
  // On what is being looked at, Left and Right step as they do everywhere else.
  const looked = line.kind === "step" || (line.kind === "row" && isCurrent(rows.peek()[line.row]));
  if (looked && e.key.startsWith("Arrow")) return;
  e.preventDefault();
  e.stopPropagation();
  const open = "open" in line ? line.open : null;
  if (e.key === "ArrowRight" && open === false) setOpen(line.key, true);
  else if (e.key === "ArrowLeft" && open === true) setOpen(line.key, false);
  else if (e.key === "ArrowLeft") toParent(line);
  else if (e.key === "Enter" || e.key === " ") activate(line);
}

function toParent(line: Line): void {
  const all = lines.peek();
  const at = all.indexOf(line);
  cursor.value = all.slice(0, at).findLast((l) => l.depth < line.depth)?.key ?? line.key;
}

function activate(line: Line): void {
  cursor.value = line.key;
  if (line.kind === "step") goStep(line.step);
  else if (line.kind === "more") goStep(line.to);
  else if (line.kind === "none") clearFilters();
  else if (line.kind === "gap") goStep(line.first);
  else if (line.kind === "unchanged" || line.kind === "targets") setOpen(line.key, !line.open);
  else if (line.kind === "target") {
    const choice = choices.peek().find((c) => c.target === line.target && !c.own);
    if (choice) showPasses(choice);
  } else if (line.kind === "row") {
    const row = rows.peek()[line.row];
    if (!row) return;
    if (row.target) {
      setOpen(line.key, true);
      openPasses(row);
    } else if (subjectRowOf.peek()[row.row] === row.row) openSubject(row.row);
    else if (row.kind === "context") setOpen(line.key, !openKeys.peek().has(line.key));
    else if (row.id === view.peek().rewrite && line.open !== null) setOpen(line.key, !line.open);
    else openRewrite(row.id);
  }
}

/** Levels that are indented: further ones would have no room for a name. */
const DEEPEST = 9;
/** Where a line of that depth begins, px. */
const indent = (depth: number): number => 8 + Math.min(depth, DEEPEST) * 12;

function TreeLine({ line, top }: { line: Line; top: number }) {
  const place: CSSProperties = { top: `${top}px`, paddingLeft: `${indent(line.depth)}px` };
  const common = {
    id: `nav-list-${line.key}`,
    role: "treeitem" as const,
    "aria-level": line.depth + 1,
    style: place,
    onClick: () => activate(line),
  };
  const cur = cursor.value === line.key ? " cur" : "";
  switch (line.kind) {
    case "head":
      return (
        <div id={common.id} class="trow head" role="presentation" style={{ top: place.top }}>
          {line.text}
        </div>
      );
    case "targets":
      return (
        <div {...common} class={`trow fold${cur}`} aria-expanded={line.open}>
          <Twist open={line.open} />
          <span class="n el">Compile for {plural(line.count, "other target")}</span>
        </div>
      );
    case "target":
      return (
        <div
          {...common}
          class={`trow${cur}`}
          title={`Compile the kernel for ${line.target}, and show its passes`}
        >
          <span class="tw" />
          <span class="n el">{line.target}</span>
          <span class={line.state === "compile" ? "acc small" : "t3 small"}>{line.state}</span>
        </div>
      );
    case "unchanged":
      return (
        <div {...common} class={`trow fold${cur}`} aria-expanded={line.open}>
          <Twist open={line.open} />
          <span class="n el">{plural(line.count, "pass", "passes")} changed nothing</span>
        </div>
      );
    case "none":
      return (
        <div {...common} class={`trow fold${cur}`}>
          <span class="tw" />
          <span class="n el">No step passes the filters</span>
          <span class="acc">Clear</span>
        </div>
      );
    case "gap":
      return (
        <div {...common} class={`trow fold${cur}`}>
          <span class="tw">⋮</span>
          <span class="n el">{plural(line.count, "rule")} applied</span>
        </div>
      );
    case "more":
      return (
        <div {...common} class={`trow fold${cur}`}>
          <span class="tw">{line.earlier ? "↑" : "↓"}</span>
          <span class="n el">
            {plural(line.count, line.earlier ? "earlier step" : "later step")}
          </span>
        </div>
      );
    case "step":
      return <StepLine line={line} common={common} cur={cur} />;
    case "row":
      return <RowLine line={line} common={common} cur={cur} />;
  }
}

type Common = HTMLAttributes<HTMLDivElement>;

function StepLine(p: { line: Line & { kind: "step" }; common: Common; cur: string }) {
  const k = p.line.step;
  // The lines of a pass stand there before its steps have arrived: they do not push others away.
  const at = arrived.value ? bundle.value?.steps[k - 1] : undefined;
  const on = k === markedStep.value;
  const verdict = arrived.value ? verdicts.value.get(k) : undefined;
  const sign = verdict && signOf(verdict.kind);
  return (
    <div {...p.common} class={`trow stp${on ? " sel" : ""}${p.cur}`} aria-selected={on}>
      <span class="k">{count(k)}</span>
      <span class="n el" title={at && ruleName(at.rule)}>
        {at ? ruleName(at.rule) : ""}
      </span>
      {sign && sign !== "proved" && (
        <span class={`chk ${SIGNS[sign].tint}`} role="img" aria-label={KIND_WORDS[verdict.kind]}>
          {SIGNS[sign].mark}
        </span>
      )}
      {at && <Change at={at} />}
    </div>
  );
}

/** "−2 +3": nodes removed and added; of a step that does neither, nodes that moved. */
function Change({ at }: { at: Step }) {
  const [del, add, mov] = [at.removed.length, at.added.length, at.moved.length];
  const said = `${count(del)} removed, ${count(add)} added, ${count(mov)} moved`;
  return (
    <span class="c nw" title={said} aria-label={said} role="img">
      {del > 0 && <span class="cdel">−{count(del)}</span>}
      {del > 0 && add > 0 && " "}
      {add > 0 && <span class="cadd">+{count(add)}</span>}
      {!del && !add && <span class="cmov">◆{count(mov)}</span>}
    </span>
  );
}

function RowLine(p: { line: Line & { kind: "row" }; common: Common; cur: string }) {
  const row = rows.value[p.line.row];
  if (!row) return null;
  const { open, key } = p.line;
  const inner = inside.value[row.row] ?? 0;
  const on = isCurrent(row);
  const soft = on && open === true && lines.value.some((l) => l.key === stepKey(markedStep.value));
  return (
    <div
      {...p.common}
      class={`trow${on && !soft ? " sel" : ""}${p.cur}`}
      aria-expanded={open ?? undefined}
      aria-selected={on}
      onDblClick={() => void (row.kind === "context" && openContext(row.row))}
    >
      {open === null ? (
        <span class="tw" />
      ) : (
        <button
          type="button"
          class="tw"
          tabIndex={-1}
          aria-label={open ? "Fold" : "Unfold"}
          onClick={(e) => {
            e.stopPropagation();
            setOpen(key, !open);
          }}
        >
          <Icon name={open ? "down" : "right"} />
        </button>
      )}
      <span class="fit">
        <Name row={row} strong={on} />
      </span>
      {loading.value?.rewrite === row.id && row.kind === "rewrite" && (
        <span class="t3 small">loading</span>
      )}
      {row.status === "error" && (
        <span class="sig del" role="img" aria-label="failed">
          !
        </span>
      )}
      {row.status === "open" && <span class="dot" role="img" aria-label="running" />}
      {row.kind === "rewrite" && open === false && inner > 0 && (
        <span class="t3 small num" title={`${plural(inner, "step")} of passes inside`}>
          +{count(inner)}
        </span>
      )}
      {marks.value[row.row] && <CheckMark mark={marks.value[row.row]!} />}
      <span class="c">{count(row.steps)}</span>
    </div>
  );
}

/** "optimize: UPCAST(0, 16)" */
function Name({ row, strong }: { row: Row; strong: boolean }) {
  const name = short(row.target ? row.target : row.name) || "unnamed";
  const at = name.indexOf(": ");
  const title = row.target
    ? `Compiled here for ${short(row.target)}, on request; the program did not run these passes`
    : `${short(row.name, 1000)}, ${millis(row.ms)}`;
  return (
    <span class={strong ? "n on" : "n"} title={title}>
      {at > 0 && <span class="el before">{name.slice(0, at + 1)}&nbsp;</span>}
      <span class="el">{at > 0 ? name.slice(at + 2) : name}</span>
    </span>
  );
}

function Twist({ open }: { open: boolean }) {
  return (
    <span class="tw">
      <Icon name={open ? "down" : "right"} />
    </span>
  );
}
