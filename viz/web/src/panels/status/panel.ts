/** The status bar, as the page knows it. */
import type { StatusPanel } from "../../parts/panel";
import { replayCommands, variantCommands } from "../../parts/whatif/commands";
import { startChanged } from "../../parts/whatif/changed";
import { changedNotice, whatIfNotice } from "../../parts/whatif/notices";
import { cancelJob, startVariants } from "../../parts/whatif/store";
import { againNotice, finishedNotice, goneNotice } from "./notices";
import { StatusBar } from "./StatusBar";

export const statusPanel: StatusPanel = {
  id: "status",
  title: "Status",
  place: "status",
  component: StatusBar,
  commands: [...replayCommands, ...variantCommands],
  notices: [goneNotice, againNotice, changedNotice, whatIfNotice, finishedNotice],
  start() {
    startChanged();
    startVariants();
  },
  escape: cancelJob,
};
