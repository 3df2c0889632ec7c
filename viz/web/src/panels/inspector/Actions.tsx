/** What can be done with the rule of the step: one menu with names. */
import { canSearchKernel, findInKernel } from "../../parts/check/bisect";
import { passHere, isSkipped } from "../../parts/whatif/asked";
import { skipRule, stopHere } from "../../parts/whatif/commands";
import { canTry } from "../../parts/whatif/store";
import type { Rule } from "../../data/messages/rule";
import { followLink, toggleRuleFilter } from "../../state/actions";
import { baseName, short } from "../../state/format";
import { ruleAt } from "../../state/link/links";
import { currentKernel, view } from "../../state/state";
import { copyLink } from "../../parts/traces/copyLink";
import { Icon } from "../../ui/Icon";
import { Menu, MenuItem } from "../../ui/over/Menu";
import { openEditor } from "../../ui/code/Text";
import { openChooser } from "./why/commands";

/** Id of the button. */
export const ACTIONS = "actions";

export function Actions({ rule }: { rule: Rule | null }) {
  return (
    <Menu
      id={ACTIONS}
      label="Actions"
      class="btn"
      title="Actions (.)"
      button={
        <>
          Actions <kbd>.</kbd>
          <Icon name="down" />
        </>
      }
    >
      {(close) => {
        const item = (title: string, run: () => void, hint = "") => (
          <MenuItem
            hint={hint}
            onClick={() => {
              close();
              run();
            }}
          >
            {title}
          </MenuItem>
        );
        return (
          <div class="actions-menu">
            {rule &&
              item(
                view.value.rule === rule.id ? "Show all rules again" : "Show only this rule",
                () => toggleRuleFilter(rule.id),
                "F",
              )}
            {rule && item("Rule page", () => followLink(ruleAt(rule.id)))}
            {rule?.file &&
              item(
                "Open in editor",
                () => openEditor(rule.file, rule.line),
                `${short(baseName(rule.file), 40)}:${rule.line}`,
              )}
            {rule && canTry() && (
              <>
                <div class="grp">What if</div>
                {item(
                  isSkipped(rule.name)
                    ? "Use this rule in the kernel again"
                    : "Leave this rule out of the kernel",
                  () => skipRule(rule.name),
                )}
                {passHere.value !== "" &&
                  item(`Leave this rule out of ${short(passHere.value, 40)}`, () =>
                    skipRule(rule.name, passHere.peek()),
                  )}
                {passHere.value !== "" && item("Stop after this step", stopHere)}
              </>
            )}
            {rule && (
              <>
                <div class="grp">Ask</div>
                {item("Why not another rule here…", openChooser, "W")}
                {canSearchKernel() &&
                  item("Which step is wrong?", () => void findInKernel(currentKernel.peek()!.id))}
              </>
            )}
            <div class="grp" />
            {item("Copy link to this step", () => void copyLink())}
          </div>
        );
      }}
    </Menu>
  );
}
