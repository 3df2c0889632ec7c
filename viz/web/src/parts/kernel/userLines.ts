/** The user's lines of the kernel that is shown: fetched while its sources are. */
import { computed, effect, signal } from "@preact/signals";
import { data } from "../../state/actions";
import { drawerTab, isDrawerOpen } from "../../state/drawer";
import { currentKernel, rows, runKey, view } from "../../state/state";
import { Watched } from "../../state/watched";
import { isAbort } from "../../data/backend";
import type { Bundle } from "../../data/messages/bundle";
import type { UserFile } from "../../data/messages/run";
import { userText } from "./userText";

const wanted = (): boolean =>
  currentKernel.value !== null && isDrawerOpen.value && drawerTab.value === "source";

const files = new Watched<UserFile[]>("api/user-lines", wanted, (signal) =>
  data().userLines(signal),
);

/** The first pass of the kernel: its input is the AST, whose nodes name the user's lines. */
const firstPass = computed<number | null>(() => {
  const kernel = currentKernel.value;
  if (!kernel) return null;
  return rows.value.find((r) => r.kind === "rewrite" && r.parent === kernel.row)?.id ?? null;
});

const ast = signal<Bundle | null>(null);

/** The lines as a source; null while they are not here, or where the trace has none. */
export const userSource = computed(() => {
  const found = files.answer.value;
  const first = ast.value;
  return found?.length && first?.rewrite === firstPass.value && currentKernel.value
    ? userText(found, first)
    : null;
});

export function startUserLines(): void {
  files.start();
  let fetching: AbortController | null = null;
  const needed = computed(() =>
    wanted() && files.answer.value?.length && view.value.page === "graphs" ? firstPass.value : null,
  );
  effect(() => {
    const pass = needed.value;
    void runKey.value;
    fetching?.abort();
    if (pass === null || ast.peek()?.rewrite === pass) return;
    const mine = (fetching = new AbortController());
    data()
      .bundle(pass, mine.signal)
      .then(
        (found) => {
          if (!mine.signal.aborted) ast.value = found;
        },
        (thrown: unknown) => {
          // Without them the column is missing, and the pass itself says what is wrong.
          if (!isAbort(thrown)) ast.value = null;
        },
      );
  });
  effect(() => {
    void runKey.value;
    ast.value = null;
  });
}
