/**
 * Reading and writing the text after the `#` of the address. Pure. A link from a stranger is data:
 * numbers are checked, unknown keys and bad values count as missing.
 */

export class Query {
  private readonly fields: URLSearchParams;

  constructor(hash: string) {
    this.fields = new URLSearchParams(hash.replace(/^#/, ""));
  }

  /** A number from 0 on, of at most 12 digits; null if it is none. */
  natural(key: string): number | null {
    const text = this.fields.get(key);
    return text !== null && /^\d{1,12}$/.test(text) ? Number(text) : null;
  }

  /** A text of this form, or null. */
  matching(key: string, form: RegExp): string | null {
    const text = this.fields.get(key);
    return text !== null && form.test(text) ? text : null;
  }

  /** One of these words; the first of them for anything else. */
  oneOf<W extends string>(key: string, words: readonly [W, ...W[]]): W {
    return words.find((word) => word === this.fields.get(key)) ?? words[0];
  }

  /** Any text, cut to `longest` characters; "" if there is none. */
  text(key: string, longest: number): string {
    return (this.fields.get(key) ?? "").slice(0, longest);
  }

  /** Times in microseconds, as `times` writes them. */
  times(key: string): number[] {
    return (this.fields.get(key) ?? "")
      .split("_")
      .filter((text) => /^\d{1,15}(?:\.\d{1,3})?$/.test(text))
      .map(Number);
  }
}

/** Writes a field; null, false and "" leave it out. */
export type Put = (key: string, value: number | string | null | false) => void;

/** Nanoseconds are as fine as it gets. */
export const times = (all: readonly number[]): string =>
  all.map((us) => String(Number(us.toFixed(3)))).join("_");

/** "#r=7&k=42": the fields that `write` puts; "" for none. */
export function hashOf(write: (put: Put) => void): string {
  const fields = new URLSearchParams();
  write((key, value) => {
    if (value !== null && value !== false && value !== "") fields.set(key, String(value));
  });
  const text = fields.toString();
  return text ? `#${text}` : "";
}
