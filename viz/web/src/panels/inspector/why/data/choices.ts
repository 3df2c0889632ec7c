/**
 * The rules that can be asked about, in the order in which a reader wants them: those that were near at
 * the selected node, the rest of the pass, all others. Pure.
 */
import type { Rule, RuleAtNode, RulesAtNode, WhyKind } from "../../../../data/messages/rule";
import { ranked, wordsOf } from "../../../../parts/search/rank";
import { baseName, count, short } from "../../../../state/format";

export interface Choice {
  rule: number;
  title: string;
  /** What became of it at the node; or where it is written. */
  detail: string;
  sign: Sign;
}

export interface ChoiceGroup {
  name: string;
  items: readonly Choice[];
  /** Items that are not listed. */
  left: number;
}

/** As a shape and a colour: see `WhySign`. */
export type Sign = "fits" | "fails" | "said no" | "other" | "none";

/** Of all groups together; a reader types to find the rest. */
const MOST = 200;

export const signOf = (kind: WhyKind): Sign =>
  kind === "fired"
    ? "fits"
    : kind === "pattern"
      ? "fails"
      : kind === "declined" || kind === "raised"
        ? "said no"
        : kind === "unknown"
          ? "none"
          : "other";

/** "ADD or 26 more": of a long list of what was expected, the first. */
function brief(expected: string): string {
  const all = expected.split(" or ");
  if (all.length < 3) return expected;
  const more = /^(\d+) more$/.exec(all.at(-1)!);
  const left = more ? all.length - 2 + Number(more[1]) : all.length - 1;
  return `${all[0]} or ${count(left)} more`;
}

/** What became of a rule at the node, in few words. */
export function wordsAt(row: RuleAtNode): string {
  const wanted = row.expected && brief(row.expected);
  const misfit =
    row.expected && (row.fitted ? `expected ${wanted}, found ${row.found}` : `wants ${wanted}`);
  switch (row.kind) {
    case "fired":
      return row.by ? `fired at step ${count(row.by.step)}` : "fired";
    case "declined":
      return "fits; its function declined";
    case "raised":
      return "fits; its function failed";
    case "overtaken":
      return row.by ? `fits; ${row.by.name} came first` : "fits; another rule came first";
    case "not reached":
      return row.fits ? "fits; the node was not reached" : misfit || "the node was not reached";
    case "not there":
      return row.fits ? "fits; the node is of another pass" : misfit || "the node is of another pass";
    case "not in pass":
      return "not a rule of this pass";
    case "pattern":
      return misfit;
    case "unknown":
      return row.fits ? "fits; not known whether it was tried" : misfit || "not known";
  }
}

/**
 * @param at what became of the pass's rules at the node; null while nothing is known of it
 * @param fired rules that matched in the pass, for when no node is selected
 */
export function choicesFor(
  at: RulesAtNode | null,
  fired: ReadonlySet<number>,
  rules: ReadonlyMap<number, Rule>,
  query: string,
): ChoiceGroup[] {
  const here = (at?.rows ?? []).map((row) => ({
    near: row.fits || row.fitted > 0,
    choice: {
      rule: row.rule,
      title: short(row.name),
      detail: short(wordsAt(row)),
      sign: signOf(row.kind),
    },
  }));
  const listed = new Set(here.map(({ choice }) => choice.rule));
  const others = [...rules.values()].filter((rule) => !listed.has(rule.id));
  const isFired = (rule: Rule): boolean => fired.has(rule.id);
  const groups: [string, Choice[]][] = at?.known
    ? [
        ["Near at this node", here.filter((h) => h.near).map((h) => h.choice)],
        ["Other rules of this pass", here.filter((h) => !h.near).map((h) => h.choice)],
        ["Rules of other passes", others.map(plain)],
      ]
    : [
        ["Matched in this pass", others.filter(isFired).map(plain)],
        [fired.size ? "Other rules" : "Rules", others.filter((r) => !isFired(r)).map(plain)],
      ];
  const words = wordsOf(query);
  let room = MOST;
  return groups
    .map(([name, all]) => {
      const found = words.length ? ranked(all, words) : all;
      const items = found.slice(0, room);
      room -= items.length;
      return { name, items, left: found.length - items.length };
    })
    .filter((group) => group.items.length + group.left > 0);
}

const plain = (rule: Rule): Choice => ({
  rule: rule.id,
  title: short(rule.name),
  detail: rule.file ? `${short(baseName(rule.file), 60)}:${rule.line}` : "",
  sign: "none",
});
