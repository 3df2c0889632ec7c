/**
 * Source texts that the user edits. An edit begins with what the compiler makes of the kernel here,
 * never with a text of the trace; its versions are kept for the session (versions.ts).
 */
import { computed, signal } from "@preact/signals";
import { announce, data, reportProblem, setPage } from "../../state/actions";
import { BENCH } from "../../state/link/view";
import { run, view } from "../../state/state";
import { asProblem } from "../../data/backend";
import { follow } from "../../data/jobs";
import type { ApiProblem } from "../../data/messages/job";
import type { Artifact } from "../../data/messages/kernel";
import { columnKey, kindName, kindOf, possibleColumns, targetOf } from "../kernel/columns";
import { kernel, kernelArtifacts, progress } from "../kernel/kernel";
import { canLaunch, launch } from "../run/RunBox";
import { runDevice } from "../run/RunHow";
import { keepVersion, type Version, versionsOf } from "./versions";
import { openSources, sourcesSize, wideColumn } from "../kernel/room";

export interface Edit {
  /** The compiler's text, which the edit began with. */
  base: string;
  text: string;
  /** Why the text did not run; of this very text. */
  problem: ApiProblem | null;
  /** Counts the times that the text was changed by other means than its editor. */
  revision: number;
}

const edits = signal<ReadonlyMap<string, Edit>>(new Map());
/** Columns whose text is being fetched to be edited. */
const opening = signal<ReadonlySet<string>>(new Set());
/** The column whose edit has just begun, until its editor takes the focus. */
export const begun = signal<string | null>(null);

/** Names a column of the current kernel in the whole session. */
const nameOf = (column: string): string =>
  `${run.value?.file ?? ""} ${kernel.value?.context ?? -1} ${column}`;

/** The device that can run an edited text of a column; null where none can. */
export function deviceFor(column: string): string | null {
  if (!data().server || !kernel.value || progress.value !== "finished") return null;
  const all = (run.value?.editable ?? []).filter((e) => columnKey(e) === column && !e.missing);
  const wanted = runDevice();
  return (all.find((e) => e.device === wanted) ?? all[0])?.device ?? null;
}

/** What is missing for an edited text of a column to run; "" where nothing is, or it never runs. */
export function missingFor(column: string): string {
  if (!data().server || deviceFor(column) !== null) return "";
  const ofKind = (run.value?.editable ?? []).filter(
    (e) => columnKey(e) === column || (e.kind === kindOf(column) && !e.target),
  );
  return ofKind.find((e) => e.missing)?.missing ?? "";
}

export const editOf = (column: string): Edit | undefined => edits.value.get(nameOf(column));
export const isOpening = (column: string): boolean => opening.value.has(nameOf(column));

/** A column of the current kernel that can be edited, the one that is being edited first. */
export const editableColumn = computed<string | null>(() => {
  const all = possibleColumns(kernelArtifacts.value, run.value?.targets ?? []);
  // In the order of the devices: that of the machine itself before emulated ones.
  const editable = (run.value?.editable ?? []).map(columnKey);
  const possible = editable.filter((c) => all.includes(c) && deviceFor(c) !== null);
  return possible.find((column) => editOf(column)) ?? possible[0] ?? null;
});

function put(name: string, edit: Edit | null): void {
  const next = new Map(edits.peek());
  if (edit) next.set(name, edit);
  else next.delete(name);
  edits.value = next;
}

function setOpening(name: string, is: boolean): void {
  const next = new Set(opening.peek());
  if (is) next.add(name);
  else next.delete(name);
  opening.value = next;
}

/** Puts a text into the editor of a column. */
export function editAgain(column: string, text: string): void {
  if (edits.peek().has(nameOf(column))) {
    useText(column, text);
    showEdit(column);
  } else beginEdit(column, text);
}

