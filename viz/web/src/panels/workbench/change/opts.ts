/** The optimisations of the kernel: which are on, which apply, and which could be added. */
import { computed, effect, signal, untracked } from "@preact/signals";
import { asProblem, isAbort } from "../../../data/backend";
import { follow } from "../../../data/jobs";
import type { ApiProblem } from "../../../data/messages/job";
import type { KernelOpts } from "../../../data/messages/trials/workbench";
import { compilable, kernel } from "../../../parts/kernel/kernel";
import { data } from "../../../state/actions";
import { currentKernel, runKey } from "../../../state/state";
import { goWorkbench, workbenchLink } from "../data/link";
import { benchTarget, choices, compilesFor, isOpen } from "../data/where";
import { type OptRow, partsOf, questionOf, rowsOf, type TakenOut } from "./list";

/** What is known of the optimisations; of the list before, while another one is looked at. */
export const known = signal<KernelOpts | null>(null);
export const optsError = signal<ApiProblem | null>(null);
export const asking = signal(false);
/** Those that are on. */
const applied = computed<readonly string[]>(() => {
  const { opts } = choices.value;
  return opts === null ? (known.value?.chosen ?? []) : partsOf(opts);
});

/** Those that the reader has taken out, in the order of the list; of this kernel and target. null: the
 * compiler's that are not on, as after following a link. */
const off = signal<readonly TakenOut[] | null>(null);
const taken = computed(() => {
  if (off.value !== null) return off.value;
  const all = (known.value?.chosen ?? []).map((opt, before) => ({ opt, before }));
  return all.filter(({ opt }) => !applied.value.includes(opt));
});

/** The list: those that are on, in order, and those that are off where they were. */
export const optRows = computed<readonly OptRow[]>(() =>
  rowsOf(applied.value, taken.value, known.value?.opts ?? []),
);

export const isReset = computed(() => workbenchLink.value.opts === null && !taken.value.length);

export function toggleOpt(index: number): void {
  const rows = optRows.peek().map((row, i) => (i === index ? { ...row, on: !row.on } : row));
  keep(rows);
}

export function addOpt(opt: string): void {
  keep([...optRows.peek(), { opt, on: true, why: "", at: -1 }]);
}

export function resetOpts(): void {
  off.value = null;
  goWorkbench({ opts: null });
}

/** Puts others in place of all. */
export function replaceOpts(opts: string): void {
  keep(partsOf(opts).map((opt) => ({ opt, on: true, why: "", at: -1 })));
}

function keep(rows: readonly OptRow[]): void {
  off.value = rows.flatMap(({ opt, on }, before) => (on ? [] : [{ opt, before }]));
  const opts = rows.filter((row) => row.on).map((row) => row.opt);
  const same = opts.join(" ") === known.peek()?.chosen.join(" ");
  goWorkbench({ opts: same ? null : opts.join(" ") });
}

/** Asks for the optimisations whenever they may be others, while the page is open. */
export function startOpts(): void {
  let mine: AbortController | null = null;
  const about = computed(() => {
    const context = kernel.value?.context;
    const target = benchTarget.value;
    if (!isOpen.value || context === undefined || !compilable.value.includes(target)) return "";
    if (!compilesFor(target)) return "";
    return JSON.stringify([runKey.value, context, target]);
  });
  effect(() => {
    void about.value;
    known.value = null;
    optsError.value = null;
    off.value = null;
  });
  let before: { of: string; opts: string | null } | null = null;
  effect(() => {
    const context = currentKernel.value?.id;
    const { opts } = workbenchLink.value;
    if (context === undefined) return;
    const of = `${runKey.value} ${context}`;
    // Optimisations name loops of one kernel: going to another leaves them behind; Back brings them back.
    const carried = before !== null && before.of !== of && opts !== null && opts === before.opts;
    before = { of, opts: carried ? null : opts };
    if (carried) untracked(() => goWorkbench({ opts: null }));
  });
  const asked = computed(() => questionOf(about.value, choices.value.opts));
  effect(() => {
    void asked.value;
    mine?.abort();
    asking.value = false;
    const { server } = data();
    if (!about.value || !server) return;
    const now = (mine = new AbortController());
    const [context, target] = [kernel.peek()!.context, benchTarget.peek()];
    const { opts } = choices.peek();
    asking.value = true;
    const start = (): Promise<number> => server.kernelOpts(context, target, opts);
    follow<KernelOpts>(server, start, () => undefined, now.signal)
      .then((found) => {
        if (now.signal.aborted) return;
        known.value = found;
        optsError.value = null;
      })
      .catch((thrown: unknown) => {
        if (!isAbort(thrown) && !now.signal.aborted)
          optsError.value = asProblem(thrown, `kernel ${context}`);
      })
      .finally(() => {
        if (!now.signal.aborted) asking.value = false;
      });
  });
}
