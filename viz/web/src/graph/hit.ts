/** What lies under the pointer: a node, a folded group, or nothing. */
import type { Group } from "../model/neighbourhood";
import { PILL_H, PILL_W } from "./paint/marks";
import type { Pane } from "./pane";

export interface Hit {
  slot: number | null;
  group: Group | null;
}

/** Boxes can be hit this far outside when they are small, px on the screen. */
const GRACE = 3;

export function hitTest(pane: Pane, sx: number, sy: number): Hit {
  const { scene, camera } = pane;
  if (!scene) return { slot: null, group: null };
  const { picture } = scene.content;
  const [x, y] = camera.toWorld(sx, sy);
  for (const group of scene.groups()) {
    const at = group.heads[0]!;
    if (Math.abs(picture.x(at) - x) <= PILL_W && Math.abs(picture.y(at) - y) <= PILL_H)
      return { slot: null, group };
  }
  const grow = Math.max(0, GRACE / camera.zoom - GRACE);
  const slot = picture.at(x, y, grow, (s) => scene.state(s) !== "none");
  return { slot: slot < 0 ? null : slot, group: null };
}
