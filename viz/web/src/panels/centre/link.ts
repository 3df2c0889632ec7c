/** How the graphs are shown, as the centre's part of a link. */
import { go } from "../../state/actions";
import { LinkPart } from "../../state/link/part";

export type Mode = "side" | "merged" | "text";

export const graphLink = new LinkPart<{ mode: Mode; scope: "change" | "all" }>({
  first: { mode: "side", scope: "change" },
  read: (q) => ({
    mode: q.oneOf("m", ["side", "merged", "text"]),
    scope: q.oneOf("g", ["change", "all"]),
  }),
  write({ mode, scope }, put) {
    put("m", mode !== "side" && mode);
    put("g", scope !== "change" && scope);
  },
});

/** Shows the graphs that way, or side by side where they are shown that way already. */
export function setMode(mode: Mode): void {
  go({}, "auto", graphLink.with({ mode: graphLink.peek().mode === mode ? "side" : mode }));
}

/** Side by side, merged, text, and from the start. */
export function nextMode(): void {
  const modes = ["side", "merged", "text"] as const;
  const at = modes.indexOf(graphLink.peek().mode);
  go({}, "auto", graphLink.with({ mode: modes[(at + 1) % modes.length]! }));
}

export function setScope(scope: "change" | "all"): void {
  go({}, "auto", graphLink.with({ scope }));
}
