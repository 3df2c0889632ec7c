/** The graph panes with the header above them, as the page knows them. */
import type { FramePanel } from "../../parts/panel";
import { graphCommands } from "./commands";
import { passesCommands, targetCommands } from "./targets";
import { Header } from "./Header";
import { graphLink } from "./link";
import { cancelLayout } from "./mount";
import { Panes } from "./Panes";

export const headerPanel: FramePanel = {
  id: "header",
  title: "Step",
  place: "head",
  component: Header,
  commands: passesCommands,
  moreCommands: targetCommands,
};

export const centrePanel: FramePanel = {
  id: "centre",
  title: "Graph",
  place: "centre",
  component: Panes,
  commands: graphCommands,
  link: graphLink,
  escape: cancelLayout,
};
