/**
 * Asks for what a page needs first before anybody wants it, all at once: its parts ask one after the
 * other, each for what follows from the answer before. Never keeps an answer.
 */
import type { Ask } from "../backend";

/** ms after which what has not been asked for is dropped: it may be stale by then. */
export const FORGOTTEN_MS = 2000;

/** `ask`, with `paths` asked now; who asks for one of them first gets that answer. */
export function askAhead(ask: Ask, paths: readonly string[]): Ask {
  const early = new Map(paths.map((path) => [path, ask(path)]));
  for (const answer of early.values()) answer.catch(() => undefined); // who asks is told
  setTimeout(() => early.clear(), FORGOTTEN_MS);
  return (path, signal) => {
    const answer = early.get(path);
    early.delete(path);
    return answer ?? ask(path, signal);
  };
}
