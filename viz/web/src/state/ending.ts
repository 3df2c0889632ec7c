/**
 * The end of a program, and of the server of its page, which goes on for some time after it. Says what
 * to tell the reader; never asks a server.
 */
import { computed, signal } from "@preact/signals";
import type { Run } from "../data/messages/run";
import { plural } from "./format";
import { connection, run, runKey } from "./state";

/** The run whose end this page has seen; "" for none. */
const seenEnd = signal("");
/** The run whose notice was closed. */
const closedFor = signal("");

/** To be told when a program has ended while its page was open. */
export const sawEnd = (key: string): void => void (seenEnd.value = key);

/**
 * Whether a server that does not answer has ended as it is to: after the program, once nobody has
 * looked at the page for long enough. A page that slept has not seen either.
 *
 * @param silence since the last answer, ms
 */
export function hasEnded(of: Run | null, silence: number): boolean {
  if (!of || of.stays === undefined || of.stays === null) return false;
  return !of.live || silence >= of.stays * 1000;
}

/** Whether the run has ended and is still served: the word beside the hollow dot. */
export const isFinished = computed(() => {
  const r = run.value;
  const kind = connection.value.kind;
  return r !== null && !r.live && (kind === "connected" || kind === "ended");
});

/** What there is to say of it, with the command that opens the run again. */
export interface Ending {
  words: string;
  again: string;
  /** The page is no longer served. */
  gone: boolean;
}

export const ending = computed<Ending | null>(() => {
  const r = run.value;
  if (!r?.again) return null;
  if (connection.value.kind === "ended")
    return {
      words: "The server of this page has ended. What is loaded stays usable.",
      again: r.again,
      gone: true,
    };
  const isSaid = r.stays ? !r.live : seenEnd.value === runKey.value && !r.live;
  if (!isSaid || connection.value.kind !== "connected" || closedFor.value === runKey.value)
    return null;
  const until = r.stays
    ? ` This page stays until it has been closed for ${duration(r.stays)}.`
    : "";
  return { words: `The run has finished.${until}`, again: r.again, gone: false };
});

/** The reader has read that the run has finished. */
export const closeEnding = (): void => void (closedFor.value = runKey.peek());

/** "10 minutes", "8 seconds". */
const duration = (seconds: number): string =>
  seconds % 60 ? plural(seconds, "second") : plural(seconds / 60, "minute");
