/** The recorded lines of the user's files by "file:line". Pure. */
import type { UserFile } from "../../../data/messages/run";

/** Of a file that is there in several states, the last one that has a line counts. */
export function textsOf(files: readonly UserFile[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { file, parts } of files)
    for (const { first, lines } of parts)
      lines.forEach((text, i) => found.set(`${file}:${first + i}`, text));
  return found;
}
