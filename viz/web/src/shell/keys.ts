/** From a key press to a command. Letters act only outside text fields, and can be turned off. */
import { enabled, isOn, type Command } from "../parts/command";
import { commands } from "./commands";
import { dropWaiting, giveOnceReady, isFilling } from "./give";
import { letterKeys } from "../state/prefs";
import { overlay, view } from "../state/state";
import type { Page } from "../state/link/view";

interface Press {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

/** "Shift N", "Ctrl K", "?": Shift counts for letters and named keys, not for signs. */
export function keyName(e: Press): string {
  const letter = /^[a-z]$/i.test(e.key);
  const named = e.key.length > 1;
  return [
    e.ctrlKey || e.metaKey ? "Ctrl" : "",
    e.altKey ? "Alt" : "",
    e.shiftKey && (letter || named) ? "Shift" : "",
    letter ? e.key.toUpperCase() : e.key,
  ]
    .filter(Boolean)
    .join(" ");
}

/** A key that types a sign by itself. */
const isLetterKey = (name: string): boolean =>
  (name.length === 1 && name !== " ") || (name.startsWith("Shift ") && name.length === 7);

export function commandFor(
  name: string,
  letters: boolean,
  page: Page = "graphs",
): Command | undefined {
  if (!letters && isLetterKey(name)) return undefined;
  return commands.find((c) => c.keys.some((key) => key === name) && isOn(c, page));
}

function typing(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.matches("input:not([type=checkbox]), textarea, select, .ed[data-editing]") ||
      target.isContentEditable)
  );
}

/** Arrow and Home keys belong to a focused source text, Enter and Space to a focused control. */
function ownsKey(target: EventTarget | null, name: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (name === "Enter") return target.matches("button, a, summary, [role=treeitem], .ed");
  if (name === " ") return target.matches("button, a, summary, input, [role=tree], .ed");
  if (/^(Arrow|Home|End|Page)/.test(name)) return target.matches(".ed, [role=separator]");
  return false;
}

export function onKeyDown(e: KeyboardEvent): void {
  const name = keyName(e);
  if (overlay.peek() === "keys" && name === "?") {
    overlay.value = null;
    return;
  }
  if (overlay.peek() && name !== "Escape" && name !== "Ctrl K") return;
  if (
    typing(e.target) &&
    !overlay.peek() &&
    !e.ctrlKey &&
    !e.metaKey &&
    name !== "F6" &&
    name !== "Shift F6"
  )
    return;
  if (ownsKey(e.target, name)) return;
  const command = commandFor(name, letterKeys.peek(), view.peek().page);
  if (!command) return;
  if (!enabled(command)) {
    if (isFilling()) giveOnceReady(command);
    return;
  }
  e.preventDefault();
  dropWaiting();
  command.run();
}

const SHOWN: Record<string, string> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: "Esc",
  Enter: "↵",
  Shift: "⇧",
};

/** The parts of a key as they stand on key caps. */
export const keyCaps = (name: string): string[] =>
  name === " " ? ["Space"] : name.split(" ").map((k) => SHOWN[k] ?? k);
