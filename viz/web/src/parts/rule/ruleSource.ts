/** What of a rule's docstring and source text is said elsewhere already. Pure. */
import type { Rule } from "../../data/messages/rule";

/** What the docstring says beyond the equation, however that is spaced there. */
export function restOfDoc({ doc, equation }: Pick<Rule, "doc" | "equation">): string {
  const whole = doc.trim();
  const signs = (text: string): string => text.replaceAll("→", "->").replace(/\s+/g, "");
  const wanted = signs(equation);
  if (!wanted || equation.length > 400 || !signs(whole).startsWith(wanted)) return whole;
  let at = 0;
  for (let seen = 0; seen < wanted.length; at++) seen += signs(whole[at]!).length;
  return whole.slice(at).trim();
}

/** Lines of a rule's source: where its `def` is, and from where to where its docstring goes. */
export function partsOf(source: string): { lines: string[]; def: number; doc: [number, number] } {
  const lines = source.replace(/\n$/, "").split("\n");
  const def = Math.max(
    0,
    lines.findIndex((line) => /^\s*(async )?def /.test(line)),
  );
  const body = lines.findIndex((line, i) => i >= def && /:\s*(#.*)?$/.test(line)) + 1;
  const quote = /^\s*[rR]?("""|''')/.exec(lines[body] ?? "")?.[1];
  if (!body || !quote) return { lines, def, doc: [lines.length, lines.length] };
  const first = lines[body]!;
  const oneLine = first.indexOf(quote) !== first.lastIndexOf(quote);
  const end = oneLine ? body : lines.findIndex((line, i) => i > body && line.includes(quote));
  return { lines, def, doc: end < 0 ? [lines.length, lines.length] : [body, end + 1] };
}
