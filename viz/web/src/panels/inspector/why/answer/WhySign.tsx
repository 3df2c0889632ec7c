/** The sign of an answer: a shape and a colour. */
import type { Sign } from "../data/choices";

const SIGNS: Readonly<Record<Sign, readonly [kind: string, text: string, label: string]>> = {
  fits: ["add", "✓", "fired"],
  fails: ["del", "≠", "the pattern does not fit"],
  "said no": ["mov", "∅", "the function gave no result"],
  other: ["plain", "›", "something came before"],
  none: ["plain", "·", "not known"],
};

export function WhySign({ sign }: { sign: Sign }) {
  const [kind, text, label] = SIGNS[sign];
  return (
    <span class={`sig ${kind}`} role="img" aria-label={label}>
      {text}
    </span>
  );
}
