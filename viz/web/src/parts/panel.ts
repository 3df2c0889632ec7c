/**
 * What a panel is to the page: a declared object that says where it stands, what fills it, which
 * commands it brings and what it adds to a link. shell/panels.ts lists all of them.
 */
import type { ComponentType } from "preact";
import type { DrawerTab } from "../state/drawer";
import type { AnyLinkPart } from "../state/link/part";
import type { Page } from "../state/link/view";
import type { Command } from "./command";

interface Declared {
  /** Unique. */
  id: string;
  /** What the reader calls it. */
  title: string;
  component: ComponentType;
  /** For keys and palette, while the page of the panel is open. */
  commands?: readonly Command[];
  /** For the palette alone: commands that there are only in this run, such as one for each target, and
   * those about what the query names. */
  moreCommands?: (query: string) => readonly Command[];
  /** Its part of a link. */
  link?: AnyLinkPart;
  /** Follows the state from now on; called once, before the page is drawn. */
  start?: () => void;
  /** `/`: puts the focus into the search field of its page. */
  focusSearch?: () => void;
  /** Esc: ends what runs in it, or clears its selection; false if there was nothing. */
  escape?: () => boolean;
}

/** A page of its own below the top bar. */
export interface PagePanel extends Declared {
  place: "page";
  page: Page;
  /** It does not show a pass: none is opened for it. */
  withoutPass?: true;
  /** Of a page that needs no rows: whether it shows what it is for. Follows signals. */
  isShown?: () => boolean;
}

/** A tab of the drawer below the graphs. */
export interface DrawerPanel extends Declared {
  place: "drawer";
  tab: DrawerTab;
  /** How many things wait in it. */
  badge?: () => number;
  /** What it puts into the drawer's head, also while another tab is open. */
  tools?: ComponentType<{ open: boolean }>;
}

/** Stands around the graphs, in one of the fixed places of that page. */
export interface FramePanel extends Declared {
  place: "left" | "head" | "centre" | "strip" | "right";
}

/** The line at the bottom of every page. */
export interface StatusPanel extends Declared {
  place: "status";
}

export type Panel = PagePanel | DrawerPanel | FramePanel | StatusPanel;
/** Places that always show the same panels. */
export type FixedPlace = (FramePanel | StatusPanel)["place"];

/** The page on which the panel can be seen; null: on all. */
export function pageOf(panel: Panel): Page | null {
  if (panel.place === "page") return panel.page;
  return panel.place === "status" ? null : "graphs";
}
