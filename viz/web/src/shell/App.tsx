/** The frame of the page and what fills it. */
import { useEffect } from "preact/hooks";
import { Header } from "../panels/centre/Header";
import { Panes } from "../panels/centre/Panes";
import { Inspector } from "../panels/inspector/Inspector";
import { Navigator } from "../panels/navigator/Navigator";
import { Scrubber } from "../panels/scrubber/Scrubber";
import { Drawer, isDrawerOpen } from "../panels/sources/Drawer";
import { RulesView } from "../panels/rules/RulesView";
import { StatusBar } from "../panels/status/StatusBar";
import { TimelineView } from "../panels/timeline/TimelineView";
import { Banner } from "./Banner";
import { Empty } from "./Empty";
import { count } from "../state/format";
import { KeySheet } from "./KeySheet";
import { Palette } from "./Palette";
import { sizes } from "../state/prefs";
import { RecordedText } from "../ui/RecordedText";
import {
  currentStep,
  fatal,
  overlay,
  rows,
  run,
  ruleName,
  step,
  stepCount,
  view,
  windowWidth,
} from "../state/state";
import { TopBar } from "./TopBar";

export function App() {
  const nothing =
    fatal.value !== null || (run.value !== null && !rows.value.length && !run.value.live);
  const waiting = run.value !== null && !rows.value.length && run.value.live && !run.value.command;
  return (
    <div class="app">
      <TopBar />
      {nothing || waiting ? (
        <Empty />
      ) : (
        <>
          <Body />
          {view.value.page === "timeline" && <TimelineView />}
          {view.value.page === "rules" && <RulesView />}
        </>
      )}
      <StatusBar />
      {overlay.value === "palette" && <Palette />}
      {overlay.value === "keys" && <KeySheet />}
      {overlay.value === "recorded" && <RecordedText />}
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
        "--h-drawer": px(s.drawer),
      }}
    >
      <Navigator />
      <section class={isDrawerOpen() ? "centre" : "centre closed"}>
        <Header />
        <Banner />
        <Panes />
        <Scrubber />
        <Drawer />
      </section>
      <Inspector />
    </main>
  );
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
