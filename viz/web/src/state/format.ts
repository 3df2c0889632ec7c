/** Numbers and long texts as people read them. Pure. */

const whole = new Intl.NumberFormat("en");

/** 4942 -> "4,942" */
export const count = (n: number): string => whole.format(n);

/** "1 step", "2 steps"; `many` where adding an s is wrong. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** The same words with a capital in front. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Bytes with a decimal unit: "3.1 MB". */
export function bytes(n: number): string {
  return scaled(n, ["B", "KB", "MB", "GB", "TB"]);
}

/** Microseconds with a fitting unit: "9.8 µs", "1.2 ms". */
export function micros(us: number): string {
  if (us > 0 && us < 0.1) return `${whole.format(Math.round(us * 1000))} ns`;
  return scaled(us, ["µs", "ms", "s"]);
}

/** "0.98 – 1.12 ms": in the unit of the larger. */
export function microsRange(low: number, high: number): string {
  const [number = "", unit = ""] = micros(high).split(" ");
  const scale = MICROS[unit];
  if (scale === undefined || high <= 0) return `${micros(low)} – ${micros(high)}`;
  const digits = number.split(".")[1]?.length ?? 0;
  const from = (low / scale).toFixed(digits);
  return Number(from) > 0 || low <= 0
    ? `${from} – ${number} ${unit}`
    : `${micros(low)} – ${micros(high)}`;
}

/** Microseconds of each unit of time. */
const MICROS: Readonly<Record<string, number>> = { ns: 0.001, µs: 1, ms: 1e3, s: 1e6 };

export const millis = (ms: number): string => micros(ms * 1000);

/** In the largest unit that leaves 1 or more; each is a thousand of the one before. */
function scaled(n: number, units: readonly string[]): string {
  let value = n;
  let unit = 0;
  while (Math.abs(value) >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = value >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${units[unit] ?? ""}`;
}

/** What stands for infinity in a message: JSON has no word for it (core/isolation/worker.py). */
const LARGEST = 1e308;

/** A float error in few characters: "2.4e-7". */
export function tiny(x: number): string {
  if (x === 0) return "0";
  if (Math.abs(x) >= LARGEST) return x < 0 ? "-infinite" : "infinite";
  if (Number.isNaN(x)) return "not a number";
  return Math.abs(x) >= 0.001 && Math.abs(x) < 10000
    ? String(Number(x.toPrecision(3)))
    : x.toExponential(1);
}

/** The last part of a path. */
export const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** Characters at the end of a name that is cut before them. */
export const KEPT_END = 5;

/** Of each name of a list that ends like another one: where it begins to differ from all others. */
export function tellingParts(names: Iterable<string>): Map<string, number> {
  const all = [...new Set(names)].sort();
  const ends = new Map<string, number>();
  const endOf = (name: string): string => name.slice(-KEPT_END);
  for (const name of all) ends.set(endOf(name), (ends.get(endOf(name)) ?? 0) + 1);
  const shared = (a: string, b = ""): number => {
    let n = 0;
    while (n < a.length && a[n] === b[n]) n++;
    return n;
  };
  // The one that a name shares most with stands beside it in order.
  return new Map(
    all.flatMap((name, i) =>
      ends.get(endOf(name)) === 1
        ? []
        : [[name, Math.max(shared(name, all[i - 1]), shared(name, all[i + 1]))]],
    ),
  );
}

/** Of each path the shortest end that no other one of them has: "layers.py", or "a/layers.py" beside
 * "b/layers.py". */
export function toldApart(paths: Iterable<string>): Map<string, string> {
  const all = [...new Set(paths)].map((path) => ({ path, parts: path.split("/") }));
  const ends = new Map<string, number>();
  const endOf = (parts: string[], length: number): string => parts.slice(-length).join("/");
  for (const { parts } of all)
    for (let n = 1; n <= parts.length; n++)
      ends.set(endOf(parts, n), (ends.get(endOf(parts, n)) ?? 0) + 1);
  return new Map(
    all.map(({ path, parts }) => {
      let length = 1;
      while (length < parts.length && ends.get(endOf(parts, length))! > 1) length++;
      return [path, endOf(parts, length)];
    }),
  );
}

/** At most `limit` characters and how many were cut; a trace may hold labels of megabytes. */
export function clip(text: string, limit: number): { text: string; cut: number } {
  if (text.length <= limit) return { text, cut: 0 };
  return { text: text.slice(0, limit), cut: text.length - limit };
}

/** Splits "dir/file.py:41" and "dir/file.py:41 relu" into their parts; line 0 if there is none. */
export function place(text: string): { file: string; line: number; call: string } {
  const found = /^(.*):(\d{1,9})(?: (.*))?$/s.exec(text);
  return found
    ? { file: found[1] ?? "", line: Number(found[2]), call: found[3] ?? "" }
    : { file: text, line: 0, call: "" };
}

/** The places in a text of several, a line each; none in an empty one. */
export const places = (text: string): ReturnType<typeof place>[] =>
  text ? text.split("\n").map(place) : [];

/** A name for a line of a list: cut with an ellipsis; details show all of it. */
export function short(name: string, limit = 120): string {
  return name.length > limit ? `${name.slice(0, limit - 1)}…` : name;
}
