/**
 * What a view asks while it is open: at once, again some time after each answer while there may be
 * more, and once more when the program has ended. Keeps the last answer of the run.
 */
import { batch, computed, effect, signal } from "@preact/signals";
import { asProblem, isAbort } from "../data/backend";
import type { ApiProblem } from "../data/messages/job";
import { isLive, runKey } from "./state";

/** Until the next question: while the answer is worked on, and while the program runs. */
const POLL_MS = 100;
const LIVE_MS = 2000;

export class Watched<T> {
  readonly answer = signal<T | null>(null);
  readonly error = signal<ApiProblem | null>(null);
  private fetching: AbortController | null = null;
  /** The answer was asked for when the program had ended. */
  private final = false;

  /**
   * @param where what an error names
   * @param isOpen follows signals
   * @param hasMore whether asking again goes on with the work
   * @param about what of the run it is about; follows signals
   */
  constructor(
    private readonly where: string,
    private readonly isOpen: () => boolean,
    private readonly ask: (signal: AbortSignal) => Promise<T>,
    private readonly hasMore: (answer: T) => boolean = () => false,
    private readonly about: () => string = () => "",
  ) {}

  /** Follows the run and the view from now on. */
  start(): void {
    effect(() => {
      void runKey.value;
      void this.about();
      this.fetching?.abort();
      batch(() => {
        this.answer.value = null;
        this.error.value = null;
      });
    });
    const open = computed(this.isOpen);
    let timer: ReturnType<typeof setTimeout> | undefined;
    effect(() => {
      clearTimeout(timer);
      void this.about(); // what was asked for is asked anew, also where no answer had come yet
      if (!open.value) this.fetching?.abort();
      if (!open.value || !runKey.value) return;
      const pause = this.pause();
      if (pause !== null) timer = setTimeout(() => void this.fetch(), pause);
    });
  }

  /** Asks now: the reader wants to try again. */
  readonly retry = (): void => void this.fetch();

  /** Until it is asked again, ms; null: not before something changes. */
  private pause(): number | null {
    const answer = this.answer.value;
    const live = isLive.value;
    if (this.error.value) return live ? LIVE_MS : null;
    if (answer === null) return 0;
    if (this.hasMore(answer)) return POLL_MS;
    if (live) return LIVE_MS;
    return this.final ? null : 0;
  }

  private async fetch(): Promise<void> {
    this.fetching?.abort();
    const mine = (this.fetching = new AbortController());
    const final = !isLive.peek();
    try {
      const answer = await this.ask(mine.signal);
      if (mine.signal.aborted) return;
      this.final = final;
      batch(() => {
        this.answer.value = answer;
        this.error.value = null;
      });
    } catch (thrown) {
      if (!isAbort(thrown) && !mine.signal.aborted)
        this.error.value = asProblem(thrown, this.where);
    }
  }
}
