/**
 * The trace that a copied link names: numbers of passes and steps mean nothing in another run. Pure.
 */
import { Query } from "./query";

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
