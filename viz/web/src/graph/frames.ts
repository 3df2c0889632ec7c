/**
 * The elements of the panes inside the stage: two frames with a canvas each, one hidden if merged.
 *
 * Keeps canvas sizes in step with the elements. Never draws.
 */
import type { PaneNames } from "./api";
import { Pane } from "./paint/pane";
import type { Theme } from "./paint/theme";

export class Frames {
  readonly root = document.createElement("div");
  readonly panes: readonly [Pane, Pane];
  private readonly elements: readonly [HTMLElement, HTMLElement];
  private readonly observer: ResizeObserver;

  constructor(
    theme: Theme,
    private readonly names: PaneNames,
    resized: () => void,
  ) {
    this.root.className = "stage";
    const frame = (): [HTMLElement, Pane] => {
      const element = document.createElement("div");
      element.className = "stage-pane";
      const canvas = document.createElement("canvas");
      canvas.setAttribute("role", "img");
      element.append(canvas);
      this.root.append(element);
      return [element, new Pane(canvas, theme)];
    };
    const [first, before] = frame();
    const [second, after] = frame();
    this.elements = [first, second];
    this.panes = [before, after];
    this.setMerged(false);
    this.observer = new ResizeObserver(resized);
    this.observer.observe(this.root);
  }

  /** Puts an element over the pane that is always visible. */
  overlay(element: HTMLElement): void {
    this.elements[1].append(element);
  }

  setMerged(merged: boolean): void {
    this.elements[0].hidden = merged;
    const [before, after] = this.panes;
    const { names } = this;
    before.canvas.setAttribute("aria-label", names.before);
    after.canvas.setAttribute("aria-label", merged ? names.merged : names.after);
  }

  /** Gives the canvases the size of their elements; what is in the middle stays there. */
  measure(): void {
    const dpr = devicePixelRatio || 1;
    this.panes.forEach((pane, i) => {
      const element = this.elements[i]!;
      if (element.hidden) return;
      const { clientWidth: w, clientHeight: h } = element;
      const { camera } = pane;
      if (camera.width === w && camera.height === h && pane.dpr === dpr) return;
      const middle = camera.toWorld(camera.width / 2, camera.height / 2);
      pane.resize(w, h, dpr);
      camera.set(camera.centred(...middle));
    });
    // The hidden pane keeps the view of the other, so that it comes back in step.
    if (this.elements[0].hidden) this.panes[0].camera.set(this.panes[1].camera);
  }

  destroy(): void {
    this.observer.disconnect();
    this.root.remove();
  }
}
