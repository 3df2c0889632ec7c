/** The subject line's left end, as the page knows it. */
import type { SubjectPanel } from "../../parts/panel";
import { subjectCommands } from "./commands";
import { Subject } from "./Subject";

export const subjectPanel: SubjectPanel = {
  id: "subject",
  title: "Subject",
  place: "subject",
  component: Subject,
  commands: subjectCommands,
};
