/** The overview, as the page knows it. */
import { startSteps } from "../../parts/run/steps";
import { startReplay } from "../../parts/run/everyKernel";
import type { PagePanel } from "../../parts/panel";
import { setPage } from "../../state/actions";
import { kernelPage } from "../../state/state";
import { overviewCommands } from "./commands";
import { watchedKernel } from "./kernel/store";
import { overviewLink } from "./data/link";
import { OverviewView } from "./OverviewView";
import { overview, watched, watchedLines } from "./data/store";

export const overviewPanel: PagePanel = {
  id: "overview",
  title: "Overview",
  place: "page",
  page: "overview",
  withoutPass: true,
  withoutRows: true,
  component: OverviewView,
  isShown: () => overview.value !== null || watched.error.value !== null,
  commands: overviewCommands,
  link: overviewLink,
  start() {
    watched.start();
    watchedLines.start();
    watchedKernel.start();
    startReplay();
    startSteps();
  },
  escape() {
    if (kernelPage.peek() === null) return false;
    setPage("overview");
    return true;
  },
};
