/** The layout in a worker: one graph in, progress and one layout out. */
import { layered, type LayoutInput } from "../../model/layered";
import type { LayoutMessage } from "./layouter";

const scope = self as unknown as {
  onmessage: ((event: MessageEvent<LayoutInput>) => void) | null;
  postMessage(message: LayoutMessage, transfer?: Transferable[]): void;
};

scope.onmessage = (event) => {
  try {
    const parts = layered(event.data);
    for (;;) {
      const next = parts.next();
      if (next.done) {
        const l = next.value;
        scope.postMessage({ kind: "done", layout: l }, [
          l.x.buffer,
          l.row.buffer,
          l.rail.buffer,
          l.hub.buffer,
        ]);
        return;
      }
      scope.postMessage({ kind: "progress", share: next.value });
    }
  } catch (error) {
    scope.postMessage({ kind: "failed", message: String(error) });
  }
};