/** Makes the column's text editable; `text`: in place of the compiler's, which it is compared with. */
export function beginEdit(column: string, text: string | null = null): void {
  const { server } = data();
  const k = kernel.peek();
  const name = nameOf(column);
  if (!server || !k || edits.peek().has(name) || opening.peek().has(name)) return;
  setOpening(name, true);
  follow<Artifact[]>(
    server,
    () => server.compile(k.context, targetOf(column)),
    () => undefined,
    new AbortController().signal,
  )
    .then((made) => {
      const own = made.find((a) => columnKey(a) === column && !a.error);
      if (!own) throw new Error(`The compiler produces no ${kindName(kindOf(column))} here`);
      put(name, { base: own.text, text: text ?? own.text, problem: null, revision: 0 });
      showEdit(column);
      announce(`${kindName(kindOf(column))} can be edited. Press Ctrl Enter to run it`);
    })
    .catch((thrown: unknown) => reportProblem(asProblem(thrown, k.name)))
    .finally(() => setOpening(name, false));
}

/** Brings the editor of a column's text into view, with the focus in it. */
export function showEdit(column: string): void {
  begun.value = nameOf(column);
  if (view.peek().page === BENCH) return; // where it has the full height
  setPage("graphs");
  wideColumn.value = column;
  openSources();
}

/** Whether the column's editor should take the focus: once after each beginning. */
export function takesFocus(column: string): boolean {
  if (begun.peek() !== nameOf(column)) return false;
  begun.value = null;
  return true;
}

export function changeText(column: string, text: string): void {
  const name = nameOf(column);
  const edit = edits.peek().get(name);
  if (!edit || edit.text === text) return;
  put(name, { ...edit, text, problem: null });
  clearTimeout(drafting);
  drafting = setTimeout(() => keepDraft(name), DRAFT_MS);
}

/** Until a text that is being written is kept, ms. */
const DRAFT_MS = 800;
let drafting: ReturnType<typeof setTimeout> | undefined;

function keepDraft(name: string): void {
  clearTimeout(drafting);
  const edit = edits.peek().get(name);
  if (edit && edit.text !== edit.base)
    keepVersion(name, { text: edit.text, at: Date.now(), state: "draft" });
}

/** The versions of a column's text, the newest last; the compiler's own is not one of them. */
export const versions = (column: string): readonly Version[] => versionsOf(nameOf(column));

/** Puts another version, or the compiler's text, in the place of the present one. */
export function useText(column: string, text: string): void {
  const name = nameOf(column);
  keepDraft(name);
  const edit = edits.peek().get(name);
  if (edit) put(name, { ...edit, text, problem: null, revision: edit.revision + 1 });
}

/** Ends editing: back to the compiler's text. The versions stay. */
export function revert(column: string): void {
  const name = nameOf(column);
  keepDraft(name);
  put(name, null);
  if (wideColumn.peek() === column) wideColumn.value = null;
  announce("Edits discarded");
}

export const canRunEdited = (): boolean => {
  const column = editableColumn.value;
  return column !== null && editOf(column) !== undefined && canLaunch();
};

/** Runs the edited text; where nothing has run yet, the compiler's own too, to compare with. */
export function runEdited(column: string | null = editableColumn.peek()): void {
  const device = column && deviceFor(column);
  const edit = column && editOf(column);
  if (!device || !edit) return;
  const { text } = edit;
  put(nameOf(column), { ...edit, problem: null });
  const noted = outcomeOf(column, text);
  void launch({ device, opts: null, source: { kind: kindOf(column), text } }).then(noted);
}

/** Takes what comes of running a text: why it did not run, or null. `column` is of the current kernel. */
export function outcomeOf(column: string, text: string): (problem: ApiProblem | null) => void {
  const name = nameOf(column);
  return (problem) => {
    const now = edits.peek().get(name);
    keepVersion(name, { text, at: Date.now(), state: problem ? "failed" : "ran" });
    if (now?.text === text) put(name, { ...now, problem });
  };
}

/** The column that is edited over the full height now. */
export const wideEdit = computed<string | null>(() => {
  const column = wideColumn.value;
  return sourcesSize.value === "half" && column !== null && editOf(column) ? column : null;
});

/** The line that a problem is about, from 0; null where it names none. */
export function lineOf(problem: ApiProblem | null): number | null {
  const found = /^line (\d+)(?:$|:)/.exec(problem?.where ?? "");
  return found ? Number(found[1]) - 1 : null;
}
