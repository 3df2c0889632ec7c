/** Two runs side by side, as the page knows it. */
import { effect } from "@preact/signals";
import { comparedRuns } from "../../parts/check/checks";
import type { PagePanel } from "../../parts/panel";
import { view } from "../../state/state";
import { focusField } from "../../state/regions";
import { compareCommands, compileCommands, leave } from "./commands";
import { CompareView } from "./CompareView";
import { clearLine } from "./data/lines";
import { startRules } from "./data/rules";
import { comparison, watchedPair, watchedScope } from "./data/store";
import { enter, startSubject } from "./data/subject";
import { startTexts } from "./data/texts";
import { watchedPasses } from "./data/walk";
import { compareLink, show } from "./data/link";

export const comparePanel: PagePanel = {
  id: "compare",
  title: "Compare",
  place: "page",
  page: "compare",
  withoutPass: true,
  component: CompareView,
  isShown: () => comparison.value !== null || watchedPair.error.value !== null,
  commands: compareCommands,
  moreCommands: compileCommands,
  link: compareLink,
  focusSearch: () => focusField("#cmp-filter"),
  enter,
  start() {
    watchedPair.start();
    watchedScope.start();
    watchedPasses.start();
    startRules();
    startTexts();
    startSubject();
    effect(() => {
      const { a, b } = compareLink.value;
      comparedRuns.value = [...new Set([a, b])];
    });
  },
  escape() {
    const { slot, walk } = compareLink.peek();
    if (view.peek().page !== "compare") return false;
    if (clearLine()) return true;
    if (walk === null) return false;
    if (slot !== null) show({ slot: null }, "replace");
    else leave();
    return true;
  },
};
