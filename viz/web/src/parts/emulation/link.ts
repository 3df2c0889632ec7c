/** What the emulator shows, as its part of a link; the kernel is in the view. */
import { LinkPart } from "../../state/link/part";

interface EmulatorLink {
  /** The emulated device; null: the first that there is. */
  device: string | null;
  block: number;
  warp: number;
  /** The instruction of the warp, from 0. */
  at: number;
}

const NAME = /^[\w:.-]{1,60}$/;

export const emulatorLink = new LinkPart<EmulatorLink>({
  first: { device: null, block: 0, warp: 0, at: 0 },
  read: (q) => ({
    device: q.matching("ed", NAME),
    block: q.natural("eb") ?? 0,
    warp: q.natural("ew") ?? 0,
    at: q.natural("ei") ?? 0,
  }),
  write({ device, block, warp, at }, put) {
    put("ed", device);
    put("eb", block || null);
    put("ew", warp || null);
    put("ei", at || null);
  },
});
