/** Follows one job of the server until it ends. Cancelling is the caller's AbortSignal. */
import { DataError, type ServerActions } from "./backend";

const FIRST_POLL_MS = 60;
const SLOWEST_POLL_MS = 500;

/** Resolves with the job's result; rejects with its error, or AbortError once cancelled.
 *
 * @param slowest between two questions, ms, of a job that has taken a while */
export async function follow<T>(
  server: ServerActions,
  start: () => Promise<number>,
  onProgress: (text: string, best: unknown) => void,
  signal: AbortSignal,
  slowest = SLOWEST_POLL_MS,
): Promise<T> {
  signal.throwIfAborted();
  const id = await start();
  let pause = FIRST_POLL_MS;
  try {
    for (;;) {
      await sleep(pause, signal);
      pause = Math.min(pause * 1.5, slowest);
      const job = await server.job(id);
      if (job.state === "done") return job.result as T;
      if (job.state === "error") onProgress(job.progress, job.best ?? null);
      if (job.state === "error")
        throw new DataError(
          job.error?.what ?? "The job failed",
          job.error?.where ?? `job ${id}`,
          job.error?.hint ?? "",
        );
      onProgress(job.progress, job.best ?? null);
    }
  } catch (thrown) {
    // Whether or not the server hears it, the page is done with this job.
    if (signal.aborted) server.cancel(id).catch(() => undefined);
    throw thrown;
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new DOMException("cancelled", "AbortError"));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
