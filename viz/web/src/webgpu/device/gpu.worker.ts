/** Answers one request after the other with the GPU; ended from outside when it hangs. */
import { problemOf } from "../values/problem";
import type { Ask, Told } from "./protocol";
import { runStep } from "./step";
import { Session } from "./session";

const scope = self as unknown as {
  onmessage: ((event: MessageEvent<Ask>) => void) | null;
  postMessage(told: Told, transfer?: Transferable[]): void;
};

let session: Promise<Session> | null = null;

/** The device; a new one once it was lost. */
function opened(): Promise<Session> {
  session ??= Session.open().then((made) => {
    made.whenLost(() => (session = null));
    return made;
  });
  session.catch(() => (session = null));
  return session;
}

async function answer(ask: Ask): Promise<void> {
  const gpu = await opened();
  if (ask.kind === "adapter") {
    scope.postMessage({ kind: "adapter", adapter: gpu.adapter });
    return;
  }
  const lost = new Promise<never>((_, reject) => {
    gpu.whenLost((why) => reject(new Error(`The GPU was lost: ${why}`)));
  });
  const say = (text: string): void => scope.postMessage({ kind: "progress", text });
  if (ask.kind === "step") {
    const stepped = await Promise.race([runStep(gpu, ask.trial, say), lost]);
    scope.postMessage({ kind: "stepped", stepped });
    return;
  }
  const running = gpu.run(ask.trial, say);
  const tried = await Promise.race([running, lost]);
  scope.postMessage({ kind: "tried", tried }, tried.outputs.flat());
}

scope.onmessage = ({ data }) => {
  answer(data).catch((thrown: unknown) =>
    scope.postMessage({ kind: "failed", problem: problemOf(thrown) }),
  );
};
scope.postMessage({ kind: "ready" });
