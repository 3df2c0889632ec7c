/**
 * What a panel is to the page: a declared object that says where it stands, what fills it, which
 * commands it brings and what it adds to a link. shell/panels.ts lists all of them.
 */
import type { ComponentType } from "preact";
import type { Action } from "../data/messages/bundle";
import type { AnyLinkPart, LinkChange } from "../state/link/part";
import type { Page } from "../state/link/view";
import type { Command } from "./command";
import type { Notice } from "./notice";

interface Declared {
  /** Unique. */
  id: string;
  /** What the reader calls it. */
  title: string;
  component: ComponentType;
  /** The action of the run that it is for: without it, the panel and its commands are not there. */
  needs?: Action;
  /** For keys and palette, while the page of the panel is open. */
  commands?: readonly Command[];
  /** For the palette alone: commands that there are only in this run, such as one for each target, and
   * those about what the query names. */
  moreCommands?: (query: string) => readonly Command[];
  /** What it may have to say in the notice line, on every page. */
  notices?: readonly Notice[];
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
  /** It needs no rows of the run: these are asked for once it is shown. */
  withoutRows?: true;
  /** Whether it has anything to show in this page; always if absent. Else it has no tab, no command leads
   * to it, and a link to it shows its kernel's page. */
  isOffered?: () => boolean;
  /** Of a page that needs no rows: whether it shows what it is for. Follows signals. */
  isShown?: () => boolean;
  /** Called when one comes to it from another page: what was picked on it of another subject than
   * the one that is looked at gives way. */
  enter?: () => readonly LinkChange[];
}

/**
 * Part of the line under the top bar, on every page: "subject" at its left end says what is looked at,
 * "act" at its right end holds what can be done to that.
 */
export interface SubjectPanel extends Declared {
  place: "subject" | "act";
}

/** A dialog over the page, open while `overlay` has its id. */
export interface SheetPanel extends Declared {
  place: "sheet";
}

/** Stands around the graphs, in one of the fixed places of that page. */
export interface FramePanel extends Declared {
  place: "left" | "centre" | "strip" | "right" | "foot";
}

/** The line at the bottom of every page. */
export interface StatusPanel extends Declared {
  place: "status";
}

export type Panel = PagePanel | FramePanel | SubjectPanel | SheetPanel | StatusPanel;
/** Places that always show the same panels. */
export type FixedPlace = (FramePanel | SubjectPanel | StatusPanel)["place"];

/** Places around the graphs; the others are there on every page. */
const AROUND: readonly Panel["place"][] = ["left", "centre", "strip", "right", "foot"];

/** The page on which the panel can be seen; null: on all. */
export function pageOf(panel: Panel): Page | null {
  if (panel.place === "page") return panel.page;
  return AROUND.includes(panel.place) ? "graphs" : null;
}
