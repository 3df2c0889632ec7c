/** The rules of one pass by the time of their tries. Asks only while they are listed. */
import { computed, signal } from "@preact/signals";
import type { PassRules } from "../../../data/messages/rule";
import { data } from "../../../state/actions";
import { isLive, view } from "../../../state/state";
import { Watched } from "../../../state/watched";
import { rulesLink } from "../data/link";

/** The pass whose rules are listed. */
export const passOf = computed(() =>
  view.value.page === "rules" && rulesLink.value.of === null ? rulesLink.value.inPass : null,
);

export const watchedPass = new Watched<PassRules>(
  "api/pass-rules",
  () => passOf.value !== null,
  (abort) => data().passRules(passOf.peek()!, abort),
  (found) => isLive.peek() && found.us === null,
  () => String(passOf.value),
);

export const passRules = computed(() =>
  watchedPass.answer.value?.rewrite === passOf.value ? watchedPass.answer.value : null,
);

/** The line of the list that keys act on. */
export const cursor = signal<string | null>(null);
