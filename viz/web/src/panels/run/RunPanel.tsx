/** Run, the one primary button of the page, with the device and what came of it. */
import { RunBox } from "../../parts/run/RunBox";
import { kernelPage } from "../../state/state";
import { isShown } from "./shown";

export function RunPanel() {
  return isShown.value ? <RunBox brief={kernelPage.value !== null} /> : null;
}
