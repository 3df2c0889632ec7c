/** The search box of the navigator. */
import { SearchBox } from "../../parts/search/query";
import { sidePanel } from "../../state/state";
import { focusField } from "../../state/regions";

export const searchBox = new SearchBox();

/** Puts the focus into it; in a small window the navigator comes into view first. */
export function focusSearch(): void {
  if (matchMedia("(max-width: 1079px)").matches) {
    sidePanel.value = "nav";
    requestAnimationFrame(() => focusField("#search"));
  } else focusField("#search"); // at once: what is typed next belongs to the search
}
