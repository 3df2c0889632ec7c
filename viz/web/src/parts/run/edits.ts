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
import type { ChangedTexts } from "../../data/messages/trials/workbench";
import { columnKey, kindName, kindOf, possibleColumns, targetOf } from "../kernel/columns";
import { kernel, kernelArtifacts, progress } from "../kernel/kernel";
import { canLaunch, launch } from "./RunBox";
import { runDevice } from "./RunHow";
import {
  type Choices,
  COMPILERS,
  keepVersion,
  sameChoices,
  type Version,
  versionsOf,
} from "../kernel/versions";
import { openSources, sourcesSize, wideColumn } from "../kernel/room";
import { showLines } from "../kernel/show";

export interface Edit extends Choices {
  /** The compiler's text, which the edit began with; made with these choices. */
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
  if (!kernel.value || progress.value !== "finished") return null;
  const all = (run.value?.editable ?? []).filter((e) => columnKey(e) === column && !e.missing);
  const wanted = runDevice();
  return (all.find((e) => e.device === wanted) ?? all[0])?.device ?? null;
}

/** What is missing for an edited text of a column to run; "" where nothing is, or it never runs. */
export function missingFor(column: string): string {
  if (deviceFor(column) !== null) return "";
  const ofKind = (run.value?.editable ?? []).filter(
    (e) => columnKey(e) === column || (e.kind === kindOf(column) && !e.target),
  );
  return ofKind.find((e) => e.missing)?.missing ?? "";
}

export const editOf = (column: string): Edit | undefined => edits.value.get(nameOf(column));

/** The text for the GPU of this browser that the reader has changed in a kernel; undefined where there is none. */
export function browserEdit(context: number): Edit | undefined {
  const { file = "", browser = null } = run.peek() ?? {};
  const edit = browser ? edits.peek().get(`${file} ${context} ${columnKey(browser)}`) : undefined;
  return edit && edit.text !== edit.base ? edit : undefined;
}

export const isOpening = (column: string): boolean => opening.value.has(nameOf(column));

/** A column of the current kernel that can be edited, the one that is being edited first. */
export const editableColumn = computed<string | null>(() => {
  const all = possibleColumns(kernelArtifacts.value, run.value?.targets ?? []);
  // In the order of the devices: that of the machine itself before emulated ones.
  const editable = (run.value?.editable ?? []).map(columnKey);
  const possible = editable.filter((c) => all.includes(c) && deviceFor(c) !== null);
  return possible.find((column) => editOf(column)) ?? possible[0] ?? null;
});

/** Whether there is a text to edit, and none is being edited. */
export const canEdit = (): boolean =>
  editableColumn.value !== null && !editOf(editableColumn.value);

/** Shows the column of a text that can be edited, and begins. */
export function editSource(): void {
  const column = editableColumn.peek()!;
  showLines({ kind: kindOf(column), target: targetOf(column) });
  beginEdit(column);
}

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

/** Makes the column's text editable: the one that the compiler makes with these choices, `base` where
 * that is here already. */
export function beginEdit(column: string, choices: Choices = COMPILERS, base?: string): void {
  if (!edits.peek().has(nameOf(column))) open(column, choices, { base });
}

/** Puts a text that was made of the compiler's with these choices into the editor of a column. */
export function editAgain(column: string, text: string, choices: Choices): void {
  const name = nameOf(column);
  keepDraft(name);
  const edit = edits.peek().get(name);
  if (!edit || !sameChoices(edit, choices)) {
    open(column, choices, { text });
    return;
  }
  put(name, { ...edit, text, problem: null, revision: edit.revision + 1 });
  showEdit(column);
}

/** Begins an edit with the compiler's text, `base`; `text` is in its place, and compared with it. */
function open(
  column: string,
  { opts, skip }: Choices,
  { base, text }: { base?: string | undefined; text?: string },
): void {
  const k = kernel.peek();
  const name = nameOf(column);
  if (!k || opening.peek().has(name)) return;
  setOpening(name, true);
  const made = base === undefined ? compiled(k.context, column, { opts, skip }) : base;
  Promise.resolve(made)
    .then((own) => {
      if (own === undefined)
        throw new Error(`The compiler produces no ${kindName(kindOf(column))} here`);
      const revision = (edits.peek().get(name)?.revision ?? -1) + 1;
      put(name, { opts, skip: [...skip], base: own, text: text ?? own, problem: null, revision });
      showEdit(column);
      announce(`${kindName(kindOf(column))} can be edited. Press Ctrl Enter to run it`);
    })
    .catch((thrown: unknown) => reportProblem(asProblem(thrown, k.name)))
    .finally(() => setOpening(name, false));
}

/** The compiler's text of a column. */
async function compiled(
  context: number,
  column: string,
  choices: Choices,
): Promise<string | undefined> {
  const target = targetOf(column);
  const { server } = data();
  if (!server) return heldText(context, choices);
  const made = <T>(start: () => Promise<number>): Promise<T> =>
    follow<T>(server, start, () => undefined, new AbortController().signal);
  if (sameChoices(choices, COMPILERS)) {
    const all = await made<Artifact[]>(() => server.compile(context, target));
    return all.find((a) => columnKey(a) === column && !a.error)?.text;
  }
  const { opts, skip } = choices;
  const { texts } = await made<ChangedTexts>(() =>
    server.changedTexts(context, target, opts, skip),
  );
  return texts.find((one) => one.kind === kindOf(column))?.text;
}

/** The text that an exported file has for the GPU of this browser. */
async function heldText(context: number, choices: Choices): Promise<string> {
  const silent = (): void => undefined;
  const signal = new AbortController().signal;
  const { made, plain } = await data().shadersOf(context, choices, silent, signal);
  return choices.opts === "" ? plain.text : made.text;
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
  if (edit && edit.text !== edit.base) keepVersion(name, versionOf(edit, "draft"));
}

const versionOf = ({ text, opts, skip }: Edit, state: Version["state"]): Version => ({
  ...{ text, opts, skip, state },
  at: Date.now(),
});

/** The versions of a column's text, the newest last; the compiler's own is not one of them. */
export const versions = (column: string): readonly Version[] => versionsOf(nameOf(column));

/** Ends an edit that has changed nothing and began with other choices than these. */
export function dropUnchanged(column: string, choices: Choices): void {
  const edit = editOf(column);
  if (edit && edit.text === edit.base && !sameChoices(edit, choices)) put(nameOf(column), null);
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
  const { text, opts, skip } = edit;
  put(nameOf(column), { ...edit, problem: null });
  const noted = outcomeOf(column, edit);
  const source = { kind: kindOf(column), text };
  void launch({ device, opts, skip, source }).then(noted);
}

/** Takes the outcome of running an edit: why it did not run, or null. `column` is of the current kernel. */
export function outcomeOf(column: string, ran: Edit): (problem: ApiProblem | null) => void {
  const name = nameOf(column);
  return (problem) => {
    const now = edits.peek().get(name);
    keepVersion(name, versionOf(ran, problem ? "failed" : "ran"));
    if (now?.text === ran.text) put(name, { ...now, problem });
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
