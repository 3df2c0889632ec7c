/**
 * Variants of the kernel that is looked at: those that are kept, the one that is being compiled, and
 * what is done with them. One job at a time.
 */
import { batch, computed, effect, signal } from "@preact/signals";
import { asProblem, isAbort } from "../../data/backend";
import { follow } from "../../data/jobs";
import type { ApiProblem } from "../../data/messages/job";
import type { Row } from "../../data/messages/run";
import type {
  EditedText,
  Replayed,
  SmallerScript,
  TriedVariant,
  VariantRow,
  VariantSpec,
} from "../../data/messages/trials/whatif";
import { allData, announce, data, followLink, reportProblem } from "../../state/actions";
import {} from "../../state/format";
import { refreshRuns } from "../../state/live";
import { compareAt, kernelsCompared } from "../../state/link/links";
import { saveFile } from "../../state/save";
import { isOfPair } from "../../state/link/view";
import { currentKernel, kernelCount, run, runKey, runName, view } from "../../state/state";
import { kernel as kernelShown, kernelArtifacts } from "../kernel/kernel";
import { asked, clear, limit, NOTHING, wordsOf } from "./asked";
import { changedRules, replayedState } from "./changed";
import { verdictOf, type Verdict } from "./figures";
import { openVariants } from "./variants";

/** Somebody waits for the answer of a second. */
const POLL_MS = 120;

export type Job =
  | { kind: "idle" }
  /** `what`: what is done, as a sentence begins. */
  | { kind: "running"; what: string; progress: string }
  | { kind: "error"; what: string; error: ApiProblem };

export const job = signal<Job>({ kind: "idle" });
/** Of the kernel, in the order in which they were tried; null: not known yet. */
export const variants = signal<readonly VariantRow[] | null>(null);
/** Why they are not known. */
export const variantsError = signal<ApiProblem | null>(null);
/** Numbers of the variants that are chosen, at most two, the older choice first. */
export const chosen = signal<readonly number[]>([]);
/** Tables on the page: without one nothing is asked. */
const tables = signal(0);
/** Asked anew when it changes. */
const attempt = signal(0);

/** The kernel that is looked at, or was before the comparison was opened. */
export const subject = computed<Row | null>(() => {
  const now = currentKernel.value;
  if (now || !isOfPair(view.value.page)) return now;
  return last.value?.run === runKey.value ? last.value.kernel : null;
});
const last = signal<{ run: string; kernel: Row } | null>(null);

/** What came of the change that was compiled last; `of`: of which run, kernel and change. */
const verdict = signal<({ of: string } & Verdict) | null>(null);
/** The same, while that change is the one that is collected. */
export const verdictOfAsked = computed<Verdict | null>(() => {
  const now = `${runKey.value} ${subject.value?.id} ${JSON.stringify(asked.value)}`;
  return verdict.value?.of === now ? verdict.value : null;
});

let stop: AbortController | null = null;

/** Says that a table is on the page; what it gives back says that it is gone. */
export function showVariants(): () => void {
  tables.value += 1;
  return () => void (tables.value -= 1);
}

export const retryVariants = (): void => void (attempt.value += 1);

/** One sentence about what is needed to compile the kernel here; "" where nothing is. */
export function whatIsNeeded(): string {
  if (!data().server)
    return "To compile variants of this kernel, open the trace itself with uopviz.";
  if (run.value && !run.value.targets.length)
    return "This trace was not recorded by this compiler: its kernels cannot be compiled here.";
  if (!subject.value) return "Choose a kernel, or a pass of one, to compile variants of it.";
  if (subject.value.status === "open" && run.value?.live)
    return "The program still compiles this kernel.";
  return "";
}

export const canTry = (): boolean => whatIsNeeded() === "";
/** Whether the kernels of the run were recorded by this compiler and can be compiled here. */
export const canReplayAll = (): boolean => !!data().server && !!run.value?.targets.length;
export const isRunning = (): boolean => job.value.kind === "running";

/** Follows the kernel from now on. */
export function startVariants(): void {
  let of = "";
  effect(() => {
    const kernel = currentKernel.value;
    if (kernel) last.value = { run: runKey.value, kernel };
  });
  let fetching: AbortController | null = null;
  effect(() => {
    const now = `${runKey.value} ${subject.value?.id ?? ""}`;
    if (now === of) return;
    of = now;
    batch(() => {
      variants.value = null;
      variantsError.value = null;
      chosen.value = [];
      if (job.peek().kind === "error") job.value = { kind: "idle" };
      clear();
    });
  });
  effect(() => {
    void attempt.value;
    void runKey.value;
    const kernel = subject.value?.id ?? null;
    const open = tables.value > 0;
    fetching?.abort();
    if (kernel === null || !open || !data().server || !run.peek()?.targets.length) return;
    const mine = (fetching = new AbortController());
    void fetchVariants(kernel, mine.signal);
  });
}

