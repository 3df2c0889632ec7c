/** Answers one request after the other with the GPU; ended from outside when it hangs. */
import { bench } from "./bench";
import type { Ask, Told } from "./device/protocol";
import { Session } from "./device/session";
import { runStep } from "./device/step";
import { runKernel } from "./run";
import { GpuProblem, problemOf } from "./values/problem";

const scope = self as unknown as {
  onmessage: ((event: MessageEvent<Ask>) => void) | null;
  postMessage(told: Told): void;
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

async function answer(ask: Ask): Promise<Told> {
  const gpu = await opened();
  const lost = new Promise<never>((_, reject) => {
    gpu.whenLost((why) =>
      reject(new GpuProblem(`The GPU was lost: ${why}`, "WebGPU", "The next run asks for it anew.")),
    );
  });
  return Promise.race([done(gpu, ask), lost]);
}

async function done(gpu: Session, ask: Ask): Promise<Told> {
  const say = (text: string): void => scope.postMessage({ kind: "progress", text });
  if (ask.kind === "adapter") return { kind: "adapter", adapter: gpu.adapter };
  if (ask.kind === "step") return { kind: "stepped", stepped: await runStep(gpu, ask.trial, say) };
  if (ask.kind === "run")
    return { kind: "ran", result: await runKernel(gpu, ask.kernel, ask.how, ask.seconds, say) };
  return { kind: "benched", result: await bench(gpu, ask.kernel, ask.edited, ask.source, say) };
}

scope.onmessage = ({ data }) => {
  answer(data).then(
    (told) => scope.postMessage(told),
    (thrown: unknown) => scope.postMessage({ kind: "failed", problem: problemOf(thrown) }),
  );
};
scope.postMessage({ kind: "ready" });
