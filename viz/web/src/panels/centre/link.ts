/** How the graphs are shown, as the centre's part of a link. */
import { computed } from "@preact/signals";
import { hasTexts } from "../../parts/passtext/store";
import { go } from "../../state/actions";
import { LinkPart } from "../../state/link/part";

/** "text": the graphs, a line per node; "own": the compiler's own text of the program. */
export type Mode = "side" | "merged" | "text" | "own";

export const graphLink = new LinkPart<{ mode: Mode; scope: "change" | "all" }>({
  first: { mode: "side", scope: "change" },
  read: (q) => ({
    mode: q.oneOf("m", ["side", "merged", "text", "own"]),
    scope: q.oneOf("g", ["change", "all"]),
  }),
  write({ mode, scope }, put) {
    put("m", mode !== "side" && mode);
    put("g", scope !== "change" && scope);
  },
});

/** How they are shown: side by side where there is no text of the compiler's own. */
export const shownMode = computed<Mode>(() => {
  const { mode } = graphLink.value;
  return mode === "own" && !hasTexts.value ? "side" : mode;
});

/** What this pass can be shown as, in order. */
export const modes = computed<readonly Mode[]>(() => [
  "side",
  "merged",
  "text",
  ...(hasTexts.value ? (["own"] as const) : []),
]);

/** Shows the graphs that way, or side by side where they are shown that way already. */
export function setMode(mode: Mode): void {
  go({}, "auto", graphLink.with({ mode: shownMode.peek() === mode ? "side" : mode }));
}

/** The next one of `modes`, and from the start. */
export function nextMode(): void {
  const all = modes.peek();
  const at = all.indexOf(shownMode.peek());
  go({}, "auto", graphLink.with({ mode: all[(at + 1) % all.length]! }));
}

export function setScope(scope: "change" | "all"): void {
  go({}, "auto", graphLink.with({ scope }));
}
