/**
 * What a line under the subject line may say: a declared list, of which the one that matters most is
 * shown, with what can be done about it, and the others can be walked to ("1 of 2"). Whatever has
 * something to say declares a notice in its panel; nothing else writes into the line.
 */
import type { ComponentChildren } from "preact";

/** The order in which notices matter. */
export const ORDER = ["lost", "again", "problem", "rule", "whatif", "finished"] as const;

export interface NoticeAction {
  title: string;
  /** Says more, such as the key. */
  hint?: string;
  disabled?: boolean;
  run: () => void;
}

/** What a notice says now. */
export interface Said {
  text: ComponentChildren;
  /** One sentence, as a title and for those who listen. */
  words: string;
  actions: readonly NoticeAction[];
  /** Takes it away until there is something new to say; not every notice can be. */
  close?: () => void;
}

export interface Notice {
  id: string;
  order: (typeof ORDER)[number];
  /** What it says; null: nothing now. Follows signals. */
  say: () => Said | null;
}

/** A notice that has something to say. */
export interface Shown extends Said {
  id: string;
  order: Notice["order"];
}

/** Those that have something to say, what matters most first. */
export function shownOf(all: readonly Notice[]): readonly Shown[] {
  const said = all.flatMap(({ id, order, say }) => {
    const now = say();
    return now ? [{ id, order, ...now }] : [];
  });
  return said.sort((a, b) => ORDER.indexOf(a.order) - ORDER.indexOf(b.order));
}
