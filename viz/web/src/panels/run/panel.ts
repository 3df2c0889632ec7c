/** Running the kernel, as the page knows it. */
import { cancelRun, canRun, runKernel, startRunBox } from "../../parts/run/RunBox";
import type { SubjectPanel } from "../../parts/panel";
import { announce } from "../../state/actions";
import { RunPanel } from "./RunPanel";
import { isShown } from "./shown";

export const runPanel: SubjectPanel = {
  id: "run",
  title: "Run",
  needs: "run",
  place: "act",
  component: RunPanel,
  commands: [
    {
      id: "run",
      title: "Run the kernel",
      group: "Sources",
      keys: ["R"],
      when: () => isShown.value && canRun(),
      run: runKernel,
    },
  ],
  start: startRunBox,
  escape() {
    const was = cancelRun();
    if (was) announce("Run cancelled");
    return was;
  },
};
