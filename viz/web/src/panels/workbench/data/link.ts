/** What the workbench shows, as its part of a link; the kernel is in the view. */
import { go } from "../../../state/actions";
import { LinkPart } from "../../../state/link/part";

export const TEXTS = ["edited", "original", "difference"] as const;
export type Shown = (typeof TEXTS)[number];

export interface WorkbenchLink {
  /** The target whose texts are shown; null: that of the device. */
  target: string | null;
  /** The device to run on; null: the first that can. */
  device: string | null;
  /** The kind of text; null: the one that can be edited, else the first. */
  kind: string | null;
  text: Shown;
  /** The optimisations to apply; null: what the compiler chooses. */
  opts: string | null;
  /** Rules that are left out. */
  skip: readonly string[];
  /** The kind of inputs that times and picture are of; null: the values of the run or, without any,
   * the first kind. */
  inputs: string | null;
}

const NAME = /^[\w:.-]{1,60}$/;
const OPTS = /^[\w(), -]{1,2000}$/;
const KIND = /^[a-z]{1,20}$/;
const RULE = /^[\w.<>-]{1,200}$/;
/** An empty list of optimisations. */
const NONE = "none";
const MOST_RULES = 100;

export const workbenchLink = new LinkPart<WorkbenchLink>({
  first: { target: null, device: null, kind: null, text: "edited", opts: null, skip: [], inputs: null },
  read(q) {
    const opts = q.matching("wo", /./);
    return {
      target: q.matching("wt", NAME),
      device: q.matching("wd", NAME),
      kind: q.matching("wk", NAME),
      text: q.oneOf("wx", TEXTS),
      opts: opts === NONE ? "" : opts !== null && OPTS.test(opts) ? opts : null,
      skip: q
        .text("ws", 4000)
        .split(" ")
        .filter((name) => RULE.test(name))
        .slice(0, MOST_RULES),
      inputs: q.matching("wi", KIND),
    };
  },
  write({ target, device, kind, text, opts, skip, inputs }, put) {
    put("wt", target);
    put("wd", device);
    put("wk", kind);
    put("wx", text !== "edited" && text);
    put("wo", opts === "" ? NONE : opts);
    put("ws", skip.join(" "));
    put("wi", inputs);
  },
});

/** Changes what the workbench shows. */
export function goWorkbench(change: Partial<WorkbenchLink>): void {
  go({}, "replace", workbenchLink.with(change));
}
