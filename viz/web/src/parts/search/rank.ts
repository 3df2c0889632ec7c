/** How well texts answer a query. Pure. */

/** The words of a query, in lower case. */
export const wordsOf = (query: string): string[] =>
  query.toLowerCase().split(/\s+/).filter(Boolean);

/** 0 unless every word occurs; starts of the title, then of its words, then anywhere. */
export function score(
  { title, detail }: { title: string; detail: string },
  words: readonly string[],
): number {
  const name = title.toLowerCase();
  const all = `${name} ${detail.toLowerCase()}`;
  let total = 0;
  for (const word of words) {
    const at = all.indexOf(word);
    if (at < 0) return 0;
    if (at === 0) total += 4;
    else if (at < name.length && /[\s_./-]/.test(all[at - 1] ?? "")) total += 3;
    else if (at < name.length) total += 2;
    else total += 1;
  }
  return total;
}

/** What all words occur in, best first; ties keep their order. */
export function ranked<T extends { title: string; detail: string }>(
  items: readonly T[],
  words: readonly string[],
): T[] {
  return items
    .map((item) => ({ item, worth: score(item, words) }))
    .filter(({ worth }) => worth > 0)
    .sort((a, z) => z.worth - a.worth)
    .map(({ item }) => item);
}
