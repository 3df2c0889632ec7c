/** Commands of the page itself. */
import { announce, cancelLoading, select, setPage } from "../state/actions";
import { flushAddress } from "../state/link/address";
import { short } from "../state/format";
import { letterKeys, sizes } from "../state/prefs";
import { focusRegion } from "../state/regions";
import { cancelExport, capturedWords, exporting, saveAllRuns, saveExport } from "../state/save";
import {
  currentKernel,
  loading,
  openRuns,
  overlay,
  runName,
  severalRuns,
  sidePanel,
  view,
} from "../state/state";
import { toggleTheme } from "../state/theme";
import { escapePanels, focusSearch, isOffered, pages } from "./panels";
import { type Command, live } from "../parts/command";
import { canClose, closeRun, showNextRun, showRun } from "../parts/traces/runs";
import { copyLink } from "../parts/traces/copyLink";

export const pageCommands: readonly Command[] = [
  ...pages.map(({ page, title, key }): Command => ({
    id: page,
    title,
    group: "Page",
    keys: key ? [key] : [],
    when: () => isOffered(page),
    run: () => setPage(page),
  })),
  {
    id: "palette",
    title: "Search or run a command",
    group: "Page",
    keys: ["Ctrl K"],
    run: () => (overlay.value = "palette"),
  },
  { id: "search", title: "Search this page", group: "Page", keys: ["/"], run: search },
  {
    id: "keys",
    title: "Keyboard shortcuts",
    words: "help keys bindings",
    group: "Page",
    keys: ["?"],
    run: () => (overlay.value = "keys"),
  },
  { id: "back", title: "Back", group: "Page", keys: ["Alt ArrowLeft"], run: back },
  {
    id: "forward",
    title: "Forward",
    group: "Page",
    keys: ["Alt ArrowRight"],
    run: () => history.forward(),
  },
  {
    id: "link",
    title: "Copy a link to this view",
    words: "share url address",
    group: "Page",
    keys: [],
    run: () => void copyLink(),
  },
  {
    id: "next-run",
    title: "Show the next open run",
    words: "compare other trace switch",
    group: "Page",
    keys: [],
    when: () => severalRuns.value,
    run: showNextRun,
  },
  {
    id: "export",
    title: "Export the whole run as one HTML file",
    words: "share save download bug report",
    group: "Page",
    keys: [],
    when: live,
    run: () => void saveExport(),
  },
  {
    id: "export-passes",
    title: "Export the whole run, with the passes of its usual targets",
    group: "Page",
    keys: [],
    when: live,
    run: () => void saveExport({ passes: true }),
  },
  {
    id: "export-runs",
    title: "Export all open runs as one HTML file, with their comparison",
    group: "Page",
    keys: [],
    when: () => live() && severalRuns.value,
    run: () => void saveAllRuns(),
  },
  {
    id: "export-redacted",
    title: "Export the whole run, redacted: no folders, sources or command",
    words: "share anonymous private",
    group: "Page",
    keys: [],
    when: live,
    run: () => void saveExport({ redact: true }),
  },
  {
    id: "export-kernel",
    title: "Export this kernel as one HTML file",
    group: "Page",
    keys: [],
    when: () => live() && currentKernel.value !== null,
    run: () => void saveExport({ kernels: [currentKernel.peek()!.id] }),
  },
  {
    id: "export-cancel",
    title: "Cancel the export",
    group: "Page",
    keys: [],
    when: () => exporting.value !== null,
    run: cancelExport,
  },
  {
    id: "theme",
    title: "Switch between light and dark",
    words: "theme dark mode colours appearance",
    group: "Page",
    keys: [],
    run: toggleTheme,
  },
  {
    id: "letters",
    title: "Turn single-letter keys on or off",
    words: "settings preferences shortcuts",
    group: "Page",
    keys: [],
    run: () => {
      letterKeys.value = !letterKeys.peek();
      announce(`Single-letter keys are ${letterKeys.peek() ? "on" : "off"}`);
    },
  },
  {
    id: "sizes",
    title: "Reset panel sizes",
    words: "settings layout width",
    group: "Page",
    keys: [],
    run: () => (sizes.value = { nav: null, insp: null, scrub: null, foot: null }),
  },
  {
    id: "region",
    title: "Move to the next region",
    words: "focus panel",
    group: "Page",
    keys: ["F6"],
    run: () => focusRegion(1),
  },
  {
    id: "region-back",
    title: "Move to the previous region",
    group: "Page",
    keys: ["Shift F6"],
    run: () => focusRegion(-1),
  },
  {
    id: "escape",
    title: "Close, cancel, or clear the selection",
    group: "Page",
    keys: ["Escape"],
    run: escape,
  },
];

const command = (id: string, title: string, run: () => void): Command => ({
  ...{ id, title, group: "Page", keys: [], run },
});

/** What depends on the runs: the export with what was captured, and the runs to show and close. */
export function runCommands(): readonly Command[] {
  return [...valuesCommand(), ...(severalRuns.value ? switchCommands() : [])];
}

function valuesCommand(): readonly Command[] {
  if (!live() || !capturedWords.value) return [];
  const title = `Export the whole run with ${capturedWords.value}`;
  return [command("export-values", title, () => void saveExport({ values: true }))];
}

function switchCommands(): readonly Command[] {
  return openRuns.value.flatMap((one) => [
    ...(one.name === runName.value
      ? []
      : [
          command(`run-${one.name}`, `Show run ${one.name}, ${short(one.title, 60)}`, () =>
            showRun(one.name),
          ),
        ]),
    ...(canClose(one)
      ? [
          command(
            `run-close-${one.name}`,
            `Close run ${one.name}, ${short(one.title, 60)}`,
            () => void closeRun(one.name),
          ),
        ]
      : []),
  ]);
}

/** Forward comes back to the step that was left, not to the one before it. */
function back(): void {
  flushAddress();
  history.back();
}

/** The field of the page that is open; a page without one is searched from the palette. */
function search(): void {
  if (!focusSearch(view.peek().page)) overlay.value = "palette";
}

/** Esc undoes the innermost thing that is open or running. */
function escape(): void {
  if (overlay.peek()) overlay.value = null;
  else if (sidePanel.peek()) sidePanel.value = null;
  else if (loading.peek()) cancelLoading();
  else if (escapePanels()) return;
  else if (exporting.peek() !== null) cancelExport();
  else if (view.peek().slot !== null) select(null);
}
