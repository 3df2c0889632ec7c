/** The table of variants, at the foot of the workbench. */
import { signal } from "@preact/signals";
import { setPage } from "../../state/actions";
import { BENCH } from "../../state/link/view";

/** Whether it is unfolded. */
export const variantsOpen = signal(false);

/** Shows the variants of the kernel that is looked at. */
export function openVariants(): void {
  variantsOpen.value = true;
  setPage(BENCH);
}
