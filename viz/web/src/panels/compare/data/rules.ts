/** The rules of both runs in full: their equations. Asked for once, when the page is opened. */
import { computed } from "@preact/signals";
import type { Rule } from "../../../data/messages/rule";
import { Watched } from "../../../state/watched";
import { compareLink } from "./link";
import { runData } from "./ask";
import { comparison, isOpen } from "./store";

function watched(side: "a" | "b"): Watched<Rule[]> {
  const run = computed(() => compareLink.value[side]);
  return new Watched<Rule[]>(
    "api/rules",
    () => isOpen() && comparison.value !== null,
    (abort) => runData(side).rules(abort),
    undefined,
    () => run.value,
  );
}

const asked = { a: watched("a"), b: watched("b") };

export function startRules(): void {
  asked.a.start();
  asked.b.start();
}

const byId = {
  a: computed(() => new Map(asked.a.answer.value?.map((rule) => [rule.id, rule]))),
  b: computed(() => new Map(asked.b.answer.value?.map((rule) => [rule.id, rule]))),
};

/** "x + 0 -> x"; "" where it is not known. */
export const equationOf = (side: "a" | "b", rule: number | null): string =>
  rule === null ? "" : (byId[side].value.get(rule)?.equation ?? "");
