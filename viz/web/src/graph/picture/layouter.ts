/**
 * Runs a layout off the main thread where that can be, else in slices on it.
 *
 * The worker's code is part of the page's one script (a blob), so that it also starts from a file
 * on disk; where even that is forbidden, the same generator runs here between frames. One layout
 * at a time: a new one cancels the old.
 */
import { layered, type Layout, type LayoutInput } from "../../model/layered";
import LayoutWorker from "./layout.worker?worker&inline";
import { Cancelled, inSlices } from "./slices";

export type LayoutMessage =
  | { kind: "progress"; share: number }
  | { kind: "done"; layout: Layout }
  | { kind: "failed"; message: string };

/** Graphs up to this size are laid out at once: that is quicker than asking a worker. */
const SMALL = 400;
/** A worker that says nothing for this long has not started, ms. */
const START = 3000;

export class Layouter {
  private worker: Worker | null = null;
  private usable = true;

  /** @throws Cancelled if `signal` is aborted first */
  async run(
    input: LayoutInput,
    signal: AbortSignal,
    progress: (share: number) => void,
  ): Promise<Layout> {
    if (input.n > SMALL && this.usable) {
      const result = await this.inWorker(input, signal, progress);
      if (result) return result;
      this.usable = false;
    }
    return inSlices(layered(input), signal, progress);
  }

  destroy(): void {
    this.worker?.terminate();
    this.worker = null;
  }

  /** null: no worker can start here. */
  private inWorker(
    input: LayoutInput,
    signal: AbortSignal,
    progress: (share: number) => void,
  ): Promise<Layout | null> {
    return new Promise((resolve, reject) => {
      let worker: Worker;
      try {
        worker = new LayoutWorker();
      } catch {
        resolve(null);
        return;
      }
      this.worker = worker;
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", cancel);
        worker.terminate();
        if (this.worker === worker) this.worker = null;
      };
      const cancel = (): void => {
        end();
        reject(new Cancelled());
      };
      const timer = setTimeout(() => {
        end();
        resolve(null);
      }, START);
      worker.onerror = (event) => {
        event.preventDefault();
        end();
        resolve(null);
      };
      worker.onmessage = (event: MessageEvent<LayoutMessage>) => {
        const message = event.data;
        clearTimeout(timer);
        if (message.kind === "progress") progress(message.share);
        else {
          end();
          if (message.kind === "done") resolve(message.layout);
          else reject(new Error(message.message));
        }
      };
      signal.addEventListener("abort", cancel);
      if (signal.aborted) cancel();
      else worker.postMessage(input);
    });
  }
}
