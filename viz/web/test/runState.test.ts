import { describe, expect, it } from "vitest";
import { timelineOf } from "../src/model/timeline";
import { createRunState, type RunState } from "../src/state/runState";
import { bundles, rows, rules, run } from "./dev/fixture";

/** A run of which a pass has arrived. */
function shown(file: string): RunState {
  const state = createRunState();
  const bundle = [...bundles.values()].find((b) => b.steps.length > 2)!;
  state.run.value = { ...run, file };
  state.rows.value = rows;
  state.rules.value = new Map(rules.map((rule) => [rule.id, rule]));
  state.view.value = { ...state.view.value, page: "graphs", rewrite: bundle.rewrite, step: 1 };
  state.bundle.value = bundle;
  state.timeline.value = timelineOf(bundle);
  return state;
}

describe("the state of a run", () => {
  it("is its own: two runs stand at different steps and selections", () => {
    const [one, other] = [shown("a.viz"), shown("b.viz")];
    other.view.value = { ...other.view.value, step: 2, slot: 0 };
    expect([one.step.value, other.step.value]).toEqual([1, 2]);
    expect([one.view.value.slot, other.view.value.slot]).toEqual([null, 0]);
    expect(one.sides.value?.step).toBe(1);
    expect(other.sides.value?.step).toBe(2);
    expect(one.runKey.value).not.toBe(other.runKey.value);
  });

  it("names its own rules, and those that have not arrived", () => {
    const [one, other] = [shown("a.viz"), createRunState()];
    const rule = rules[0]!;
    expect(one.ruleName(rule.id)).toBe(rule.name);
    expect(other.ruleName(rule.id)).toBe(`rule ${rule.id}`);
  });

  it("keeps an answer about matches only for the run that was asked about", () => {
    const [one, other] = [shown("a.viz"), shown("b.viz")];
    const step = one.currentStep.value!;
    const here = one.bundle.value!.rewrite;
    const answer = { rule: [step.rule], rewrite: [here], matches: [7], leftOut: 0, done: true };
    one.keepMatches(answer, one.runKey.peek());
    expect(one.ruleMatches.value).toEqual(answer);
    expect(one.matchPlace.value).not.toBeNull();
    expect(other.ruleMatches.value).toBeNull();
    expect(other.matchPlace.value).toBeNull();
    one.run.value = { ...one.run.value!, file: "c.viz" };
    expect(one.ruleMatches.value).toBeNull();
  });
});
