/** The sources, as the page knows them. */
import { startKernel } from "../../parts/kernel/kernel";
import { startPasses } from "../../parts/kernel/passes";
import type { DrawerPanel } from "../../parts/panel";
import { announce } from "../../state/actions";
import { sourcesCommands } from "./commands";
import { cancelRun, startRunBox } from "../../parts/run/RunBox";
import { Sources } from "./Sources";
import { SourceTools } from "./Tools";
import { wideColumn } from "../../state/drawer";
import { wideEdit } from "../../parts/source/edits";
import { startSince } from "../../ui/code/since";
import { startUserLines } from "../../parts/kernel/userLines";

export const sourcesPanel: DrawerPanel = {
  id: "sources",
  title: "Source",
  place: "drawer",
  tab: "source",
  component: Sources,
  tools: SourceTools,
  commands: sourcesCommands,
  start() {
    startKernel();
    startPasses();
    startSince();
    startUserLines();
    startRunBox();
  },
  escape() {
    const was = cancelRun();
    if (was) announce("Run cancelled");
    else if (wideEdit.peek() === null) return false;
    else wideColumn.value = null;
    return true;
  },
};
