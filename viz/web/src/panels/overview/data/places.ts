/** What is listed keeps its place while a run goes on. Pure. */

/** `next` in an order in which whatever was listed before stays where it was: what is new takes the
 * places of what has gone, and then the end. */
export function keepPlaces<T>(
  before: readonly string[],
  next: readonly T[],
  keyOf: (item: T) => string,
): T[] {
  const waiting = new Map(next.map((item) => [keyOf(item), item]));
  const kept = before.map((key) => {
    const item = waiting.get(key);
    waiting.delete(key);
    return item;
  });
  const fresh = [...waiting.values()];
  return [...kept.flatMap((item) => item ?? fresh.shift() ?? []), ...fresh];
}
