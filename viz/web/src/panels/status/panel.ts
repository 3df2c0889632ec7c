/** The status bar, as the page knows it. */
import type { StatusPanel } from "../../parts/panel";
import { StatusBar } from "./StatusBar";

export const statusPanel: StatusPanel = {
  id: "status",
  title: "Status",
  place: "status",
  component: StatusBar,
};
