/** Commands that choose for which target the passes of the kernel are shown. */
import { type Command } from "../../parts/command";
import { kernel, kernelError } from "../../parts/kernel/kernel";
import { choices, chosen, showPasses } from "../../parts/kernel/passes";

const canChoose = (): boolean =>
  (kernel.value !== null || kernelError.value !== null) &&
  chosen.value !== null &&
  choices.value.length > 1;

/** One command for each target whose passes are not shown. */
export function targetCommands(): readonly Command[] {
  if (!canChoose()) return [];
  return choices.value
    .filter((choice) => choice !== chosen.value)
    .map((choice) => ({
      id: `passes-for-${choice.own ? "" : choice.target}`,
      title: choice.own
        ? `Show the program's own passes, for ${choice.target}`
        : `Show the passes for ${choice.target}`,
      group: "Graph",
      keys: [],
      run: () => showPasses(choice),
    }));
}
