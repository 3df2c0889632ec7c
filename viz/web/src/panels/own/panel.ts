/** What the compiler of the run can do with a kernel, as the page knows it. */
import type { SubjectPanel } from "../../parts/panel";
import { OwnActions } from "./OwnActions";

export const ownPanel: SubjectPanel = {
  id: "own",
  title: "Actions of the compiler",
  place: "act",
  component: OwnActions,
};
