/** The workbench, as the page knows it. */
import { live } from "../../parts/command";
import type { PagePanel } from "../../parts/panel";
import { knowPeaks } from "../../parts/peaks";
import { announce } from "../../state/actions";
import { isHere } from "../../parts/run/here";
import { run } from "../../state/state";
import { cancelRun } from "../../parts/run/RunBox";
import { effect } from "@preact/signals";
import { startOpts } from "./change/opts";
import { cancelSearch, startSearch } from "./change/search";
import { cancelBench, startBench } from "./data/bench";
import { moreCommands, workbenchCommands } from "./commands";
import { workbenchLink } from "./data/link";
import { startTexts } from "./text/texts";
import { isOpen } from "./data/where";
import { WorkbenchView } from "./WorkbenchView";

export const workbenchPanel: PagePanel = {
  id: "workbench",
  title: "Workbench",
  needs: "run",
  place: "page",
  page: "workbench",
  withoutPass: true,
  isOffered: () => live() || (run.value?.editable.some((one) => isHere(one.device)) ?? false),
  component: WorkbenchView,
  commands: workbenchCommands,
  moreCommands,
  link: workbenchLink,
  start() {
    startOpts();
    startSearch();
    startBench();
    startTexts();
    effect(() => {
      if (isOpen.value) void knowPeaks();
    });
  },
  escape() {
    if (!isOpen.peek()) return false;
    const what = cancelBench() || cancelRun() ? "Run" : cancelSearch() ? "Search" : null;
    if (what !== null) announce(`${what} cancelled`);
    return what !== null;
  },
};
