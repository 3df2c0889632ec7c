/** The search box: what is asked, and the answers as they come. Keeps the last answer only. */
import { effect, signal } from "@preact/signals";
import { data } from "../../app/actions";
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
    const text = query.value.trim();
    clearTimeout(timer);
    running?.abort();
    if (!text) {
      result.value = null;
      return;
    }
    timer = setTimeout(() => {
      const mine = (running = new AbortController());
      data()
        .search(text, mine.signal)
        .then((found) => {
          if (mine.signal.aborted) return;
          result.value = found;
          searchError.value = null;
        })
        .catch((thrown: unknown) => {
          if (!isAbort(thrown) && !mine.signal.aborted)
            searchError.value = asProblem(thrown, "search");
        });
    }, DEBOUNCE_MS);
  });
}
