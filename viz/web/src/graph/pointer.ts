/**
 * The pointer over the panes: it moves the cameras, chooses and opens, and what it is over says
 * what it is. Knows what was hit, not what follows from it: that is the stage's.
 */
import type { Group } from "../model/fold/neighbourhood";
import { listen } from "./gestures";
import { type Hit, hitTest } from "./paint/hit";
import type { Pane } from "./paint/pane";
import type { Views } from "./views";

export interface Pointed {
  /** A folded group was clicked. */
  open(group: Group): void;
  /** A folded box was clicked, or the handle of an open one. */
  toggleBox(slot: number): void;
  /** A node was clicked, or none. */
  choose(slot: number | null): void;
  hover(slot: number | null): void;
  /** What is folded in the box of that slot; "" where it is none. */
  folded(slot: number): string;
  /** The reader has panned or zoomed. */
  moved(): void;
}

export class Pointer {
  /** What the tooltip is about; null after a change of what is drawn. */
  private titled: Hit | null = null;
  private readonly deafen: (() => void)[];

  constructor(
    private readonly panes: readonly Pane[],
    private readonly views: Views,
    private readonly to: Pointed,
  ) {
    this.deafen = panes.map((pane) => this.listenTo(pane));
  }

  /** Something else is drawn: what is under the pointer may be another thing. */
  forget(): void {
    this.titled = null;
  }

  destroy(): void {
    for (const stop of this.deafen) stop();
  }

  private listenTo(pane: Pane): () => void {
    const { to } = this;
    const each = (alone: boolean, move: (pane: Pane) => void): void => {
      if (alone) move(pane);
      else this.panes.forEach(move);
      this.views.moved();
      to.moved();
    };
    return listen(pane.canvas, {
      pan: (dx, dy, alone) => each(alone, (p) => p.camera.panBy(dx, dy)),
      zoom: (f, x, y, alone) => each(alone, (p) => p.camera.zoomAt(f, x, y)),
      click: (x, y) => {
        const hit = hitTest(pane, x, y);
        if (hit.group) to.open(hit.group);
        else if (hit.slot !== null && (hit.handle || pane.scene?.box(hit.slot)))
          to.toggleBox(hit.slot);
        else to.choose(hit.slot);
      },
      hover: (x, y) => {
        const hit = hitTest(pane, x, y);
        pane.canvas.style.cursor = hit.group || hit.slot !== null ? "pointer" : "default";
        this.setTitle(pane, hit);
        to.hover(hit.slot);
      },
      leave: () => to.hover(null),
    });
  }

  /** The tooltip: put together when the pointer comes to something else, not at each move. */
  private setTitle(pane: Pane, hit: Hit): void {
    const { titled } = this;
    if (hit.slot === titled?.slot && hit.group === titled.group && hit.handle === titled.handle)
      return;
    this.titled = hit;
    const words = hit.slot !== null ? this.to.folded(hit.slot) : "";
    if (hit.handle) pane.canvas.title = "Fold again (Enter)";
    else pane.canvas.title = hit.group?.label ?? (words ? `${words}. Click to open.` : "");
  }
}
