/** Which entries of the palette a query finds, best first. Pure. */

export interface Entry {
  group: string;
  title: string;
  detail: string;
  keys: readonly string[];
  run: () => void;
}

export interface Group {
  name: string;
  entries: Entry[];
  /** How many there are, of which `entries` are the best. */
  total: number;
}

const STEPS = "Steps of this pass";
const ORDER = ["Rules", "Kernels", "Passes", "Contexts", STEPS, "Commands"];
const PER_GROUP = 8;

/** Finds steps, which are too many to be entries. */
export type FindSteps = (words: readonly string[], most: number) => Omit<Group, "name">;

/** All commands for an empty query; else at most eight per group, with how many there are. */
export function search(
  entries: readonly Entry[],
  query: string,
  findSteps: FindSteps = () => ({ entries: [], total: 0 }),
): Group[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) {
    const own = entries.filter((e) => e.group === "Commands");
    return own.length ? [{ name: "Commands", entries: own, total: own.length }] : [];
  }
  const groups: Group[] = [];
  for (const name of ORDER) {
    if (name === STEPS) {
      const found = findSteps(words, PER_GROUP);
      if (found.total) groups.push({ name, ...found });
      continue;
    }
    const hits = entries
      .filter((e) => e.group === name)
      .map((entry) => ({ entry, score: score(entry, words) }))
      .filter((hit) => hit.score > 0)
      .sort((a, z) => z.score - a.score);
    if (hits.length)
      groups.push({
        name,
        entries: hits.slice(0, PER_GROUP).map((h) => h.entry),
        total: hits.length,
      });
  }
  return groups;
}

/** 0 unless every word occurs; starts of the title, then of its words, then anywhere. */
export function score(entry: Pick<Entry, "title" | "detail">, words: readonly string[]): number {
  const title = entry.title.toLowerCase();
  const all = `${title} ${entry.detail.toLowerCase()}`;
  let total = 0;
  for (const word of words) {
    const at = all.indexOf(word);
    if (at < 0) return 0;
    if (at === 0) total += 4;
    else if (at < title.length && /[\s_./-]/.test(all[at - 1] ?? "")) total += 3;
    else if (at < title.length) total += 2;
    else total += 1;
  }
  return total;
}
