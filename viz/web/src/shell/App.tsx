/** The frame of the page and what fills it. */
import { useEffect } from "preact/hooks";
import type { FixedPlace } from "../parts/panel";
import { NoticeLine } from "./NoticeLine";
import { panelsIn, pagePanel, sheetPanels } from "./panels";
import { Banner } from "./Banner";
import { Empty } from "./start/Empty";
import { OtherRun } from "./start/OtherRun";
import { count } from "../state/format";
import { KeySheet } from "./KeySheet";
import { Palette } from "./Palette";
import { sizes } from "../state/prefs";
import { PlaceSheet } from "../ui/code/PlaceSheet";
import {
  currentStep,
  fatal,
  hasRows,
  overlay,
  run,
  ruleName,
  step,
  stepCount,
  view,
  windowWidth,
} from "../state/state";
import { TopBar } from "./TopBar";

export function App() {
  const nothing = fatal.value !== null || (run.value !== null && !hasRows.value && !run.value.live);
  const waiting = run.value !== null && !hasRows.value && run.value.live && !run.value.command;
  const Page = pagePanel(view.value.page)?.component;
  return (
    <div class="app">
      <TopBar />
      <div class="subj" data-region="Subject">
        <Place name="subject" />
        <span class="sp" />
        <Place name="act" />
      </div>
      <div class="notices">
        <OtherRun />
        <NoticeLine />
      </div>
      {nothing || waiting ? (
        <Empty />
      ) : (
        <>
          <Body />
          {Page && <Page key={view.value.page} />}
        </>
      )}
      <Place name="status" />
      {overlay.value === "palette" && <Palette />}
      {overlay.value === "keys" && <KeySheet />}
      {overlay.value === "place" && <PlaceSheet />}
      {sheetPanels.map(
        ({ id, component: Sheet }) => overlay.value === id && <Sheet key={id} />,
      )}
      <StepVoice />
    </div>
  );
}

function Body() {
  useEffect(() => {
    const measure = (): void => void (windowWidth.value = innerWidth);
    measure();
    addEventListener("resize", measure);
    return () => removeEventListener("resize", measure);
  }, []);
  const s = sizes.value;
  const px = (size: number | null): string | undefined => (size === null ? undefined : `${size}px`);
  return (
    <main
      class={view.value.page === "graphs" ? "body" : "body away"}
      style={{
        "--w-nav": px(s.nav),
        "--w-insp": px(s.insp),
        "--h-scrub": px(s.scrub),
        "--h-foot": px(s.foot),
      }}
    >
      <Place name="left" />
      <section class="centre">
        <Banner />
        <Place name="centre" />
        <Place name="strip" />
      </section>
      <Place name="right" />
      <Place name="foot" />
    </main>
  );
}

/** The panels that stand in a place. */
function Place({ name }: { name: FixedPlace }) {
  return panelsIn(name).map((panel) => <panel.component key={panel.id} />);
}

/** Steps, for those who listen. */
function StepVoice() {
  const at = currentStep.value;
  return (
    <div class="sr" aria-live="polite">
      {at
        ? `Step ${count(step.value)} of ${count(stepCount.value)}, ${ruleName(at.rule)}, ` +
          `${at.removed.length} removed, ${at.added.length} added, ${at.moved.length} moved`
        : ""}
    </div>
  );
}
