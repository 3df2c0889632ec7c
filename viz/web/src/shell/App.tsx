/** The frame of the page and what fills it. */
import { useEffect } from "preact/hooks";
import type { FixedPlace } from "../parts/panel";
import { isDrawerOpen } from "../state/drawer";
import { Drawer } from "./Drawer";
import { panelsIn, pagePanel } from "./panels";
import { Banner } from "./Banner";
import { Empty } from "./start/Empty";
import { OtherRun } from "./start/OtherRun";
import { count } from "../state/format";
import { KeySheet } from "./KeySheet";
import { Palette } from "./Palette";
import { BENCH, type Page } from "../state/link/view";
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
import { TopBar } from "./top/TopBar";
import { wideEdit } from "../parts/source/edits";

export function App() {
  const nothing = fatal.value !== null || (run.value !== null && !hasRows.value && !run.value.live);
  const waiting = run.value !== null && !hasRows.value && run.value.live && !run.value.command;
  const Page = pagePanel(view.value.page)?.component;
  return (
    <div class="app">
      <TopBar />
      <OtherRun />
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
      class={bodyClass(view.value.page)}
      style={{
        "--w-nav": px(s.nav),
        "--w-insp": px(s.insp),
        "--h-scrub": px(s.scrub),
        "--h-drawer": px(s.drawer),
      }}
    >
      <Place name="left" />
      <section
        class={
          wideEdit.value ? "centre wide-edit" : isDrawerOpen.value ? "centre" : "centre closed"
        }
      >
        <Place name="head" />
        <Banner />
        <Place name="centre" />
        <Place name="strip" />
        <Drawer />
      </section>
      <Place name="right" />
    </main>
  );
}

/** Other pages lie over the graphs; the navigator stands beside the workbench. */
const bodyClass = (page: Page): string =>
  page === "graphs" ? "body" : page === BENCH ? "body away beside" : "body away";

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
