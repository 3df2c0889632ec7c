/** The emulator, as the page knows it. */
import { cancelEmulation, isOpen, startEmulator } from "../../parts/emulation/store";
import { emulatorLink } from "../../parts/emulation/link";
import { unpress } from "../../parts/emulation/lit";
import { clearStops } from "../../parts/emulation/stepping";
import type { PagePanel } from "../../parts/panel";
import { announce } from "../../state/actions";
import { emulatorCommands, moreCommands } from "./commands";
import { startOrigin } from "./text/origin";
import { EmulatorView } from "./EmulatorView";

export const emulatorPanel: PagePanel = {
  id: "emulator",
  title: "Emulator",
  needs: "emulate",
  place: "page",
  page: "emulator",
  component: EmulatorView,
  commands: emulatorCommands,
  moreCommands,
  link: emulatorLink,
  start() {
    startEmulator(() => {
      clearStops();
      unpress();
    });
    startOrigin();
  },
  escape() {
    if (!isOpen.peek()) return false;
    const was = cancelEmulation();
    if (was) announce("Emulation cancelled");
    return was || unpress();
  },
};
