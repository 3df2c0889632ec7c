/** Saves the timeline as a file that Perfetto opens. Works without a server. */
import { announce } from "../../app/actions";
import { run } from "../../app/state";
import { traceEvents } from "../../data/traceEvents";
import { timelineData } from "./store";

export function saveTraceEvents(): void {
  const data = timelineData.peek();
  if (!data) return;
  const name = run.peek()?.name ?? "run";
  const made = JSON.stringify(traceEvents(data, name));
  const address = URL.createObjectURL(new Blob([made], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = `${name.replace(/[^\w.-]+/g, "_")}.trace.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
  announce("The trace events are saved; ui.perfetto.dev opens them");
}
