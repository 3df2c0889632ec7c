/** Unpacks entries of an exported file and looks through them, off the main thread. */
import { examine } from "./examine";
import type { Message, Reply } from "./examiner";
import { unpack } from "./unpack";

const scope = self as unknown as {
  onmessage: ((event: MessageEvent<Message>) => void) | null;
  postMessage(reply: Reply): void;
};

scope.onmessage = (event) => {
  const { packed, at, task } = event.data;
  unpack(packed).then(
    (items) => {
      const answers = at.map((place) => items[place]);
      scope.postMessage({ kind: "done", found: examine(task, answers) });
    },
    (error: unknown) => scope.postMessage({ kind: "failed", message: String(error) }),
  );
};
scope.postMessage({ kind: "ready" });
