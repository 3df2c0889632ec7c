/** The search box: what is asked, and the answers as they come. Keeps the last answer only. */
import { effect, signal } from "@preact/signals";
import { data } from "../../state/actions";
import { runKey } from "../../state/state";
import { asProblem, isAbort } from "../../data/backend";
import type { ApiProblem, SearchResult } from "../../data/types";

const DEBOUNCE_MS = 120;

export const query = signal("");
export const result = signal<SearchResult | null>(null);
export const searchError = signal<ApiProblem | null>(null);

export function startSearch(): void {
  let running: AbortController | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    void runKey.value; // hits are rows of the run
    result.value = null;
  });
  effect(() => {
    const text = query.value.trim();
    void runKey.value;
    clearTimeout(timer);
    running?.abort();
    searchError.value = null;
    if (!text) {
      result.value = null;
      return;
    }
    timer = setTimeout(() => void search(text, (running = new AbortController())), DEBOUNCE_MS);
  });
}

/** Asks until everything has been searched; what was found so far is shown meanwhile. */
async function search(text: string, mine: AbortController): Promise<void> {
  try {
    let found: SearchResult;
    do {
      found = await data().search(text, mine.signal);
      if (mine.signal.aborted) return;
      result.value = found;
      searchError.value = null;
    } while (found.truncated);
  } catch (thrown) {
    if (!isAbort(thrown) && !mine.signal.aborted) searchError.value = asProblem(thrown, "search");
  }
}