async function fetchVariants(kernel: number, signal: AbortSignal): Promise<void> {
  try {
    const found = await data().server!.whatIf.variants(kernel, signal);
    if (signal.aborted) return;
    batch(() => {
      variants.value = found;
      variantsError.value = null;
      chosen.value = chosen.peek().filter((n) => found.some((row) => row.number === n));
    });
  } catch (thrown) {
    if (!isAbort(thrown) && !signal.aborted)
      variantsError.value = asProblem(thrown, `kernel ${kernel}`);
  }
}

/** Does one job, and shows how far it is; null where it failed or was cancelled. */
async function work<T>(
  what: string,
  where: string,
  start: () => Promise<number>,
): Promise<T | null> {
  const { server } = data();
  if (!server || isRunning()) return null;
  const mine = (stop = new AbortController());
  job.value = { kind: "running", what, progress: "" };
  announce(what);
  try {
    const made = await follow<T>(
      server,
      start,
      (progress) => {
        if (!mine.signal.aborted) job.value = { kind: "running", what, progress };
      },
      mine.signal,
      POLL_MS,
    );
    if (mine.signal.aborted) return null;
    job.value = { kind: "idle" };
    return made;
  } catch (thrown) {
    if (isAbort(thrown) || mine.signal.aborted) return null;
    const error = asProblem(thrown, where);
    job.value = { kind: "error", what, error };
    announce(`${error.what}. ${error.hint}`);
    return null;
  }
}

/** Takes away why the last job failed. */
export function dismissError(): void {
  if (job.peek().kind === "error") job.value = { kind: "idle" };
}

/** Ends what runs; false if there was nothing. */
export function cancelJob(): boolean {
  if (job.peek().kind !== "running") return false;
  stop?.abort();
  job.value = { kind: "idle" };
  announce("Cancelled");
  return true;
}

/** Compiles the kernel as it was asked for, runs it and keeps it. */
export const tryVariant = (): Promise<void> => keepVariant(asked.peek());

/** Compiles the kernel as a variant, or takes a text in its place, runs it and keeps it. */
export async function keepVariant(
  spec: VariantSpec,
  text: EditedText | null = null,
): Promise<void> {
  const kernel = subject.peek();
  if (!kernel || !canTry()) return;
  const made = await work<{ kept: { number: number } | null }>(
    `${text ? "Running" : "Compiling"} ${wordsOf(spec, text?.kind)}`,
    kernel.name,
    () => data().server!.whatIf.tryVariant(kernel.id, spec, limit.peek(), text),
  );
  if (made === null) return;
  retryVariants();
  announce(`Variant ${made.kept?.number ?? ""} is in the table`);
}

/** Compiles the kernel with what `change` says, keeps it, and shows both kernels side by side. */
export async function compareWith(change: Partial<VariantSpec>): Promise<void> {
  verdict.value = null;
  const [kernel, of] = [subject.peek(), runKey.peek()];
  if (!kernel || !canTry()) return;
  const spec = { ...NOTHING, ...change };
  const made = await work<TriedVariant>(`Compiling ${wordsOf(spec)}`, kernel.name, () =>
    data().server!.whatIf.tryVariant(kernel.id, spec, limit.peek()),
  );
  retryVariants();
  if (made)
    verdict.value = { of: `${of} ${kernel.id} ${JSON.stringify(spec)}`, ...verdictOf(made) };
  if (!made?.kept) return;
  if (runKey.peek() === of) await compareOf(kernel, [made.kept.number]);
  else announce(`Variant ${made.kept.number} of ${kernel.name} is kept`);
}

