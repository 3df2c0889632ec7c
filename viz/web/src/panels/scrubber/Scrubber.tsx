/**
 * All steps of the pass in one bar: arrows, the size of each change, the zoom of the graphs. Its divider
 * drags up to one lane per rule.
 */
import { computed } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { canStep, go, goStep, reloadBundle, stepBy, toggleRuleFilter } from "../../state/actions";
import { count, plural } from "../../state/format";
import {
  bundle,
  currentStep,
  filtered,
  firings,
  newSteps,
  passing,
  preview,
  ruleName,
  step,
  stepCount,
  view,
} from "../../state/state";
import { verdicts } from "../../parts/check/checks";
import { KIND_WORDS, signOf, type Sign } from "../../parts/check/marks";
import { sizes as panelSizes } from "../../state/prefs";
import { stage, stats } from "../../state/stage";
import { Divider } from "../../ui/Divider";
import { MoveButton } from "../../ui/MoveButton";
import { marked } from "../../parts/strip/marked";
import { pointing } from "../../parts/strip/pointing";
import { makeScale, snap, xOf, type Scale } from "../../parts/strip/scale";
import { useStrip } from "../../parts/strip/useStrip";
import { drawLanes, drawOverview } from "./draw";

const LANE = 14;
/** Height of the bar alone, and from which on there is room for a lane, px. */
const BAR = 48;
const LANES = BAR + LANE + 4;

const sizes = computed(() =>
  (bundle.value?.steps ?? []).map((s) => s.removed.length + s.added.length + s.moved.length),
);
const biggest = computed(() => sizes.value.reduce((most, size) => Math.max(most, size), 1));
/** Most frequent rule first; the order holds for the whole pass, so that lanes never move. */
const lanes = computed(() => [...firings.value].map(([rule, steps]) => ({ rule, steps })));
const passes = computed(() => {
  if (!filtered.value) return () => true;
  const set = new Set(passing.value);
  return (k: number) => set.has(k);
});

/** The steps of the rule that is looked at, ascending. */
const alike = computed<readonly number[]>(
  () => firings.value.get(view.value.rule ?? currentStep.value?.rule ?? -1) ?? [],
);

/** Steps that were checked and are not proved, ascending. */
const signs = computed<ReadonlyMap<Sign, readonly number[]>>(() => {
  const found = new Map<Sign, number[]>();
  for (const [k, verdict] of [...verdicts.value].sort(([a], [b]) => a - b)) {
    const sign = signOf(verdict.kind);
    if (sign === "proved") continue;
    const list = found.get(sign);
    if (list) list.push(k);
    else found.set(sign, [k]);
  }
  return found;
});

export function Scrubber() {
  return (
    <section class="scrub" data-region="Steps" aria-label="Steps of the pass">
      <Divider
        part="scrub"
        label="Height of the step bar: higher shows a lane per rule"
        class="top-edge"
        axis="y"
        grows={-1}
        min={BAR}
        max={400}
      />
      <div class="line1">
        <Controls />
        <Strip />
        <Zoom />
      </div>
      {(panelSizes.value.scrub ?? BAR) >= LANES && <Lanes />}
    </section>
  );
}

/** The zoom of the graphs; its figure fits them. */
function Zoom() {
  const s = stats.value;
  return (
    <div class="zoom" role="group" aria-label="Zoom">
      <button
        type="button"
        class="btn sm ico quiet"
        aria-label="Zoom out"
        disabled={!stage.value}
        onClick={() => stage.peek()?.zoomBy(0.8)}
      >
        −
      </button>
      <button
        type="button"
        class="btn sm quiet num"
        aria-label={`Zoom ${s ? Math.round(s.zoom * 100) : 100}%: fit the graph`}
        title="Fit the change, then all (0)"
        disabled={!stage.value}
        onClick={() => stage.peek()?.fit()}
      >
        {s ? Math.round(s.zoom * 100) : 100}%
      </button>
      <button
        type="button"
        class="btn sm ico quiet"
        aria-label="Zoom in"
        disabled={!stage.value}
        onClick={() => stage.peek()?.zoomBy(1.25)}
      >
        +
      </button>
    </div>
  );
}

