/** The scrubber, as the page knows it. */
import type { FramePanel } from "../../parts/panel";
import { stepCommands } from "./commands";
import { Scrubber } from "./Scrubber";

export const scrubberPanel: FramePanel = {
  id: "scrubber",
  title: "Steps",
  place: "strip",
  component: Scrubber,
  commands: stepCommands,
};
