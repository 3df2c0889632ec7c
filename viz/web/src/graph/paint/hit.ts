/** What lies under the pointer: a node or box, a far-away group, a handle, or nothing. */
import type { Group } from "../../model/fold/neighbourhood";
import { HANDLE, handleAt, PILL_H, PILL_W, signScale } from "./marks";
import { levelOf } from "./nodes";
import type { Pane } from "./pane";

export interface Hit {
  slot: number | null;
  group: Group | null;
  /** The pointer is on the handle of the slot, which folds what was opened. */
  handle: boolean;
}

/** Boxes can be hit this far outside when they are small, px on the screen. */
const GRACE = 3;

export function hitTest(pane: Pane, sx: number, sy: number): Hit {
  const { scene, camera } = pane;
  if (!scene) return { slot: null, group: null, handle: false };
  const { picture } = scene.content;
  const [x, y] = camera.toWorld(sx, sy);
  for (const group of scene.groups()) {
    const at = group.heads[0]!;
    if (Math.abs(picture.x(at) - x) <= PILL_W && Math.abs(picture.y(at) - y) <= PILL_H)
      return { slot: null, group, handle: false };
  }
  const grow = Math.max(0, GRACE / camera.zoom - GRACE);
  if (levelOf(camera.zoom) !== "far")
    for (const end of scene.handles()) {
      const [hx, hy] = handleAt(picture.x(end), picture.y(end));
      const reach = HANDLE * signScale(camera.zoom) + GRACE / camera.zoom;
      if (Math.abs(hx - x) <= reach && Math.abs(hy - y) <= reach)
        return { slot: end, group: null, handle: true };
    }
  const slot = picture.at(x, y, grow, (s) => scene.state(s) !== "none");
  return { slot: slot < 0 ? null : slot, group: null, handle: false };
}
