/** A folder of packed runs, as the page knows it. */
import type { PagePanel } from "../../parts/panel";
import { focusField } from "../../state/regions";
import { view } from "../../state/state";
import { fleetCommands } from "./commands";
import { FleetView } from "./FleetView";
import { fleetLink } from "./link";
import { fleet, marked, series, start } from "./store";

export const fleetPanel: PagePanel = {
  id: "fleet",
  title: "Fleet",
  place: "page",
  page: "fleet",
  withoutPass: true,
  withoutRows: true,
  component: FleetView,
  // The page may begin here, before it is known whether there are any.
  isOffered: () => !!fleet.value || (fleet.value === undefined && view.value.page === "fleet"),
  isShown: () => fleet.value === null || series.value !== null,
  commands: fleetCommands,
  link: fleetLink,
  focusSearch: () => focusField("#fleet-search"),
  start,
  escape() {
    if (view.peek().page !== "fleet" || marked.peek() === null) return false;
    marked.value = null;
    return true;
  },
};
