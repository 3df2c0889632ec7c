/** Saves the timeline as a file that Perfetto opens. Works without a server. */
import { announce } from "../../state/actions";
import { saveFile } from "../../state/save";
import { run } from "../../state/state";
import { traceEvents } from "../../data/traceEvents";
import { timelineData } from "./data/store";

export function saveTraceEvents(): void {
  const data = timelineData.peek();
  if (!data) return;
  const name = run.peek()?.name ?? "run";
  const made = JSON.stringify(traceEvents(data, name));
  saveFile(new Blob([made], { type: "application/json" }), name, ".trace.json");
  announce("The trace events are saved; ui.perfetto.dev opens them");
}
