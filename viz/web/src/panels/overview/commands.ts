/** Commands of the overview, and of the page of a kernel. */
import { canRun, runKernel } from "../../parts/run/RunBox";
import type { Command } from "../../parts/command";
import { announce, openContext, openKernel, setPage } from "../../state/actions";
import { currentKernel, kernelPage, rows } from "../../state/state";
import { nextOrder } from "../../ui/SortHead";
import { list, overviewLink } from "./link";
import { columns, isStale, kernels, sortAnew } from "./store";

const listed = (): boolean => kernelPage.value === null && kernels.value.length > 1;
const onKernel = (): boolean => currentKernel.value !== null && kernelPage.value !== null;

export const overviewCommands: readonly Command[] = [
  {
    id: "ov-sort",
    title: "Sort the kernels by the next column",
    group: "Overview",
    keys: ["O"],
    when: listed,
    run: () => sortBy(1),
  },
  {
    id: "ov-sort-back",
    title: "Sort the kernels by the previous column",
    group: "Overview",
    keys: ["Shift O"],
    when: listed,
    run: () => sortBy(-1),
  },
  {
    id: "ov-sort-anew",
    title: "Sort the kernels again",
    group: "Overview",
    keys: [],
    when: () => listed() && isStale.value,
    run: sortAnew,
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
    id: "ov-kernel",
    title: "Open the next kernel",
    group: "Overview",
    keys: ["}"],
    when: () => rows.value.length > 0,
    run: () => nextPage(1),
  },
  {
    id: "ov-kernel-back",
    title: "Open the previous kernel",
    group: "Overview",
    keys: ["{"],
    when: () => rows.value.length > 0,
    run: () => nextPage(-1),
  },
  {
    id: "ov-graphs",
    title: "Passes of this kernel in the graphs",
    group: "Overview",
    keys: ["G"],
    when: onKernel,
    run: () => {
      if (!openContext(currentKernel.peek()!.row)) announce("This kernel has no passes");
    },
  },
  {
    id: "ov-run",
    title: "Run the kernel of this page",
    group: "Overview",
    keys: ["R"],
    when: () => onKernel() && canRun(),
    run: runKernel,
  },
  {
    id: "ov-up",
    title: "Back to the overview",
    group: "Overview",
    keys: ["U"],
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

/** In the order of the run. */
export function nextPage(direction: 1 | -1): void {
  const all = rows.peek().filter((r) => r.label === "kernel" && !r.target);
  const at = all.findIndex((r) => r.id === kernelPage.peek());
  const next = at < 0 ? (direction > 0 ? all[0] : all.at(-1)) : all[at + direction];
  if (next) openKernel(next.id);
  else announce(direction > 0 ? "This is the last kernel" : "This is the first kernel");
}
