/** The keys that texts of the page name: in brackets at the end of a title, or as a key cap. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { PAGES, type Page } from "../src/state/link/view";

export interface Hint {
  file: string;
  key: string;
  /** The page on which the text is seen; null: on any. */
  page: Page | null;
}

const SRC = join(import.meta.dirname, "../src");
const KEY = "(?:(?:Ctrl|Shift|Alt) )?(?:[A-Z0-9.?/\\[\\]{}]|Esc|Enter|Space|F6|[←→↑↓])";
/** "Pin (P)", `Edit (${key})`; "press ]"; <kbd>B</kbd> and <kbd>{"}"}</kbd>. */
const PLACES = [
  new RegExp(`(?: |\\})\\((${KEY})\\)(?=[".$\x60])`, "g"),
  new RegExp(`[Pp]ress (${KEY})(?=[ ."\x60])`, "g"),
  new RegExp(`<kbd>(?:\\{")?(${KEY})(?:"\\})?</kbd>`, "g"),
];
const NAMES: Readonly<Record<string, string>> = {
  Esc: "Escape",
  Space: " ",
  "←": "ArrowLeft",
  "→": "ArrowRight",
  "↑": "ArrowUp",
  "↓": "ArrowDown",
};
/** Panels of the graphs; others are pages of their name, or on all pages. */
const AROUND = ["centre", "inspector", "navigator", "scrubber", "sources"];

function pageOf(file: string): Page | null {
  const [room, panel] = file.split("/");
  if (room !== "panels" || panel === undefined) return null;
  if (AROUND.includes(panel)) return "graphs";
  return PAGES.find((page) => page === panel) ?? null;
}

export function hints(): Hint[] {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => /\.tsx?$/.test(file))
    .flatMap((file) => {
      const text = readFileSync(join(SRC, file), "utf8");
      const keys = PLACES.flatMap((place) => [...text.matchAll(place)].map((found) => found[1]!));
      const page = pageOf(relative(SRC, join(SRC, file)));
      return keys.map((key) => ({ file, key: NAMES[key] ?? key, page }));
    });
}
