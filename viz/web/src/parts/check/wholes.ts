/** What is known of a kernel as a whole, in words: its text was run, and held against its program. Pure. */
import type { WholeKernel } from "../../data/messages/trials/verdicts";
import { count, plural } from "../../state/format";
import { kernelCount } from "../../state/state";

const STATES: Record<WholeKernel["state"], string> = {
  differs: "differs",
  unknown: "not run",
  rounding: "equal but for rounding",
  equal: "equal",
};

/** "1 kernel differs, 58 equal"; "" for none. */
export function ranWords(kernels: Record<WholeKernel["state"], number>): string {
  const states = (Object.keys(STATES) as WholeKernel["state"][]).filter((one) => kernels[one] > 0);
  return states
    .map((one, at) => `${at ? count(kernels[one]) : kernelCount(kernels[one])} ${STATES[one]}`)
    .join(", ");
}

/** A sentence. `isConsequence`: a step of the kernel is known to be wrong. */
export function wholeWords(one: WholeKernel, isConsequence: boolean): string {
  if (one.state === "unknown") return `Not run as a whole: ${one.why}.`;
  const ran = `${plural(one.sets, "set")} of arguments on ${one.device}`;
  if (one.state !== "differs") {
    const how =
      one.state === "equal" ? "" : `, but for rounding, at most ${plural(one.ulps, "ulp")}`;
    return `As a whole: on ${ran}, its text computes what its program does${how}.`;
  }
  const differs = `Its text, run on ${one.device}, differs from its program`;
  const found = `On ${one.inputs}: ${one.outcome?.said ?? ""}.`;
  if (isConsequence) return `${differs}, as a step of it does. ${found}`;
  return `${differs}, and no step of it is known to: ${blamed(one)}. ${found}`;
}

function blamed({ place }: WholeKernel): string {
  if (place === "passes")
    return "its program is wrong already, by code of a pass or a step that is not known to be";
  if (/^(rule|pass) /.test(place)) return `bisect names ${place}`;
  return place ? `the ${place} is wrong` : "the rendering is wrong, or a pass before it";
}
