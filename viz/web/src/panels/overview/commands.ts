/** Commands of the overview, and of the page of a kernel. */
import type { Command } from "../../parts/command";
import { canEdit, editSource } from "../../parts/run/edits";
import { announce, openContext, setPage } from "../../state/actions";
import { currentKernel, kernelPage } from "../../state/state";
import { nextOrder } from "../../ui/SortHead";
import { list, overviewLink } from "./data/link";
import { columns, kernels } from "./data/store";
import { canReplayHere } from "../../parts/run/everyKernel";
import { replayAll } from "./table/Replay";

const listed = (): boolean => kernelPage.value === null && kernels.value.length > 1;
const onKernel = (): boolean => currentKernel.value !== null && kernelPage.value !== null;

export const overviewCommands: readonly Command[] = [
  {
    id: "ov-sort",
    title: "Sort the kernels by the next column",
    group: "Overview",
    keys: [],
    when: listed,
    run: () => sortBy(1),
  },
  {
    id: "ov-sort-back",
    title: "Sort the kernels by the previous column",
    group: "Overview",
    keys: [],
    when: listed,
    run: () => sortBy(-1),
  },
  {
    id: "ov-all",
    title: "All kernels, or the first 12",
    group: "Overview",
    keys: ["A"],
    when: listed,
    run: () => list({ all: !overviewLink.peek().all }),
  },
  {
    id: "ov-replay",
    needs: "run",
    title: "Run all kernels on the GPU of this browser",
    words: "webgpu replay",
    group: "Overview",
    keys: [],
    when: () => canReplayHere.value && kernels.value.length > 0,
    run: () => {
      setPage("overview");
      replayAll();
    },
  },
  {
    id: "ov-graphs",
    title: "Passes of this kernel in the graphs",
    group: "Overview",
    keys: [],
    when: onKernel,
    run: () => {
      if (!openContext(currentKernel.peek()!.row)) announce("This kernel has no passes");
    },
  },
  {
    id: "ov-edit",
    needs: "run",
    title: "Edit a source of this kernel and run it",
    group: "Overview",
    keys: ["E"],
    when: () => onKernel() && canEdit(),
    run: editSource,
  },
  {
    id: "ov-up",
    title: "Back to the overview",
    group: "Overview",
    keys: [],
    when: () => kernelPage.value !== null,
    run: () => setPage("overview"),
  },
];

function sortBy(direction: 1 | -1): void {
  const all = columns.peek();
  const now = overviewLink.peek().order.replace(/^-/, "") || "time";
  const at = all.findIndex((c) => c.key === now);
  const next = all[(at + direction + all.length) % all.length]!;
  list({ order: nextOrder("", next.key, next.right === true) });
}
