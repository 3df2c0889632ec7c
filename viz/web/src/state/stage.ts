/** What panels know of the one stage of the page; panels/centre mounts it. */
import { signal } from "@preact/signals";
import type { FitMarks, Stage, StageStats } from "../graph/stage";

/** The stage while it is on the page. */
export const stage = signal<Stage | null>(null);
export const stats = signal<StageStats | null>(null);
/** What a pattern that is asked about makes of the graph; null while none is. */
export const fitMarks = signal<FitMarks | null>(null);
/** Slots lit from a source line or a pattern node. */
export const lit = signal<readonly number[]>([]);
