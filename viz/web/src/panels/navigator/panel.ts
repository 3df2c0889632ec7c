/** The navigator, as the page knows it. */
import type { FramePanel } from "../../parts/panel";
import { navigatorCommands } from "./commands";
import { Navigator } from "./Navigator";
import { focusSearch, searchBox } from "./searchBox";
import { startTree } from "./tree";

export const navigatorPanel: FramePanel = {
  id: "navigator",
  title: "Run navigator",
  place: "left",
  component: Navigator,
  commands: navigatorCommands,
  focusSearch,
  start() {
    startTree();
    searchBox.start();
  },
};
