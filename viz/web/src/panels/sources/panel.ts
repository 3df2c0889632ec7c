/** The sources, as the page knows them. */
import { startKernel } from "../../parts/kernel/kernel";
import { startPasses } from "../../parts/kernel/passes";
import type { FramePanel } from "../../parts/panel";
import { sourcesCommands } from "./commands";
import { SourcesPanel } from "./SourcesPanel";
import { wideColumn } from "../../parts/kernel/room";
import { wideEdit } from "../../parts/run/edits";
import { startSince } from "../../ui/code/since";
import { clearLine, startLit } from "../../parts/source/lit";

export const sourcesPanel: FramePanel = {
  id: "sources",
  title: "Sources",
  place: "foot",
  component: SourcesPanel,
  commands: sourcesCommands,
  start() {
    startKernel();
    startPasses();
    startSince();
    startLit();
  },
  escape() {
    if (wideEdit.peek() === null) return clearLine();
    wideColumn.value = null;
    return true;
  },
};
