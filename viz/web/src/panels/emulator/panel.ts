/** The emulator, as the page knows it. */
import type { DrawerPanel } from "../../parts/panel";
import { announce } from "../../state/actions";
import { emulatorCommands } from "./commands";
import { Emulator } from "./Emulator";
import { cancelEmulation, startEmulator } from "../../parts/emulation/store";

export const emulatorPanel: DrawerPanel = {
  id: "emulator",
  title: "Emulator",
  place: "drawer",
  tab: "emulator",
  component: Emulator,
  commands: emulatorCommands,
  start: startEmulator,
  escape() {
    const was = cancelEmulation();
    if (was) announce("Emulation cancelled");
    return was;
  },
};
