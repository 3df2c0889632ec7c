/**
 * The user's own lines that made a kernel, as one more source beside the generated ones: a line
 * belongs to the AST nodes whose origin it is. Pure.
 */
import type { Artifact, KernelPlace } from "../../data/messages/kernel";
import type { UserFile } from "../../data/messages/run";

export const PYTHON = "python";

export interface UserText {
  artifact: Artifact;
  /** What the gutter says of each line of the text: its number in the file, "" for none. */
  numbers: readonly string[];
  /** The files that it is from. */
  files: readonly string[];
  /** The file and line of each line of the text; null for a line between parts. */
  places: readonly ({ file: string; line: number } | null)[];
}

/** What stands for a line whose text is not in the trace. */
const UNRECORDED = "# the text of this line was not recorded";

/**
 * The parts of the files that hold a line of the kernel, then the lines of which the trace has the
 * number alone; null where it names none.
 */
export function userText(
  files: readonly UserFile[],
  from: readonly KernelPlace[],
): UserText | null {
  const byPlace = new Map(from.map(({ file, line, nodes }) => [`${file}:${line}`, nodes]));
  const text: string[] = [];
  const numbers: string[] = [];
  const nodes: (readonly number[])[] = [];
  const places: ({ file: string; line: number } | null)[] = [];
  const used: string[] = [];
  const put = (line: string, number: number, file: string, own = true): void => {
    text.push(line);
    numbers.push(number ? String(number) : "");
    nodes.push(number && own ? (byPlace.get(`${file}:${number}`) ?? []) : []);
    places.push(number ? { file, line: number } : null);
  };
  const holders = lastStates(files, byPlace);
  files.forEach((state, at) => {
    const { file, parts } = state;
    const isOwn = (number: number): boolean => holders.get(`${file}:${number}`) === at;
    const mine = parts.filter(({ first, lines }) => lines.some((_, i) => isOwn(first + i)));
    if (!mine.length) return;
    used.push(file);
    const later = files.some((one, i) => i > at && one.file === file);
    put(later ? `# ${file}, as it was earlier in the run` : `# ${file}`, 0, file);
    const shared = from.filter((one) => one.file === file && one.shared && isOwn(one.line));
    if (shared.length) put(sharedNote(shared.map(({ line }) => line)), 0, file);
    mine.forEach(({ first, lines }, i) => {
      if (i) put("# …", 0, file);
      lines.forEach((line, k) => put(line, first + k, file, isOwn(first + k)));
    });
  });
  const unrecorded = new Map<string, number[]>();
  const known = new Set(places.map((at) => (at ? `${at.file}:${at.line}` : "")));
  for (const { file, line } of from)
    if (!known.has(`${file}:${line}`))
      unrecorded.set(file, [...(unrecorded.get(file) ?? []), line]);
  for (const [file, lines] of unrecorded) {
    used.push(file);
    put(`# ${file}`, 0, file);
    for (const line of lines.sort((x, y) => x - y)) put(UNRECORDED, line, file);
  }
  if (!text.length) return null;
  const artifact: Artifact = {
    kind: PYTHON,
    target: "",
    title: "Python",
    language: PYTHON,
    text: text.join("\n"),
    // No text shares its nodes with the program: lines meet in the AST.
    lines: nodes.map(() => []),
    origins: nodes.map((ids) => [...ids]),
    facts: [],
    error: null,
  };
  return { artifact, numbers, files: [...new Set(used)], places };
}

/** What is said of lines that have no node alone. */
function sharedNote(lines: number[]): string {
  const [first, last] = [Math.min(...lines), Math.max(...lines)];
  const some = first === last ? `line ${first}` : `lines ${lines.sort((x, y) => x - y).join(", ")}`;
  return `# ${some}: other lines ask for the same nodes, which are shared`;
}

/** Of each line of the kernel the last state of its file that has it, by its position: a file that
 * changed during the run is there once for each. */
function lastStates(
  files: readonly UserFile[],
  wanted: ReadonlyMap<string, unknown>,
): Map<string, number> {
  const found = new Map<string, number>();
  files.forEach(({ file, parts }, at) => {
    for (const { first, lines } of parts)
      lines.forEach((_, i) => {
        const key = `${file}:${first + i}`;
        if (wanted.has(key)) found.set(key, at);
      });
  });
  return found;
}
