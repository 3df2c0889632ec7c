/** Commands of the page itself. */
import { copyText } from "../ui/Text";
import { announce, cancelLoading, select, setPage } from "../state/actions";
import { flushAddress } from "../state/link/address";
import { letterKeys, sizes } from "../state/prefs";
import { focusRegion } from "../state/regions";
import { saveExport } from "../state/save";
import { currentKernel, loading, overlay, sidePanel, view } from "../state/state";
import { toggleTheme } from "../state/theme";
import { escapePanels, pages } from "./panels";
import { type Command, live } from "../parts/command";

export const pageCommands: readonly Command[] = [
  ...pages.map(({ page, title, key }): Command => ({
    id: page,
    title,
    group: "Page",
    keys: [key],
    run: () => setPage(page),
  })),
  {
    id: "palette",
    title: "Search or run a command",
    group: "Page",
    keys: ["Ctrl K"],
    run: () => (overlay.value = "palette"),
  },
  { id: "search", title: "Search the run", group: "Page", keys: ["/"], run: () => focusSearch() },
  {
    id: "keys",
    title: "All keys",
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
    title: "Copy a link to this step",
    group: "Page",
    keys: ["Y"],
    run: () => {
      flushAddress();
      void copyText(location.href, "The link");
    },
  },
  {
    id: "export",
    title: "Export the whole run as one file",
    group: "Page",
    keys: ["E"],
    when: live,
    run: () => void saveExport([]),
  },
  {
    id: "export-redacted",
    title: "Export the whole run without names of folders, sources and the command",
    group: "Page",
    keys: [],
    when: live,
    run: () => void saveExport([], true),
  },
  {
    id: "export-kernel",
    title: "Export this kernel as one file",
    group: "Page",
    keys: [],
    when: () => live() && currentKernel.value !== null,
    run: () => void saveExport([currentKernel.peek()!.id]),
  },
  { id: "theme", title: "Light or dark", group: "Page", keys: [], run: toggleTheme },
  {
    id: "letters",
    title: "Single-letter keys on or off",
    group: "Page",
    keys: [],
    run: () => {
      letterKeys.value = !letterKeys.peek();
      announce(`Single-letter keys are ${letterKeys.peek() ? "on" : "off"}`);
    },
  },
  {
    id: "sizes",
    title: "Reset the panel sizes",
    group: "Page",
    keys: [],
    run: () => (sizes.value = { nav: null, insp: null, scrub: null, drawer: null }),
  },
  {
    id: "region",
    title: "Next region of the page",
    group: "Page",
    keys: ["F6"],
    run: () => focusRegion(1),
  },
  {
    id: "region-back",
    title: "Previous region of the page",
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

/** Forward comes back to the step that was left, not to the one before it. */
function back(): void {
  flushAddress();
  history.back();
}

/** Esc undoes the innermost thing that is open or running. */
function escape(): void {
  if (overlay.peek()) overlay.value = null;
  else if (sidePanel.peek()) sidePanel.value = null;
  else if (loading.peek()) cancelLoading();
  else if (escapePanels()) return;
  else if (view.peek().slot !== null) select(null);
}

function focusSearch(): void {
  const focus = (): void => {
    const input = document.querySelector<HTMLInputElement>("#search");
    input?.focus();
    input?.select();
  };
  if (matchMedia("(max-width: 1079px)").matches) {
    sidePanel.value = "nav";
    requestAnimationFrame(focus);
  } else focus(); // at once: what is typed next belongs to the search
}
