/** Why a rule did not fire: what is asked of the trace while the tab is open, and what is lit of it. */
import { computed, effect, signal } from "@preact/signals";
import type { Bundle } from "../../../../data/messages/bundle";
import type { NearMisses, PatternFit, RulesAtNode, WhyNot } from "../../../../data/messages/rule";
import type { FitMarks } from "../../../../graph/stage";
import { opOf, titleOf } from "../../../../model/content";
import { placeOfNode } from "../../../../model/slots";
import { data } from "../../../../state/actions";
import { fitMarks } from "../../../../state/stage";
import { arrived, bundle, rules, sides, step, timeline, view } from "../../../../state/state";
import { Watched } from "../../../../state/watched";
import { selectedNode } from "../../history/lineages";
import { whyLink } from "./link";
import { type Nodes, partsOf } from "./parts";

/** The list of rules is open, or opens by itself: no rule is chosen. */
export const choosing = signal(false);

/** An exported file has no answers about any rule and node: they need the trace. */
export const canAsk = (): boolean => data().server !== null;

const isOpen = computed(
  () => view.value.page === "graphs" && view.value.tab === "why" && arrived.value && canAsk(),
);
const rewrite = computed(() => view.value.rewrite);
const rule = computed(() => whyLink.value.rule);
/** The node that is asked about: what the selected slot holds. */
export const askedNode = selectedNode;

export const watchedWhy = new Watched<WhyNot>(
  "api/why-not",
  () => isOpen.value && rule.value !== null && askedNode.value !== null,
  (abort) => data().whyNot(rewrite.peek()!, askedNode.peek()!, rule.peek()!, abort),
  undefined,
  () => `${rewrite.value} ${askedNode.value} ${rule.value}`,
);

export const watchedRules = new Watched<RulesAtNode>(
  "api/rules-at",
  () => isOpen.value && askedNode.value !== null,
  (abort) => data().rulesAt(rewrite.peek()!, askedNode.peek()!, abort),
  undefined,
  () => `${rewrite.value} ${askedNode.value}`,
);

/** Without a node they are the answer. */
/** The near misses were just asked for, and are to come into view where an answer stands above them. */
export const bringNear = signal(false);
const wantsNear = computed(() => whyLink.value.near || askedNode.value === null);

export const watchedNear = new Watched<NearMisses>(
  "api/near-misses",
  () => isOpen.value && rule.value !== null && wantsNear.value,
  (abort) => data().nearMisses(rewrite.peek()!, rule.peek()!, abort),
  undefined,
  () => `${rewrite.value} ${rule.value}`,
);

/** The nodes of the pass that is shown. */
export const nodes = computed<Nodes>(() => {
  const b = bundle.value;
  const at = new Map<number, number>(b?.nodes.id.map((id, content) => [id, content]));
  const told = (node: number, tell: (b: Bundle, content: number) => string): string => {
    const content = at.get(node);
    return b && content !== undefined ? tell(b, content) : "";
  };
  return {
    opOf: (node) => told(node, opOf),
    titleOf: (node) => told(node, titleOf),
    sourcesOf: (node) => sourcesNow(node),
  };
});

/** The sources of a node where it stands in the graph that is shown. */
function sourcesNow(node: number): readonly number[] {
  const [b, t, both] = [bundle.peek(), timeline.peek(), sides.peek()];
  const place = t && placeOfNode(t, node, step.peek());
  if (!b || !both || !place) return [];
  for (const side of [both.after, both.before]) {
    if (b.nodes.id[side.nodeOf(place.slot)] !== node) continue;
    return side.srcOf(place.slot).map((slot) => b.nodes.id[side.nodeOf(slot)] ?? 0);
  }
  return [];
}

/** Where a node is in the graphs that are shown; null where it is in neither. */
export function slotNow(node: number): number | null {
  const [b, t, both] = [bundle.value, timeline.value, sides.value];
  const place = t && placeOfNode(t, node, step.value);
  if (!b || !both || !place) return null;
  const held = [both.after, both.before].map((side) => b.nodes.id[side.nodeOf(place.slot)]);
  return held.includes(node) ? place.slot : null;
}

/** What the answer lights in the graphs. */
const marks = computed<FitMarks | null>(() => {
  const answer = watchedWhy.answer.value;
  if (!isOpen.value || !answer?.pattern) return null;
  return marksOf(answer.rule, answer.pattern, answer.node);
});

function marksOf(of: number, fit: PatternFit, root: number): FitMarks | null {
  const pattern = rules.value.get(of)?.pattern;
  if (!pattern) return null;
  const slots = (found: readonly (number | null)[]): number[] =>
    found.flatMap((node) => (node === null ? [] : (slotNow(node) ?? [])));
  const parts = partsOf(pattern, fit, root, nodes.value);
  const fails = fit.misfit?.node ? slotNow(fit.misfit.node) : null;
  return {
    fits: slots(parts.filter((part) => part.state === "fits").map((part) => part.node)),
    fails,
    binds: fit.binds.flatMap(({ name, node }): [string, number][] => {
      const slot = node ? slotNow(node) : null;
      return slot === null ? [] : [[name, slot]];
    }),
  };
}

/** Follows what is asked from now on. */
export function startWhy(): void {
  for (const watched of [watchedWhy, watchedRules, watchedNear]) watched.start();
  effect(() => {
    fitMarks.value = marks.value;
  });
}
