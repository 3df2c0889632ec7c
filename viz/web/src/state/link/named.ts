/**
 * The run that a link is about: numbers of passes and steps mean nothing in another one. It says the
 * letter of any run but the first, and a copied link the name of the trace, too. Pure.
 */
import { FIRST_RUN } from "../../data/backend";
import { Query, type Put } from "./query";

const KEY = "trace";
/** Characters of a name that count. */
export const LONGEST = 200;

/** The name of the trace's file in an address; "" if it names none. */
export const traceNamed = (hash: string): string => new Query(hash).text(KEY, LONGEST);

/** The address with the name of the trace's file in it. */
export function namingTrace(href: string, name: string): string {
  const address = new URL(href);
  const fields = new URLSearchParams(address.hash.slice(1));
  fields.delete(KEY);
  address.hash = new URLSearchParams([[KEY, name.slice(0, LONGEST)], ...fields]).toString();
  return address.href;
}

const RUN = "run";

/** The letter of the run in an address; that of the first one if it says none. */
export const runNamed = (hash: string): string =>
  new Query(hash).matching(RUN, /^[A-Z]$/) ?? FIRST_RUN;

/** Writes the letter of a run into an address. */
export function putRun(name: string, put: Put): void {
  put(RUN, name !== FIRST_RUN && name);
}

/**
 * Which of the open runs an address is about; null where none of them is. Letters are given anew, so
 * that the name of the trace counts for more. `files`: the names of their traces' files, by letters.
 */
export function runOfLink(hash: string, files: ReadonlyMap<string, string>): string | null {
  const [trace, name] = [traceNamed(hash), runNamed(hash)];
  if (!trace) return files.has(name) ? name : null;
  if (files.get(name) === trace) return name;
  for (const [other, file] of files) if (file === trace) return other;
  return null;
}
