/** The timeline, as the page knows it. */
import type { PagePanel } from "../../parts/panel";
import { isTimed, view } from "../../state/state";
import { timelineCommands } from "./commands";
import { enter, startSubject } from "./data/jump";
import { goTimeline, timelineLink } from "./data/link";
import { timeline } from "./data/store";
import { TimelineView } from "./TimelineView";
import { startWork } from "./data/rate";

export const timelinePanel: PagePanel = {
  id: "timeline",
  title: "Timeline",
  place: "page",
  page: "timeline",
  component: TimelineView,
  isOffered: () => isTimed.value,
  commands: timelineCommands,
  link: timelineLink,
  enter,
  start() {
    timeline.start();
    startWork();
    startSubject();
  },
  escape() {
    if (view.peek().page !== "timeline" || timelineLink.peek().pick === null) return false;
    goTimeline({ pick: null });
    return true;
  },
};
