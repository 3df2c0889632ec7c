/** The function of a rule that declined, called again by the server: on request, or unasked where this
 * version of the compiler made the run here, as kernels are compiled. */
import { computed, effect, signal } from "@preact/signals";
import { asProblem, isAbort } from "../../../../data/backend";
import { follow } from "../../../../data/jobs";
import type { ApiProblem } from "../../../../data/messages/job";
import type { WhyNot } from "../../../../data/messages/rule";
import { announce, data } from "../../../../state/actions";
import { runKey } from "../../../../state/state";
import { compilesUnasked } from "../../../../ui/code/since";
import { watchedWhy } from "./store";

export type Call =
  | { state: "none" }
  | { state: "running"; progress: string }
  | { state: "done"; answer: WhyNot }
  | { state: "error"; error: ApiProblem };

const NONE: Call = { state: "none" };
const key = (of: WhyNot): string => `${runKey.value} ${of.rewrite} ${of.node} ${of.rule}`;

/** The last call, and what it was about. */
const last = signal<{ of: string; call: Call }>({ of: "", call: NONE });
let running: AbortController | null = null;

/** The call of the answer that is shown. */
export const call = computed<Call>(() => {
  const answer = watchedWhy.answer.value;
  return answer && last.value.of === key(answer) ? last.value.call : NONE;
});

/** Calls the function of the answer that is shown. */
export async function callAgain(): Promise<void> {
  const answer = watchedWhy.answer.peek();
  const { server } = data();
  if (!answer || !server) return;
  cancelCall();
  const mine = (running = new AbortController());
  const of = key(answer);
  const say = (now: Call): void => {
    if (running === mine) last.value = { of, call: now };
  };
  say({ state: "running", progress: "starting" });
  try {
    const found = await follow<WhyNot>(
      server,
      () => server.whyDeclined(answer.rewrite, answer.node, answer.rule),
      (progress) => say({ state: "running", progress }),
      mine.signal,
    );
    say({ state: "done", answer: found });
  } catch (thrown) {
    if (isAbort(thrown)) say(NONE);
    else say({ state: "error", error: asProblem(thrown, "why-declined") });
  }
}

/** Ends the call; false if there was none. */
export function cancelCall(): boolean {
  if (last.peek().call.state !== "running" || !running) return false;
  running.abort();
  last.value = { of: "", call: NONE };
  return true;
}

/** Follows the answers from now on: another question ends the call of the one before. */
export function startCalls(): void {
  effect(() => {
    const answer = watchedWhy.answer.value;
    const unasked = compilesUnasked.value;
    const wanted = answer?.kind === "declined" ? key(answer) : "";
    if (last.peek().of && last.peek().of !== wanted) cancelCall();
    if (wanted && unasked && last.peek().of !== wanted) void callAgain();
  });
}

/** Esc: ends the call. */
export function escapeCall(): boolean {
  if (!cancelCall()) return false;
  announce("The call was cancelled");
  return true;
}
