/**
 * Where a key leads from a node: up to a source, down to a user, left and right in its row.
 *
 * Only to nodes that the scene shows. Never draws.
 */
import { BoxGraph } from "../model/fold/boxes";
import type { Scene } from "./picture/scene";

export type Direction = "h" | "j" | "k" | "l";

export function walkFrom(scene: Scene, start: number, direction: Direction): number | null {
  const slot = scene.at(start);
  const { picture, after, before } = scene.content;
  const shown = (s: number): boolean => {
    const state = scene.state(s);
    return state !== "none" && state !== "ghost";
  };
  const x = picture.x(slot);
  if (direction === "k" || direction === "j") {
    const replay = after.has(slot) ? after : before;
    const graph = new BoxGraph(replay, replay, picture.fold);
    const next = direction === "k" ? graph.sources(slot) : graph.users(slot);
    return nearestTo(
      next.filter((s) => s !== slot && shown(s)),
      (s) => Math.abs(picture.x(s) - x) + Math.abs(picture.row(s) - picture.row(slot)) * 40,
    );
  }
  const beside = direction === "h" ? -1 : 1;
  // The row first; an empty side goes on in the rows around it.
  for (const off of [0, -1, 1, -2, 2, -3, 3]) {
    const row = picture.rowOf(picture.row(slot) + off);
    const found = nearestTo(
      [...row].filter((s) => (picture.x(s) - x) * beside > 1 && shown(s)),
      (s) => Math.abs(picture.x(s) - x),
    );
    if (found !== null) return found;
  }
  return null;
}

function nearestTo(slots: readonly number[], distance: (s: number) => number): number | null {
  let best: number | null = null;
  let least = Infinity;
  for (const s of slots) {
    const d = distance(s);
    if (d < least) [best, least] = [s, d];
  }
  return best;
}
