/** The drawer below the graphs: whether it is open, and which of its panels it shows. */
import { computed, signal } from "@preact/signals";
import { drawerOpen } from "./prefs";
import { windowWidth } from "./state";

export type DrawerTab = "source" | "emulator" | "variants" | "problems";

export const drawerTab = signal<DrawerTab>("source");

/** The column whose text is edited over the full height of the page; null: none. */
export const wideColumn = signal<string | null>(null);

/** Open by choice, or by default where the window has room for it. */
export const isDrawerOpen = computed(() => drawerOpen.value ?? windowWidth.value >= 1440);

/** Opens the drawer at a tab, or closes it where it is open there. */
export function toggleDrawer(tab: DrawerTab = drawerTab.peek()): void {
  const same = drawerTab.peek() === tab;
  drawerTab.value = tab;
  drawerOpen.value = same ? !isDrawerOpen.peek() : true;
}

export function openDrawer(tab: DrawerTab): void {
  drawerTab.value = tab;
  drawerOpen.value = true;
}
