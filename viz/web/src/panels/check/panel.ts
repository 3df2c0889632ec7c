/** The one control of checks, as the page knows it. */
import { escapeSearch, startSearch } from "../../parts/check/bisect";
import { cancelCheck, checkOpen, startChecks } from "../../parts/check/checks";
import type { SubjectPanel } from "../../parts/panel";
import { Check } from "./Check";
import { checkCommands, checkRuleCommands } from "./commands";

export const checkPanel: SubjectPanel = {
  id: "check",
  title: "Check",
  needs: "check",
  place: "act",
  component: Check,
  commands: checkCommands,
  moreCommands: checkRuleCommands,
  escape: () => close() || escapeSearch() || cancelCheck(),
  start() {
    startChecks();
    startSearch();
  },
};

/** Its buttons may have lost the focus: they are off while a check goes on. */
function close(): boolean {
  const was = checkOpen.peek();
  checkOpen.value = false;
  return was;
}
