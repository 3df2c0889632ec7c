/** Commands of the emulator. */
import {
  cancelEmulation,
  canEmulate,
  emulate,
  emulateText,
  emulation,
  state,
  texts,
} from "../../parts/emulation/store";
import {
  breakpoints,
  conflicts,
  goTo,
  goToConflict,
  line,
  runOn,
  stepBy,
  toggleBreakpoint,
} from "../../parts/emulation/stepping";
import { type Command, commandMaker } from "../../parts/command";
import { editText } from "./edit";
import { STOP_WHEN } from "./Stops";

const there = (): boolean => emulation.value !== null;

const command = commandMaker("Emulator", "emulator", there);

const hasConflicts = (): boolean => conflicts.value.length > 0;

export const emulatorCommands: readonly Command[] = [
  command("back", "Previous instruction", ["ArrowLeft"], () => stepBy(-1)),
  command("step", "Next instruction", ["ArrowRight"], () => stepBy(1)),
  command("run", "On to the next stop", [" "], () => runOn()),
  command("run-back", "Back to the previous stop", [], () => runOn(true)),
  {
    ...command("conflict", "Next bank conflict", ["D"], () => goToConflict(), hasConflicts),
    words: "bank conflicts shared memory wavefronts",
  },
  command(
    "conflict-back",
    "Previous bank conflict",
    ["Shift D"],
    () => goToConflict(true),
    hasConflicts,
  ),
  command("stop", "Stop at this line", ["B"], () => toggleBreakpoint(line.peek())),
  command("stop-when", "Stop when a value changes", [], stopWhen),
  command("no-stops", "Remove the stops at lines", [], () => void (breakpoints.value = new Set())),
  command("first", "First instruction", [], () => goTo(0)),
  command("last", "Last instruction", [], () => goTo(Infinity)),
  command("edit", "Edit the source", ["E"], editText, canEmulate),
  command("again", "Emulate the kernel again", ["Ctrl Enter"], () => void emulate(), canEmulate),
  {
    ...command(
      "cancel",
      "Cancel the emulation",
      [],
      () => void cancelEmulation(),
      () => state.value.kind === "running",
    ),
    ends: true,
  },
];

/** For the palette: a command for each text. */
export const moreCommands = (): readonly Command[] =>
  texts.value.map((text) =>
    command(
      `text-${text.device}-${text.edited}`,
      `Emulate ${text.title}${text.edited ? ", edited" : ""}`,
      [],
      () => emulateText(text),
      canEmulate,
    ),
  );

/** Opens the field for conditions. */
function stopWhen(): void {
  document.getElementById(STOP_WHEN)?.click();
}