function Controls() {
  const n = stepCount.value;
  const k = step.value;
  return (
    <div class="ctl">
      <MoveButton icon="first" label="Input graph" off={k === 0} onClick={() => goStep(0)} quiet />
      <MoveButton icon="prev" label="Previous step" off={!canStep(-1)} onClick={() => stepBy(-1)} />
      <MoveButton icon="right" label="Next step" off={!canStep(1)} onClick={() => stepBy(1)} />
      <MoveButton icon="last" label="Last step" off={k >= n} onClick={() => goStep(n)} quiet />
      <span class="num nw at" title={k ? undefined : "The input graph"}>
        <b>{count(k)}</b> <span class="t2">of {count(n)}</span>
      </span>
      {newSteps.value > 0 && (
        <button
          type="button"
          class="pill num"
          aria-label={`Show ${plural(newSteps.value, "new step")}`}
          title="Show them"
          onClick={reloadBundle}
        >
          {count(newSteps.value)} new
        </button>
      )}
    </div>
  );
}

/** Pointer handlers of both canvases. */
const pointed = (scale: Scale) =>
  pointing(
    scale,
    preview,
    (k) => go({ step: k }),
    (k) => (filtered.peek() ? snap(scale, k, passing.peek()) : k),
  );

function Strip() {
  const { canvas, kept, palette, width, height } = useStrip();
  const scale = makeScale(stepCount.value, width);
  const k = step.value;
  useLayoutEffect(() => {
    const frame = { scale, height, palette, current: k };
    const bars = {
      sizes: sizes.value,
      biggest: biggest.value,
      passes: passes.value,
      signs: signs.value,
      alike: alike.value,
      marked: marked.value,
    };
    drawOverview(canvas.current!, frame, kept, bars);
  }, [
    width,
    height,
    k,
    sizes.value,
    passes.value,
    signs.value,
    alike.value,
    marked.value,
    palette,
  ]);
  const checked = verdicts.value.get(k);
  const at = bundle.value?.steps[k - 1];
  return (
    <div class="over">
      <canvas
        ref={canvas}
        role="slider"
        tabIndex={0}
        aria-label="Step"
        aria-valuemin={0}
        aria-valuemax={stepCount.value}
        aria-valuenow={k}
        aria-valuetext={
          at
            ? `${count(k)}, ${ruleName(at.rule)}${checked ? `, ${KIND_WORDS[checked.kind]}` : ""}`
            : "input graph"
        }
        {...pointed(scale)}
      />
      {preview.value !== null && (
        <div
          class="tip num"
          style={{ left: `${Math.min(Math.max(xOf(scale, k), 60), width - 60)}px` }}
        >
          {k ? `${count(k)}  ${at ? ruleName(at.rule) : ""}` : "input graph"}
        </div>
      )}
    </div>
  );
}

function Lanes() {
  const box = useRef<HTMLDivElement>(null);
  const { canvas, kept, palette, width, height: drawn } = useStrip();
  const scale = makeScale(stepCount.value, width);
  const k = step.value;
  const list = lanes.value;
  const active = view.value.rule ?? currentStep.value?.rule ?? null;
  const height = Math.max(1, list.length * LANE);
  useLayoutEffect(() => {
    const frame = { scale, height: drawn, palette, current: k };
    drawLanes(canvas.current!, frame, kept, list, active, LANE);
  }, [width, drawn, k, list, active, palette]);
  const lane = list.findIndex((l) => l.rule === active);
  useLayoutEffect(() => {
    const el = box.current;
    if (!el || lane < 0) return;
    const top = lane * LANE;
    if (top < el.scrollTop || top + LANE > el.scrollTop + el.clientHeight)
      el.scrollTop = Math.max(0, top - LANE);
  }, [lane]);
  return (
    <div class="lanes" ref={box}>
      <div class="grid" style={{ height: `${height}px` }}>
        <div class="labs">
          {list.map((l) => (
            <button
              type="button"
              key={l.rule}
              class={l.rule === active ? "lab on" : "lab"}
              aria-pressed={view.value.rule === l.rule}
              title={`Only steps of ${ruleName(l.rule)}`}
              onClick={() => toggleRuleFilter(l.rule)}
            >
              <span class="el">{ruleName(l.rule)}</span>
              <span class="n">{count(l.steps.length)}</span>
            </button>
          ))}
        </div>
        <canvas ref={canvas} style={{ height: `${height}px` }} {...pointed(scale)} />
      </div>
    </div>
  );
}
