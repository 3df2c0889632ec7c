/**
 * The user's own lines that made a kernel, as one more source beside the generated ones: a line
 * belongs to the AST nodes whose origin it is. Pure.
 */
import { place } from "../../state/format";
import type { Bundle } from "../../data/messages/bundle";
import type { Artifact } from "../../data/messages/kernel";
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

/** Node ids by the place that they come from, "file:line". */
export function nodesByPlace(ast: Bundle): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  const { id, origin } = ast.nodes;
  for (const c of ast.initial.node) {
    const { file, line } = place(ast.origins[origin[c] ?? -1] ?? "");
    if (!file || !line) continue;
    const key = `${file}:${line}`;
    const nodes = found.get(key);
    if (nodes) nodes.push(id[c]!);
    else found.set(key, [id[c]!]);
  }
  return found;
}

/** The parts of the files that hold a line of the kernel; null where none was recorded. */
export function userText(files: readonly UserFile[], ast: Bundle): UserText | null {
  const byPlace = nodesByPlace(ast);
  const text: string[] = [];
  const numbers: string[] = [];
  const nodes: (readonly number[])[] = [];
  const places: ({ file: string; line: number } | null)[] = [];
  const used: string[] = [];
  const put = (line: string, number: number, file: string): void => {
    text.push(line);
    numbers.push(number ? String(number) : "");
    nodes.push(number ? (byPlace.get(`${file}:${number}`) ?? []) : []);
    places.push(number ? { file, line: number } : null);
  };
  for (const { file, parts } of files) {
    const mine = parts.filter(({ first, lines }) =>
      lines.some((_, i) => byPlace.has(`${file}:${first + i}`)),
    );
    if (!mine.length) continue;
    used.push(file);
    put(`# ${file}`, 0, file);
    mine.forEach(({ first, lines }, i) => {
      if (i) put("# …", 0, file);
      lines.forEach((line, k) => put(line, first + k, file));
    });
  }
  if (!text.length) return null;
  const lines = nodes.map((ids) => [...ids]);
  const artifact: Artifact = {
    kind: PYTHON,
    target: "",
    title: "Python",
    language: PYTHON,
    text: text.join("\n"),
    lines,
    origins: lines,
    facts: [],
    error: null,
  };
  return { artifact, numbers, files: used, places };
}
