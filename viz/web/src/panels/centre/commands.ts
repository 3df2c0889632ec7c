/** Commands of the graph panes. */
import { announce } from "../../state/actions";
import { stage } from "../../state/stage";
import { graphLink, nextMode, setMode, setScope, shownMode } from "./link";
import { hasTexts } from "../../parts/passtext/store";
import { foldBlocks, foldConstants, foldIndex } from "../../state/prefs";
import { type Command, hasPass, hasSlot, hasStep } from "../../parts/command";

/** Whether a graph is drawn, rather than its text. */
const hasGraph = (): boolean => hasPass() && !["text", "own"].includes(shownMode.value);

export const graphCommands: readonly Command[] = [
  {
    id: "scope",
    title: "Show all nodes, or only those around the change",
    group: "Graph",
    keys: ["A"],
    when: hasPass,
    run: () => setScope(graphLink.peek().scope === "all" ? "change" : "all"),
  },
  {
    id: "constants",
    title: "Fold or show constants",
    group: "Graph",
    keys: [],
    when: hasGraph,
    run: () => {
      foldConstants.value = !foldConstants.peek();
      announce(`Constants are ${foldConstants.peek() ? "folded" : "shown"} around a change`);
    },
  },
  {
    id: "index",
    title: "Fold or show index expressions",
    group: "Graph",
    keys: [],
    when: hasGraph,
    run: () => {
      foldIndex.value = !foldIndex.peek();
      announce(`Index expressions are ${foldIndex.peek() ? "folded" : "shown"}`);
    },
  },
  {
    id: "blocks",
    title: "Fold or show repeated blocks",
    group: "Graph",
    keys: [],
    when: hasGraph,
    run: () => {
      foldBlocks.value = !foldBlocks.peek();
      announce(`Repeated blocks are ${foldBlocks.peek() ? "folded" : "shown"}`);
    },
  },
  {
    id: "open-boxes",
    title: "Expand all folded boxes",
    group: "Graph",
    keys: [],
    when: hasGraph,
    run: () => stage.peek()?.openBoxes(true),
  },
  {
    id: "close-boxes",
    title: "Fold all expanded boxes",
    group: "Graph",
    keys: [],
    when: hasGraph,
    run: () => stage.peek()?.openBoxes(false),
  },
  {
    id: "layout",
    title: "Next layout: side by side, merged, text, the compiler's text",
    group: "Graph",
    keys: ["M"],
    when: hasPass,
    run: nextMode,
  },
  {
    id: "merged",
    title: "Merge before and after into one graph",
    words: "overlay single layout",
    group: "Graph",
    keys: [],
    when: hasPass,
    run: () => setMode("merged"),
  },
  {
    id: "text",
    title: "Text diff",
    words: "lines ir dump print layout",
    group: "Graph",
    keys: [],
    when: hasPass,
    run: () => setMode("text"),
  },
  {
    id: "own-text",
    title: "The compiler's own text before and after the pass",
    words: "ir dump print mlir hlo source layout",
    group: "Graph",
    keys: [],
    when: () => hasPass() && hasTexts.value,
    run: () => setMode("own"),
  },
  {
    id: "fit",
    title: "Fit the change, then all",
    words: "zoom reset center whole graph",
    group: "Graph",
    keys: ["0"],
    when: hasGraph,
    run: () => stage.peek()?.fit(),
  },
  {
    id: "in",
    title: "Zoom in",
    group: "Graph",
    keys: [],
    when: hasGraph,
    run: () => stage.peek()?.zoomBy(1.25),
  },
  {
    id: "out",
    title: "Zoom out",
    group: "Graph",
    keys: [],
    when: hasGraph,
    run: () => stage.peek()?.zoomBy(0.8),
  },
  {
    id: "reveal",
    title: "Scroll to the change",
    group: "Graph",
    keys: [],
    when: hasStep,
    run: () => stage.peek()?.revealChange(),
  },
  {
    id: "walk-h",
    title: "Select the node on the left",
    group: "Graph",
    keys: ["H"],
    when: hasGraph,
    run: () => stage.peek()?.walk("h"),
  },
  {
    id: "walk-j",
    title: "Select a user of the node",
    group: "Graph",
    keys: ["J"],
    when: hasGraph,
    run: () => stage.peek()?.walk("j"),
  },
  {
    id: "walk-k",
    title: "Select a source of the node",
    group: "Graph",
    keys: ["K"],
    when: hasGraph,
    run: () => stage.peek()?.walk("k"),
  },
  {
    id: "walk-l",
    title: "Select the node on the right",
    group: "Graph",
    keys: ["L"],
    when: hasGraph,
    run: () => stage.peek()?.walk("l"),
  },
  {
    id: "group",
    title: "Expand or fold the selected box",
    group: "Graph",
    keys: ["Enter"],
    when: hasSlot,
    run: () => stage.peek()?.openGroup(),
  },
];