/** Compiles the kernel, or all of the run, with the code on disk, and shows the comparison. */
export async function replay(all: boolean): Promise<void> {
  const kernel = all ? null : subject.peek();
  if (!data().server || (!all && !kernel)) return;
  const before = runName.peek();
  const state = changedRules.peek()?.state ?? "";
  const what = kernel ? `Replaying ${kernel.name}` : "Replaying all kernels";
  const made = await work<Replayed>(what, kernel?.name ?? "replay", () =>
    data().server!.whatIf.replay(kernel?.id ?? null),
  );
  if (made === null) {
    if (job.peek().kind === "error") openVariants();
    return;
  }
  replayedState.value = state;
  await refreshRuns(allData());
  const one = kernel ? made.kernels[0] : undefined;
  if (one?.there != null)
    followLink(kernelsCompared([before, made.run], one.number, one.there, one.name));
  else followLink(compareAt(before, made.run));
  const failed = made.kernels.filter((k) => k.state === "failed").length;
  const changed = made.kernels.filter((k) => k.state === "changed").length;
  announce(
    made.equal
      ? "The new code does the same"
      : [
          changed > 0 && `${kernelCount(changed)} changed`,
          failed > 0 && `${kernelCount(failed)} failed`,
        ]
          .filter(Boolean)
          .join(", "),
  );
}

/** Opens variants beside the run and compares: one with the recorded kernel, or two. */
export async function compareVariants(...numbers: readonly number[]): Promise<void> {
  const kernel = subject.peek();
  if (kernel) await compareOf(kernel, numbers);
}

/** Nothing is shown where the reader has gone on to another run meanwhile. */
async function compareOf(kernel: Row, numbers: readonly number[]): Promise<void> {
  const { server } = data();
  if (!server) return;
  const [of, name] = [runKey.peek(), runName.peek()];
  try {
    const opened = [];
    if (numbers.length === 1) await compileFor(kernel, numbers[0]!);
    for (const number of numbers.slice(0, 2)) opened.push(await server.whatIf.openVariant(number));
    const [a, b] =
      opened.length > 1 ? [opened[0]!, opened[1]!] : [{ run: name, kernel: kernel.id }, opened[0]!];
    await refreshRuns(allData());
    if (runKey.peek() !== of) return;
    followLink(
      a.kernel !== null && b.kernel !== null
        ? kernelsCompared([a.run, b.run], a.kernel, b.kernel, kernel.name)
        : compareAt(a.run, b.run),
    );
  } catch (thrown) {
    failed(thrown, "Not compared");
  }
}

/** The recorded kernel gets the text that an edited one is compared with, where the run has none of
 * that kind: the compiler's own, made here. */
async function compileFor(kernel: Row, number: number): Promise<void> {
  const row = variants.peek()?.find((one) => one.number === number);
  const { server } = data();
  if (!server || !row?.variant.edited) return;
  const target = row.variant.target || kernelShown.peek()?.target;
  const has = kernelArtifacts
    .peek()
    .some((a) => a.kind === row.variant.edited && a.target === target);
  if (has || target === undefined) return;
  const start = (): Promise<number> => server.compile(kernel.id, target);
  await follow(server, start, () => undefined, new AbortController().signal, POLL_MS);
}

/** Chooses a variant, or leaves it; of three the oldest choice goes. */
export function choose(number: number): void {
  const now = chosen.peek();
  chosen.value = now.includes(number)
    ? now.filter((n) => n !== number)
    : [...now, number].slice(-2);
}

export async function deleteVariant(number: number): Promise<void> {
  try {
    await data().server!.whatIf.deleteVariant(number);
    await refreshRuns(allData());
    retryVariants();
    announce(`Variant ${number} is deleted`);
  } catch (thrown) {
    failed(thrown, "Not deleted");
  }
}

/** Saves the reproduction script of a variant. */
export async function saveScript(number: number): Promise<void> {
  try {
    saveFile(await data().server!.whatIf.script(number), nameOf(number), ".py");
    announce("The script is saved");
  } catch (thrown) {
    failed(thrown, "Not saved");
  }
}

/** Makes the kernel of a variant smaller, and saves its script. */
export async function minimise(number: number): Promise<void> {
  const name = nameOf(number);
  const made = await work<SmallerScript>(`Minimizing variant ${number}`, name, () =>
    data().server!.whatIf.minimise(number),
  );
  if (made === null) return;
  saveFile(new Blob([made.text], { type: "text/plain" }), `${name}_smaller`, ".py");
  announce(`The script is saved. ${made.said}`);
}

const nameOf = (number: number): string => `${subject.peek()?.name ?? "kernel"}_variant_${number}`;

function failed(thrown: unknown, what: string): void {
  const problem = asProblem(thrown, "variants");
  reportProblem(problem);
  announce(`${what}: ${problem.what}. ${problem.hint}`);
}
