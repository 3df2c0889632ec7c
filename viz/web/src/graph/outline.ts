/**
 * The graph for those who do not see the canvas: a tree of the nodes around the change.
 *
 * Changed nodes first, their sources under them; a box of folded nodes is one item, and says so.
 * Kept out of sight but in the accessibility tree; takes the focus for the graph; choosing an item
 * selects the node. Holds a bounded number of items and says what it leaves out.
 */
import { describeSlot } from "../model/diff";
import { BoxGraph, foldedAway } from "../model/fold/boxes";
import { describeBox } from "../model/fold/words";
import type { Content } from "./picture/scene";

const MOST = 60;

export class Outline {
  readonly element = document.createElement("ul");
  private readonly items = new Map<number, HTMLElement>();
  private at = (slot: number): number => slot;

  constructor(choose: (slot: number) => void) {
    const { element } = this;
    element.className = "stage-outline";
    element.setAttribute("role", "tree");
    element.tabIndex = 0;
    element.addEventListener("click", (event) => {
      const slot = (event.target as HTMLElement).dataset["slot"];
      if (slot !== undefined) choose(Number(slot));
    });
    element.addEventListener("focusin", (event) => {
      const slot = (event.target as HTMLElement).dataset["slot"];
      if (slot !== undefined) choose(Number(slot));
    });
  }

  update(content: Content | null, selected: number | null): void {
    const { element, items } = this;
    element.replaceChildren();
    items.clear();
    if (!content) return;
    const { before, after, diff, part, picture } = content;
    const { fold } = picture;
    const graph = new BoxGraph(before, after, fold);
    this.at = (slot) => graph.at(slot);
    element.setAttribute("aria-label", diff.words.title);
    const put = (slot: number, level: number): void => {
      const item = document.createElement("li");
      item.setAttribute("role", "treeitem");
      item.setAttribute("aria-level", String(level));
      item.setAttribute("aria-selected", String(slot === this.shownAt(selected)));
      item.id = `stage-node-${slot}`;
      item.tabIndex = -1;
      item.dataset["slot"] = String(slot);
      const box = fold?.boxes[fold.of[slot]!];
      if (fold && box) {
        item.setAttribute("aria-expanded", "false");
        item.textContent = describeBox(before, after, diff, fold, box);
      } else item.textContent = describeSlot(slot, before, after, diff);
      items.set(slot, item);
      element.append(item);
    };
    const start = diff.focus.length ? diff.focus : [after.bundle.root];
    const seen = new Set(start.map((s) => graph.at(s)));
    const queue: [number, number][] = [...seen].map((s) => [s, 1]);
    for (let i = 0; i < queue.length && i < MOST; i++) {
      const [slot, level] = queue[i]!;
      if (!graph.has(slot)) continue;
      put(slot, level);
      for (const s of graph.sources(slot)) {
        if (seen.has(s) || (part && !part.shown.has(s)) || !picture.has(s)) continue;
        seen.add(s);
        queue.push([s, level + 1]);
      }
    }
    const left = (part?.shown.size ?? after.count - foldedAway(after, fold)) - items.size;
    if (left > 0) {
      const rest = document.createElement("li");
      rest.setAttribute("role", "treeitem");
      const nodes = left === 1 ? "node" : "nodes";
      rest.textContent = `${left.toLocaleString("en")} more ${nodes}, reached with H J K L`;
      element.append(rest);
    }
    this.point(selected);
  }

  /** The slot whose item stands for this one. */
  private shownAt(slot: number | null): number | null {
    return slot === null ? null : this.at(slot);
  }

  select(slot: number | null): void {
    const at = this.shownAt(slot);
    for (const [s, item] of this.items) item.setAttribute("aria-selected", String(s === at));
    this.point(slot);
  }

  /** The tree has the focus as a whole; this is the item that it means. */
  private point(slot: number | null): void {
    const at = this.shownAt(slot);
    const item = at === null ? undefined : this.items.get(at);
    if (item) this.element.setAttribute("aria-activedescendant", item.id);
    else this.element.removeAttribute("aria-activedescendant");
  }
}
