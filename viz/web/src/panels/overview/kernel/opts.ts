/** The optimisations of a kernel as one sentence, each in its words. Pure. */
export function optsSentence(words: readonly string[]): string {
  const last = words.at(-1);
  if (last === undefined) return "The compiler applied no optimization.";
  const first = words.slice(0, -1).join(", ");
  return `The kernel ${first ? `${first}, and ` : ""}${last}.`;
}
