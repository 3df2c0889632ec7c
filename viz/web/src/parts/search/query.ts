/** A search box: what is asked, and what the trace answers, as it comes. Keeps the last answer. */
import { effect, signal } from "@preact/signals";
import { data } from "../../state/actions";
import { runKey } from "../../state/state";
import { asProblem, isAbort } from "../../data/backend";
import type { ApiProblem } from "../../data/messages/job";
import type { SearchResult } from "../../data/messages/search";

const DEBOUNCE_MS = 120;

export class SearchBox {
  readonly query = signal("");
  /** What was found inside the passes of the run; null until the answer comes. */
  readonly result = signal<SearchResult | null>(null);
  readonly error = signal<ApiProblem | null>(null);

  /** Follows the query from now on; gives what ends it. */
  start(): () => void {
    let running: AbortController | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = effect(() => {
      const text = this.query.value.trim();
      void runKey.value; // hits are rows of the run
      clearTimeout(timer);
      running?.abort();
      this.error.value = null;
      this.result.value = null;
      if (!text) return;
      const mine = (running = new AbortController());
      timer = setTimeout(() => void this.ask(text, mine), DEBOUNCE_MS);
    });
    return () => {
      end();
      clearTimeout(timer);
      running?.abort();
    };
  }

  /** Asks until everything has been searched; what was found so far is shown meanwhile. */
  private async ask(text: string, mine: AbortController): Promise<void> {
    try {
      let found: SearchResult;
      do {
        found = await data().search(text, mine.signal);
        if (mine.signal.aborted) return;
        this.result.value = found;
      } while (found.truncated);
    } catch (thrown) {
      if (!isAbort(thrown) && !mine.signal.aborted) this.error.value = asProblem(thrown, "search");
    }
  }
}
