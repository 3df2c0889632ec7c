/** What panels know of the one stage of the page; panels/centre mounts it. */
import { signal } from "@preact/signals";
import type { Stage, StageStats } from "../graph/stage";

/** The stage while it is on the page. */
export const stage = signal<Stage | null>(null);
export const stats = signal<StageStats | null>(null);
/** Slots lit from a source line or a pattern node. */
export const lit = signal<readonly number[]>([]);
