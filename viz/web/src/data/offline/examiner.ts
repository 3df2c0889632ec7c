/**
 * Runs `examine` over packed entries in a worker, one at a time, else here between frames.
 *
 * The worker's code is part of the page's one script (a blob), so that it also starts from a file
 * on disk. What is given up ends its worker: an entry may be large.
 */
import { examine, type Examined, type Task } from "./examine";
import SearchWorker from "./search.worker?worker&inline";
import { unpack } from "./unpack";

export interface Message {
  packed: string;
  /** Places of the answers in the entry. */
  at: readonly number[];
  task: Task;
}

export type Reply =
  { kind: "ready" } | { kind: "done"; found: Examined } | { kind: "failed"; message: string };

/** A worker that says nothing for this long has not started, ms. */
const START = 3000;

export class Examiner {
  private worker: Promise<Worker | null> | null = null;
  private turn: Promise<unknown> = Promise.resolve();

  /** Rejects with what cannot be unpacked, and with an AbortError once given up. */
  run(message: Message, signal?: AbortSignal): Promise<Examined> {
    const mine = this.turn.then(() => this.one(message, signal));
    this.turn = mine.catch(() => undefined);
    return mine;
  }

  private async one(message: Message, signal?: AbortSignal): Promise<Examined> {
    signal?.throwIfAborted();
    const worker = await (this.worker ??= started());
    signal?.throwIfAborted();
    if (worker) return this.ask(worker, message, signal);
    await new Promise((resolve) => setTimeout(resolve));
    const items = await unpack(message.packed);
    return examine(
      message.task,
      message.at.map((place) => items[place]),
    );
  }

  private ask(worker: Worker, message: Message, signal?: AbortSignal): Promise<Examined> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        signal?.removeEventListener("abort", cancel);
        worker.onmessage = worker.onerror = null;
      };
      const cancel = (): void => {
        end();
        worker.terminate();
        this.worker = null;
        reject(new DOMException("cancelled", "AbortError"));
      };
      worker.onmessage = ({ data }: MessageEvent<Reply>) => {
        end();
        if (data.kind === "done") resolve(data.found);
        else reject(new Error(data.kind === "failed" ? data.message : data.kind));
      };
      worker.onerror = (event) => {
        end();
        reject(new Error(event.message));
      };
      signal?.addEventListener("abort", cancel);
      worker.postMessage(message);
    });
  }
}

/** A worker that has started; null where none can. */
function started(): Promise<Worker | null> {
  return new Promise((resolve) => {
    let worker: Worker;
    try {
      worker = new SearchWorker();
    } catch {
      resolve(null);
      return;
    }
    const fail = (): void => {
      worker.terminate();
      resolve(null);
    };
    const timer = setTimeout(fail, START);
    worker.onerror = (event) => {
      event.preventDefault();
      clearTimeout(timer);
      fail();
    };
    worker.onmessage = () => {
      clearTimeout(timer);
      worker.onmessage = worker.onerror = null;
      resolve(worker);
    };
  });
}
