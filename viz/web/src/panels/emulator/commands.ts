/** Commands of the emulator. */
import type { Command } from "../../parts/command";
import { openDrawer, toggleDrawer } from "../../state/drawer";
import { canEmulate, emulate, emulation, goTo, runOn, stepBy } from "../../parts/emulation/store";
import { FIELD } from "./Stops";

const group = "Sources";
const there = (): boolean => emulation.value !== null;

export const emulatorCommands: readonly Command[] = [
  { id: "emulator", title: "Emulator", group, keys: [], run: () => toggleDrawer("emulator") },
  {
    id: "emulate",
    title: "Emulate the kernel",
    group,
    keys: ["Shift R"],
    when: canEmulate,
    run: () => void emulate(),
  },
  {
    id: "emulator-step",
    title: "Emulator: one instruction forward",
    group,
    keys: [],
    when: there,
    run: () => stepBy(1),
  },
  {
    id: "emulator-back",
    title: "Emulator: one instruction back",
    group,
    keys: [],
    when: there,
    run: () => stepBy(-1),
  },
  {
    id: "emulator-run",
    title: "Emulator: on to the next breakpoint",
    group,
    keys: [],
    when: there,
    run: () => runOn(),
  },
  {
    id: "emulator-stop-when",
    title: "Emulator: stop when a value changes",
    group,
    keys: [],
    when: there,
    run: stopWhen,
  },
  {
    id: "emulator-run-back",
    title: "Emulator: back to the last breakpoint",
    group,
    keys: [],
    when: there,
    run: () => runOn(true),
  },
  {
    id: "emulator-restart",
    title: "Emulator: back to the start",
    group,
    keys: [],
    when: there,
    run: () => goTo(0),
  },
];

/** Goes to the field for conditions, once it is there. */
function stopWhen(): void {
  openDrawer("emulator");
  requestAnimationFrame(() => document.getElementById(FIELD)?.focus());
}
