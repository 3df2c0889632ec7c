/** Every panel of the page, in reading order: the one place where a new one is added. */
import { effect, untracked } from "@preact/signals";
import { centrePanel, legendPanel } from "../panels/centre/panel";
import { checkPanel } from "../panels/check/panel";
import { comparePanel } from "../panels/compare/panel";
import { emulatorPanel } from "../panels/emulator/panel";
import { fleetPanel } from "../panels/fleet/panel";
import { inspectorPanel } from "../panels/inspector/panel";
import { ownPanel } from "../panels/own/panel";
import { overviewPanel } from "../panels/overview/panel";
import { navigatorPanel } from "../panels/navigator/panel";
import { problemsPanel } from "../panels/problems/panel";
import { rulesPanel } from "../panels/rules/panel";
import { runPanel } from "../panels/run/panel";
import { scrubberPanel } from "../panels/scrubber/panel";
import { sourcesPanel } from "../panels/sources/panel";
import { statusPanel } from "../panels/status/panel";
import { subjectPanel } from "../panels/subject/panel";
import { timelinePanel } from "../panels/timeline/panel";
import { workbenchPanel } from "../panels/workbench/panel";
import {
  pageOf,
  type FixedPlace,
  type PagePanel,
  type Panel,
  type SheetPanel,
} from "../parts/panel";
import { VIEW_KEYS, type Key } from "../parts/keyTable";
import { go } from "../state/actions";
import { PAGES, type Page } from "../state/link/view";
import { can, view } from "../state/state";

export const panels: readonly Panel[] = [
  subjectPanel,
  checkPanel,
  ownPanel,
  runPanel,
  overviewPanel,
  navigatorPanel,
  centrePanel,
  legendPanel,
  scrubberPanel,
  sourcesPanel,
  emulatorPanel,
  problemsPanel,
  inspectorPanel,
  workbenchPanel,
  timelinePanel,
  rulesPanel,
  comparePanel,
  fleetPanel,
  statusPanel,
];

/** The dialogs that panels bring. */
export const sheetPanels: readonly SheetPanel[] = panels.filter((p) => p.place === "sheet");

/** What the notice line may say. */
export const notices = panels.flatMap((p) => p.notices ?? []);

/** The panels in a fixed place. */
export const panelsIn = (place: FixedPlace): readonly Panel[] =>
  panels.filter((p) => p.place === place && isThere(p));

/** Whether a panel has anything to do with the run. */
export const isThere = (panel: Panel): boolean => can(panel.needs);

/** What fills a page; the graphs are a frame of several panels. */
export const pagePanel = (page: Page): PagePanel | undefined =>
  panels.find((p): p is PagePanel => p.place === "page" && p.page === page);

/** The pages as the top bar lists them; the digit is the key that opens one, where it has one. */
export const pages: readonly { page: Page; title: string; key: Key | undefined }[] = PAGES.map(
  (page, i) => ({
    page,
    title: pagePanel(page)?.title ?? "Graphs",
    key: VIEW_KEYS[i],
  }),
);

/** Whether a page has a tab; one that there is nothing for has none. */
export function isOffered(page: Page): boolean {
  const panel = pagePanel(page);
  return !panel || (isThere(panel) && (panel.isOffered?.() ?? true));
}

/** What a link holds besides the view. */
export const linkParts = panels.flatMap((p) => p.link ?? []);

export function startPanels(): void {
  for (const panel of panels) panel.start?.();
  effect(() => {
    if (!isOffered(view.value.page)) untracked(() => go({ page: "overview" }, "replace"));
  });
}

/** Puts the focus into the search field of a page; false where it has none. */
export function focusSearch(page: Page): boolean {
  const panel = panels.find((p) => pageOf(p) === page && p.focusSearch);
  panel?.focusSearch?.();
  return panel !== undefined;
}

/** Esc, for the panels: ends or clears one thing; false if there was nothing. */
export const escapePanels = (): boolean => panels.some((p) => p.escape?.() ?? false);
