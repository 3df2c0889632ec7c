/** Variants of the kernel, as the page knows them. */
import type { DrawerPanel } from "../../parts/panel";
import { variantCommands } from "../../parts/whatif/commands";
import { cancelJob, startVariants } from "../../parts/whatif/store";
import { Variants } from "./Variants";

export const variantsPanel: DrawerPanel = {
  id: "variants",
  title: "Variants",
  place: "drawer",
  tab: "variants",
  component: Variants,
  commands: variantCommands,
  start: startVariants,
  escape: cancelJob,
};
