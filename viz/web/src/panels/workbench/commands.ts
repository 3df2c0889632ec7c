/** Commands of the workbench. */
import { type Command, commandMaker } from "../../parts/command";
import { canLaunch } from "../../parts/run/RunBox";
import { editOf, revert } from "../../parts/run/edits";
import { runOnDevices } from "./change/devices";
import { addOpt, isReset, known, resetOpts } from "./change/opts";
import { canKeep, canRunBoth, cancelBench, keepChange, runBoth, state } from "./data/bench";
import { chooseInputs, inputKinds } from "./data/inputs";
import { canSearch, cancelSearch, search, searchOpts, width, WIDTHS } from "./change/search";
import { canEdit, editText, showText } from "./text/texts";
import { chooseDevice, column, devices } from "./data/where";

const command = commandMaker("Workbench", "wb");

const isEdited = (): boolean => column.value !== null && editOf(column.value) !== undefined;

export const workbenchCommands: readonly Command[] = [
  command(
    "run",
    "Run original and edited in turn",
    ["Ctrl Enter"],
    () => void runBoth(),
    canRunBoth,
  ),
  command(
    "keep",
    "Keep what is changed as a variant",
    [],
    keepChange,
    canKeep,
  ),
  {
    ...command(
      "cancel",
      "Cancel the run",
      [],
      () => void cancelBench(),
      () => state.value.kind === "running",
    ),
    ends: true,
  },
  command("edit", "Edit the text", ["E"], editText, canEdit),
  command("original", "Show the original text", [], () => showText("original")),
  command("edited", "Show the edited text", [], () => showText("edited")),
  command("difference", "Show the difference of both texts", [], () => showText("difference")),
  command("discard", "Discard the edits of this text", [], () => revert(column.peek()!), isEdited),
  command(
    "search",
    "Search for the optimizations",
    [],
    () => void searchOpts(),
    canSearch,
  ),
  {
    ...command(
      "search-cancel",
      "Cancel the search for the optimizations",
      [],
      () => void cancelSearch(),
      () => search.value.kind === "running",
    ),
    ends: true,
  },
  command("opts", "Reset the optimizations", [], resetOpts, () => !isReset.value),
  command("devices", "Run the kernel on every device", [], () => void runOnDevices(), canLaunch),
];

/** For the palette: a command for each optimisation that can be added, kind of inputs and device. */
export function moreCommands(): readonly Command[] {
  const legal = known.value?.legal ?? [];
  return [
    ...legal.map((opt) => command(`add-${opt}`, `Add ${opt}`, [], () => addOpt(opt))),
    ...inputKinds.value
      .filter((one) => !one.why)
      .map(({ kind, title }) =>
        command(`inputs-${kind}`, `Workbench: inputs ${title}`, [], () => chooseInputs(kind)),
      ),
    ...WIDTHS.map((n) =>
      command(`width-${n}`, `Search with width ${n}`, [], () => (width.value = n), canSearch),
    ),
    ...devices.value.map(({ device }) =>
      command(`on-${device}`, `Workbench: use ${device}`, [], () => chooseDevice(device)),
    ),
  ];
}
