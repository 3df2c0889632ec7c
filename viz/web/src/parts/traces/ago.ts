/** How long ago something was. Pure. */
import { plural } from "../../state/format";

const STEPS = [
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
] as const;

/** "12 minutes ago" for an ISO time; "" for anything else. */
export function ago(started: string, now = Date.now()): string {
  const seconds = (now - Date.parse(started)) / 1000;
  if (Number.isNaN(seconds)) return "";
  for (const [size, unit] of STEPS)
    if (seconds >= size) return `${plural(Math.floor(seconds / size), unit)} ago`;
  return "just now";
}
