/**
 * Which rules' files have changed since the run: asked twice a second while the page is looked at, for
 * the file is edited beside it. The server looks at the times of the files only.
 */
import { computed, effect, signal } from "@preact/signals";
import type { ChangedRules } from "../../data/messages/trials/whatif";
import { data } from "../../state/actions";
import { connection, run, runKey } from "../../state/state";

const ASK_MS = 500;

/** null: not known yet. */
export const changedRules = signal<ChangedRules | null>(null);
/** The state of the files that was replayed last. */
export const replayedState = signal("");
/** The state of the files whose notice was closed. */
export const closedState = signal("");

/** What the notice says; null: there is nothing to say. */
export const notice = computed(() => {
  const now = changedRules.value;
  if (!now?.changed.length || now.state === closedState.value) return null;
  return { changed: now.changed, replayed: now.state === replayedState.value };
});

export const closeNotice = (): void => void (closedState.value = changedRules.peek()?.state ?? "");

/** Follows the files from now on. */
export function startChanged(): void {
  let asking: AbortController | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const canAsk = computed(
    () =>
      runKey.value !== "" &&
      (run.value?.targets.length ?? 0) > 0 &&
      connection.value.kind === "connected" &&
      data().server !== null,
  );
  const ask = async (): Promise<void> => {
    clearTimeout(timer);
    if (!canAsk.peek()) return;
    if (document.visibilityState === "visible") {
      asking?.abort();
      const mine = (asking = new AbortController());
      try {
        const found = await data().server!.whatIf.changedRules(mine.signal);
        if (mine.signal.aborted) return;
        if (JSON.stringify(found) !== JSON.stringify(changedRules.peek()))
          changedRules.value = found;
      } catch {
        // Nothing is said then; the next answer may come.
        if (mine.signal.aborted) return;
      }
    }
    clearTimeout(timer);
    timer = setTimeout(() => void ask(), ASK_MS);
  };
  effect(() => {
    void runKey.value;
    asking?.abort();
    clearTimeout(timer);
    changedRules.value = null;
    replayedState.value = closedState.value = "";
    if (canAsk.value) timer = setTimeout(() => void ask(), ASK_MS);
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") void ask();
  });
}
