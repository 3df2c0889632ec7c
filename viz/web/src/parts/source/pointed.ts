/** The source line under the pointer; every column lights what belongs to it. */
import { signal } from "@preact/signals";
import type { Artifact } from "../../data/messages/kernel";

export const pointedLine = signal<{ key: string; artifact: Artifact; line: number } | null>(null);
