/** Commands of the timeline. */
import { canOpen, openPicked } from "./data/jump";
import { saveTraceEvents } from "./save";
import { end, lanes, mark, nextMark, pan, picked, pickNext, pickPeak, show, timelineData, zoom, zoomToPicked } from "./data/store";
import { type Command, commandMaker } from "../../parts/command";
import { timelineLink, goTimeline } from "./data/link";

const here = (): boolean => timelineData.value !== null;
const command = commandMaker("Timeline", "tl", here);

export const timelineCommands: readonly Command[] = [
  command("in", "Zoom in on the time axis", [], () => zoom(1.5)),
  command("out", "Zoom out on the time axis", [], () => zoom(1 / 1.5)),
  command("left", "Earlier", [], () => pan(-0.25)),
  command("right", "Later", [], () => pan(0.25)),
  command("all", "Show the whole run", ["0"], () => show([0, end.peek()])),
  command("mark", "Add or remove a mark at this time", ["B"], mark),
  command(
    "unmark",
    "Clear all marks",
    [],
    () => goTimeline({ marks: [] }, "replace"),
    () => timelineLink.value.marks.length > 0,
  ),
  command(
    "next-mark",
    "Next mark",
    [" "],
    nextMark,
    () => timelineLink.value.marks.length > 0,
  ),
  command("next", "Next span", ["ArrowRight"], () => pickNext(1)),
  command("prev", "Previous span", ["ArrowLeft"], () => pickNext(-1)),
  command("zoom", "Zoom to the selected span", [], zoomToPicked, () => picked.value !== null),
  {
    ...command("peak", "Memory at the peak", [], pickPeak, () => lanes.value.some((l) => l.memory)),
    words: "allocated buffers bytes most",
  },
  command("open", "Open the selection in the graphs", ["Enter"], openPicked, canOpen),
  command("save", "Save the timeline for Perfetto", [], saveTraceEvents),
];
