/** Commands that turn to another kernel, on every page that shows one run. */
import type { Command } from "../../parts/command";
import { nextKernel, openKernel } from "../../state/actions";
import { isOfPair, PAGES } from "../../state/link/view";
import { currentKernel, rows } from "../../state/state";

const pages = PAGES.filter((page) => !isOfPair(page));
const when = (): boolean => rows.value.length > 0;

export const subjectCommands: readonly Command[] = [
  {
    id: "kernel",
    title: "Next kernel",
    group: "Steps",
    keys: ["}"],
    pages,
    when,
    run: () => nextKernel(1),
  },
  {
    id: "kernel-back",
    title: "Previous kernel",
    group: "Steps",
    keys: ["{"],
    pages,
    when,
    run: () => nextKernel(-1),
  },
  {
    id: "kernel-page",
    title: "Page of this kernel",
    words: "times sources launches overview",
    group: "Steps",
    keys: [],
    pages,
    when: () => currentKernel.value !== null,
    run: () => openKernel(currentKernel.peek()!.id),
  },
];
