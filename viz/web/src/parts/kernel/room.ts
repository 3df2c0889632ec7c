/** The panel of sources at the foot of the graphs: a strip of one line per source, or half of the room. */
import { computed, signal } from "@preact/signals";
import { sourcesHalf } from "../../state/prefs";

export type SourcesSize = "strip" | "half";

export const sourcesSize = computed<SourcesSize>(() => (sourcesHalf.value ? "half" : "strip"));

/** The column whose text is edited over the full height of the page; null: none. */
export const wideColumn = signal<string | null>(null);

export function toggleSources(): void {
  sourcesHalf.value = !sourcesHalf.peek();
}

/** Makes room for the texts themselves. */
export function openSources(): void {
  sourcesHalf.value = true;
}
