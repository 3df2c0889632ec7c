/**
 * Every key of the page, and its one meaning everywhere. A command has keys of this table alone; what it
 * does under a key is what the key means, in the words of its view. Tab, F6, Alt with arrows, and Home
 * and End in lists stay the browser's.
 */

/** In the order of the key sheet. */
export const SECTIONS = ["Move", "Look", "Act", "Page"] as const;

/** The keys of the views, in the order of the tabs; later ones have none. */
export const VIEW_KEYS = ["1", "2", "3", "4", "5", "6", "7"] as const;

/** By the names of presses, as `keyName` in shell/keys.ts gives them. Keys of one row belong together. */
export const KEY_ROWS = [
  { section: "Move", keys: ["ArrowLeft", "ArrowRight"], means: "Previous, next item: step, instruction, row, span" },
  { section: "Move", keys: ["[", "]"], means: "Previous, next pass" },
  { section: "Move", keys: ["{", "}"], means: "Previous, next kernel" },
  { section: "Move", keys: ["N", "Shift N"], means: "Next, previous match" },
  { section: "Move", keys: ["D", "Shift D"], means: "Next, previous difference" },
  { section: "Move", keys: ["H", "J", "K", "L"], means: "Walk the graph: left, down, up, right" },
  { section: "Move", keys: ["Enter"], means: "Open, unfold" },
  { section: "Move", keys: [" "], means: "On to the next mark or stop" },
  { section: "Look", keys: ["A"], means: "All, or only what matters" },
  { section: "Look", keys: ["M"], means: "Layout: side by side, merged, text" },
  { section: "Look", keys: ["0"], means: "Fit the change, then all" },
  { section: "Look", keys: ["S"], means: "Sources small or large" },
  { section: "Look", keys: ["F"], means: "Only this rule or node; again: all" },
  { section: "Look", keys: ["P"], means: "Pin" },
  { section: "Look", keys: ["B"], means: "Mark this step, line or time" },
  { section: "Act", keys: ["."], means: "Actions on what is selected" },
  { section: "Act", keys: ["C"], means: "Check" },
  { section: "Act", keys: ["R"], means: "Run the kernel" },
  { section: "Act", keys: ["W"], means: "Why not another rule" },
  { section: "Act", keys: ["E"], means: "Edit the source" },
  { section: "Act", keys: ["Ctrl Enter"], means: "Do what is prepared" },
  { section: "Page", keys: ["Ctrl K"], means: "Search or run a command" },
  { section: "Page", keys: ["/"], means: "Find in this view" },
  { section: "Page", keys: ["?"], means: "This sheet" },
  { section: "Page", keys: ["Escape"], means: "Close, cancel, clear" },
  { section: "Page", keys: VIEW_KEYS, means: "The views, in the order of the tabs" },
] as const;

export type KeyRow = (typeof KEY_ROWS)[number];
export type Key = KeyRow["keys"][number];

/** What a browser does with these keys, the page does for it, where it knows better how. */
export const BROWSER_KEYS = ["F6", "Shift F6", "Alt ArrowLeft", "Alt ArrowRight"] as const;
export type BrowserKey = (typeof BROWSER_KEYS)[number];
