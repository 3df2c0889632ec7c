/**
 * Steps of a pass by the name of their rule, or by how their number begins. Pure. A pass may have a
 * million steps, so that rules are looked at, not steps.
 */
import { firstFrom } from "../../model/filter";
import { score } from "./rank";

/** The steps of one rule, ascending. */
export interface RuleSteps {
  name: string;
  steps: readonly number[];
}

export interface FoundSteps {
  /** The best ones. */
  best: { step: number; name: string }[];
  /** How many there are. */
  total: number;
}

/** What a number that begins with a word is worth, as the start of a title. */
const NUMBER = 4;

/** Every word must occur in the name of the rule, or begin the number of the step. */
export function searchSteps(
  rules: readonly RuleSteps[],
  words: readonly string[],
  most: number,
): FoundSteps {
  const found: { step: number; name: string; score: number }[] = [];
  let total = 0;
  for (const { name, steps } of rules) {
    const lower = name.toLowerCase();
    const numbers = words.filter((w) => /^[1-9]\d*$/.test(w) && !lower.includes(w));
    const rest = words.filter((w) => !numbers.includes(w));
    const named = score({ title: ` ${name}`, detail: "" }, rest);
    if (rest.length && !named) continue;
    const number = numbers.reduce((long, w) => (w.length > long.length ? w : long), "");
    if (numbers.some((w) => !number.startsWith(w))) continue;
    const hits = number ? startingWith(steps, number) : steps;
    total += hits.length;
    const worth = named + NUMBER * numbers.length;
    for (const step of hits.slice(0, most)) found.push({ step, name, score: worth });
  }
  found.sort((a, z) => z.score - a.score || a.step - z.step);
  return { best: found.slice(0, most), total };
}

/** Those of ascending steps whose number begins like that. */
function startingWith(steps: readonly number[], number: string): readonly number[] {
  const parts: (readonly number[])[] = [];
  const last = steps.at(-1) ?? 0;
  for (let size = 1; Number(number) * size <= last; size *= 10) {
    const from = Number(number) * size;
    parts.push(steps.slice(firstFrom(steps, from), firstFrom(steps, from + size)));
  }
  return parts.flat();
}
