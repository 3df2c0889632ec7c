/**
 * Pan and zoom of one pane, and travels between two views.
 *
 * screen = world * zoom + offset, in CSS pixels. Never draws; `step` says whether it moved.
 */
import type { Rect } from "./rect";

const MIN_ZOOM = 0.001;
export const MAX_ZOOM = 3;
/** Fitting never magnifies more than this. */
export const MAX_FIT = 1.08;
/** Room kept around what is fitted, px. */
export const MARGIN = 16;
const TRAVEL_MS = 240;

/** Least zoom at which a whole picture is shown at first: ops can be read. */
export const WHOLE = 0.5;

export interface View {
  x: number;
  y: number;
  zoom: number;
}

export class Camera implements View {
  x = 0;
  y = 0;
  zoom = 1;
  width = 1;
  height = 1;
  private from: View | null = null;
  private to: View | null = null;
  private started = 0;

  /** The part of the world that is in view, or in another one. */
  rect({ x, y, zoom }: View = this): Rect {
    return {
      left: -x / zoom,
      top: -y / zoom,
      right: (this.width - x) / zoom,
      bottom: (this.height - y) / zoom,
    };
  }

  toWorld(sx: number, sy: number): [number, number] {
    return [(sx - this.x) / this.zoom, (sy - this.y) / this.zoom];
  }

  /** A rectangle of the world, in px of the pane: as the view is, or another one. */
  toScreen(r: Rect, { x, y, zoom }: View = this): Rect {
    return {
      left: r.left * zoom + x,
      right: r.right * zoom + x,
      top: r.top * zoom + y,
      bottom: r.bottom * zoom + y,
    };
  }

  panBy(dx: number, dy: number): void {
    this.stop();
    this.x += dx;
    this.y += dy;
  }

  /** Zooms, with the world point under (sx, sy) staying there. */
  zoomAt(factor: number, sx: number, sy: number): void {
    this.stop();
    const zoom = Math.max(MIN_ZOOM, Math.min(MAX_ZOOM, this.zoom * factor));
    const k = zoom / this.zoom;
    this.x = sx - (sx - this.x) * k;
    this.y = sy - (sy - this.y) * k;
    this.zoom = zoom;
  }

  /** The view that shows all of the rectangle, not smaller than `least` and not magnified. */
  fitting(rect: Rect, least = MIN_ZOOM): View {
    const w = rect.right - rect.left;
    const h = rect.bottom - rect.top;
    const zoom = Math.max(
      least,
      Math.min((this.width - 2 * MARGIN) / w, (this.height - 2 * MARGIN) / h, MAX_FIT),
    );
    return this.centred((rect.left + rect.right) / 2, (rect.top + rect.bottom) / 2, zoom);
  }

  /** The view with a world point in the middle. */
  centred(wx: number, wy: number, zoom = this.zoom): View {
    return { x: this.width / 2 - wx * zoom, y: this.height / 2 - wy * zoom, zoom };
  }

  /**
   * The view around `focus`, moved so that no side shows emptiness while `all` goes on beyond
   * the other one.
   */
  around(focus: Rect, all: Rect, zoom: number): View {
    const axis = (size: number, at: number, from: number, to: number): number => {
      const half = size / zoom / 2;
      const pad = MARGIN / zoom;
      const low = from - pad + half;
      const high = to + pad - half;
      return low > high ? (low + high) / 2 : Math.max(low, Math.min(high, at));
    };
    return this.centred(
      axis(this.width, (focus.left + focus.right) / 2, all.left, all.right),
      axis(this.height, (focus.top + focus.bottom) / 2, all.top, all.bottom),
      zoom,
    );
  }

  /** What is in view, or will be at the end of a travel. */
  get target(): View {
    const { x, y, zoom } = this.to ?? this;
    return { x, y, zoom };
  }

  /** Is the rectangle in view? */
  shows(rect: Rect, view: View = this): boolean {
    const v = this.rect(view);
    return (
      rect.left >= v.left && rect.right <= v.right && rect.top >= v.top && rect.bottom <= v.bottom
    );
  }

  set(view: View): void {
    this.stop();
    this.x = view.x;
    this.y = view.y;
    this.zoom = view.zoom;
  }

  /** Starts to travel; without motion it is there at once. */
  travel(view: View, now: number, motion: boolean): void {
    if (!motion) {
      this.set(view);
      return;
    }
    this.from = { x: this.x, y: this.y, zoom: this.zoom };
    this.to = view;
    this.started = now;
  }

  /** Moves on along a travel; false if there is none. */
  step(now: number): boolean {
    if (!this.from || !this.to) return false;
    const t = Math.min(1, Math.max(0, (now - this.started) / TRAVEL_MS));
    const ease = 1 - (1 - t) ** 3;
    const { from, to } = this;
    this.zoom = from.zoom * (to.zoom / from.zoom) ** ease;
    // The middle of the view goes on a straight line in the world, whatever the zoom does.
    const mid = (v: View, size: number, o: number): number => (size / 2 - o) / v.zoom;
    const wx = mix(mid(from, this.width, from.x), mid(to, this.width, to.x), ease);
    const wy = mix(mid(from, this.height, from.y), mid(to, this.height, to.y), ease);
    this.x = this.width / 2 - wx * this.zoom;
    this.y = this.height / 2 - wy * this.zoom;
    if (t >= 1) this.set(to);
    return true;
  }

  get travelling(): boolean {
    return this.to !== null;
  }

  private stop(): void {
    this.from = null;
    this.to = null;
  }
}

function mix(a: number, b: number, t: number): number {
  return a + (b - a) * t;
}
