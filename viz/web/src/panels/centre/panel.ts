/** The graph panes, as the page knows them. */
import type { FramePanel, SheetPanel } from "../../parts/panel";
import { graphCommands } from "./commands";
import { targetCommands } from "./targets";
import { graphLink } from "./link";
import { Legend } from "./Legend";
import { overlay } from "../../state/state";
import { cancelLayout } from "./mount";
import { watchedTexts } from "../../parts/passtext/store";
import { Panes } from "./Panes";

export const centrePanel: FramePanel = {
  id: "centre",
  title: "Graph",
  place: "centre",
  component: Panes,
  commands: graphCommands,
  moreCommands: targetCommands,
  link: graphLink,
  start: () => watchedTexts.start(),
  escape: cancelLayout,
};

export const legendPanel: SheetPanel = {
  id: "legend",
  title: "Legend",
  place: "sheet",
  component: Legend,
  commands: [
    {
      id: "legend",
      title: "Legend: what shapes and colours mean",
      words: "glyph sign symbol help",
      group: "Graph",
      keys: [],
      run: () => (overlay.value = "legend"),
    },
  ],
};
