/** Undo and redo of an editor's text: changes that follow each other quickly are one. */
import {
  Annotation,
  StateField,
  Transaction,
  type ChangeSet,
  type EditorSelection,
  type Extension,
} from "@codemirror/state";
import { keymap, type EditorView } from "@codemirror/view";

const JOIN_MS = 500;
const MOST_STEPS = 200;

/** How to go back from one state of the text to the one before. */
interface Step {
  changes: ChangeSet;
  selection: EditorSelection;
}

interface Past {
  undo: readonly Step[];
  redo: readonly Step[];
  /** When the last of `undo` was made, in milliseconds; 0: nothing may join it. */
  at: number;
}

const NO_PAST: Past = { undo: [], redo: [], at: 0 };
const way = Annotation.define<"undo" | "redo">();
/** Marks a change that is not the user's: another text, which has no past. */
export const replaced = Annotation.define<true>();

const past = StateField.define<Past>({
  create: () => NO_PAST,
  update(before, tr) {
    if (tr.annotation(replaced)) return NO_PAST;
    if (!tr.docChanged) return before;
    const step: Step = {
      changes: tr.changes.invert(tr.startState.doc),
      selection: tr.startState.selection,
    };
    const { undo, redo } = before;
    if (tr.annotation(way) === "undo")
      return { undo: undo.slice(0, -1), redo: [...redo, step], at: 0 };
    if (tr.annotation(way) === "redo")
      return { undo: [...undo, step], redo: redo.slice(0, -1), at: 0 };
    const now = tr.annotation(Transaction.time) ?? 0;
    const last = undo.at(-1);
    if (last && before.at && now - before.at < JOIN_MS)
      return { undo: [...undo.slice(0, -1), joined(step, last)], redo: [], at: now };
    return { undo: [...undo, step].slice(-MOST_STEPS), redo: [], at: now };
  },
});

const joined = (step: Step, last: Step): Step => ({
  changes: step.changes.compose(last.changes),
  selection: last.selection,
});

function walk(view: EditorView, to: "undo" | "redo"): boolean {
  const step = view.state.field(past)[to].at(-1);
  if (!step || view.state.readOnly) return false;
  view.dispatch({
    changes: step.changes,
    selection: step.selection,
    annotations: way.of(to),
    scrollIntoView: true,
  });
  return true;
}

export const undoing: Extension = [
  past,
  keymap.of([
    { key: "Mod-z", run: (view) => walk(view, "undo"), preventDefault: true },
    { key: "Mod-y", run: (view) => walk(view, "redo"), preventDefault: true },
    { key: "Mod-Shift-z", run: (view) => walk(view, "redo"), preventDefault: true },
  ]),
];
