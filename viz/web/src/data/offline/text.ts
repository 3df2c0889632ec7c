/**
 * Texts as Python reads them, so that a search finds the same with and without a server. Pure.
 */

/** What `str.strip` takes away. */
const SPACE =
  "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";
const ENDS = new RegExp(`^${SPACE}|${SPACE}$`, "g");
/** What `str.splitlines` takes for the end of a line. */
const LINE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;
const NUMBER =
  /^[+-]?(?:(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:e[+-]?\d+(?:_\d+)*)?)$/i;

export const strip = (text: string): string => text.replace(ENDS, "");

/** The first characters: of those that Python counts, not of the halves that a string here has. */
export const first = (text: string, count: number): string =>
  text.length <= count ? text : Array.from(text).slice(0, count).join("");

/** The lines, without their ends. */
export function splitLines(text: string): string[] {
  const lines = text.split(LINE_END);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Equal for texts that differ only in case. */
export function casefold(text: string): string {
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase();
  // One by one: at the end of a word, toLowerCase has another sigma.
  return Array.from(text, (c) => c.toUpperCase().toLowerCase()).join("");
}

/** The number that a text writes; NaN for none. */
export function asNumber(text: string): number {
  const plain = strip(text);
  const special = /^([+-]?)inf(?:inity)?$/i.exec(plain);
  if (special) return special[1] === "-" ? -Infinity : Infinity;
  return NUMBER.test(plain) ? Number(plain.replaceAll("_", "")) : NaN;
}
