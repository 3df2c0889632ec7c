/** The sources of the kernel, or the texts of the schedule, side by side, as many as can be read at once; the others by scrolling. */
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { currentKernel, currentSchedule } from "../../state/state";
import { Icon } from "../../ui/Icon";
import { Column } from "../../parts/source/Column";
import { columnKey } from "../../parts/kernel/columns";
import {
  compilable,
  kernel,
  kernelArtifacts,
  kernelError,
  progress,
  retryKernel,
  scheduleTexts,
  shownColumns,
} from "../../parts/kernel/kernel";
import { DiffPane } from "../../parts/source/DiffPane";
import { editOf, wideEdit } from "../../parts/source/edits";

/** Which columns are in view: the first of them, how many fit, how many there are. */
const inView = signal({ first: 0, fit: 0, all: 0 });
let scroller: HTMLElement | null = null;

export function Sources() {
  const problem = kernelError.value;
  if (!currentKernel.value && !currentSchedule.value)
    return (
      <div class="state">
        <span>
          This pass belongs to no kernel and no schedule, so it has no sources. Press{" "}
          <kbd>{"}"}</kbd> to open the next kernel.
        </span>
      </div>
    );
  if (problem)
    return (
      <div class="state" role="alert">
        <b>{problem.what}</b>
        <span class="mono">{problem.where}</span>
        <span>{problem.hint}</span>
        <button type="button" class="btn sm" onClick={retryKernel}>
          Try again
        </button>
      </div>
    );
  if (!kernel.value && !scheduleTexts.value)
    return <div class="state">Loading the {currentKernel.value ? "kernel" : "schedule"}</div>;
  const byKey = new Map(kernelArtifacts.value.map((a) => [columnKey(a), a]));
  const unfinished = progress.value === "unfinished";
  const columns = unfinished
    ? shownColumns.value.filter((key) => byKey.has(key))
    : shownColumns.value;
  if (!columns.length && unfinished)
    return (
      <div class="state">
        <b>Compilation of this kernel did not finish.</b>
        <span>
          The run ended or failed before this kernel had a source. The passes recorded until then
          are on the left.
        </span>
      </div>
    );
  if (!columns.length)
    return (
      <div class="state">
        {!currentKernel.value
          ? "No text of this schedule was recorded."
          : kernelArtifacts.value.length
            ? "No source is selected. Select one in the Sources menu."
            : compilable.value.length
              ? "No source of this kernel was recorded. Select a target in the Sources menu to compile it here."
              : "No source of this kernel was recorded, and it cannot be compiled here."}
      </div>
    );
  const wide = wideEdit.value;
  const edit = wide === null ? undefined : editOf(wide);
  if (wide !== null && edit)
    return (
      <div class="cols2">
        <Column id={wide} artifact={byKey.get(wide)} />
        <DiffPane edit={edit} />
      </div>
    );
  return (
    <Scroll all={columns.length}>
      {columns.map((key) => (
        <Column key={key} id={key} artifact={byKey.get(key)} />
      ))}
    </Scroll>
  );
}

function Scroll({ all, children }: { all: number; children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  const first = useRef(0);
  const measure = (): void => {
    const el = box.current;
    const width = el?.firstElementChild?.clientWidth;
    if (!el || !width) return;
    const fit = Math.max(1, Math.round(el.clientWidth / width));
    first.current = Math.round(el.scrollLeft / width);
    const next = { first: first.current, fit, all };
    if (JSON.stringify(next) !== JSON.stringify(inView.peek())) inView.value = next;
  };
  useLayoutEffect(() => {
    const el = (scroller = box.current!);
    const watch = new ResizeObserver(measure);
    watch.observe(el);
    // A column that arrives before the first one would be scrolled past.
    if (first.current === 0) el.scrollLeft = 0;
    measure();
    return () => {
      watch.disconnect();
      scroller = null;
      inView.value = { first: 0, fit: 0, all: 0 };
    };
  }, [all]);
  return (
    <div class="cols4" ref={box} onScroll={measure}>
      {children}
    </div>
  );
}

/** "1-2 of 4" with buttons to the others, where not all columns are in view. */
export function Pager() {
  const { first, fit, all } = inView.value;
  if (fit >= all) return null;
  const to = (column: number): void => {
    const target = scroller?.children[Math.max(0, Math.min(column, all - fit))];
    target?.scrollIntoView({ block: "nearest", inline: "start" });
  };
  const last = Math.min(all, first + fit);
  return (
    <span class="row g4 pager" role="group" aria-label="Sources in view">
      <button
        type="button"
        class="btn sm ico quiet"
        aria-label="Earlier sources"
        disabled={first === 0}
        onClick={() => to(first - fit)}
      >
        <Icon name="prev" />
      </button>
      <span class="t2 num nw">
        {fit > 1 ? `${first + 1}–${last}` : first + 1}/{all}
      </span>
      <button
        type="button"
        class="btn sm ico quiet"
        aria-label="Later sources"
        disabled={last >= all}
        onClick={() => to(first + fit)}
      >
        <Icon name="right" />
      </button>
    </span>
  );
}
