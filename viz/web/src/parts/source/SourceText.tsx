/** The text of a source, read or edited. */
import { useEffect, useMemo, useRef } from "preact/hooks";
import { announce } from "../../state/actions";
import { short } from "../../state/format";
import type { Artifact } from "../../data/messages/kernel";
import { languageOf } from "../../ui/code/languages";
import { columnKey, kindName } from "../kernel/columns";
import { NOTHING } from "../kernel/lines";
import { EditState } from "./Editing";
import { begun as beginning, changeText, editOf, lineOf, takesFocus } from "../run/edits";
import { Facts } from "./Facts";
import { sourceEditor, type Signs, type SourceEditor } from "./editor";
import { type Linked, nearest } from "./linked";
import { linked, pickLine, pointAt } from "./lit";

interface LinkedTextProps {
  artifact: Artifact;
  linked: Linked;
  /** What the gutter says of each line; without it lines count from 1. */
  numbers?: readonly string[] | undefined;
  signs?: Signs | undefined;
  /** The line to begin with where nothing is chosen. */
  first?: number | null;
  /** In place of the text of the artifact, whose links are not those of this one. */
  edited?: {
    text: string;
    revision: number;
    problem: { line: number | null; what: string };
  } | null;
  onPoint: (line: number | null) => void;
  /** The line was clicked, so far below the upper edge of the text. */
  onPick: (line: number, top: number) => void;
  onChange?: (text: string) => void;
  /** Whether a text that has just become editable takes the focus. */
  takesFocus?: () => boolean;
}

/**
 * A text whose lines light those of other texts. A click never moves it: the other texts bring what
 * is nearest of theirs to the height of the clicked line.
 */
export function LinkedText(props: LinkedTextProps) {
  const { artifact, linked, numbers, signs } = props;
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<SourceEditor | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const key = columnKey(artifact);
  const edited = props.edited ?? null;
  const editing = edited !== null;
  const text = edited?.text ?? artifact.text;

  useEffect(() => {
    const made = sourceEditor(host.current!, `${kindName(artifact.kind)} source`, {
      // Lines of an edited text are not those that the nodes were linked with.
      onLine: (line) => latest.current.onPoint(latest.current.edited ? null : line),
      onPick: (line) => latest.current.onPick(line, made.topOf(line)),
      onChange: (now) => latest.current.onChange?.(now),
      onRead: (line, said) => announce(`Line ${line + 1}: ${short(said.trim())}`),
    });
    editor.current = made;
    return () => made.destroy();
  }, []);
  useEffect(() => {
    editor.current?.setText(text, languageOf(artifact.kind), numbers, signs);
    const { first } = latest.current;
    if (typeof first === "number" && !linked.isAny.peek()) editor.current?.reveal(first);
    // Other changes of an edit come from this editor: it has them already, and perhaps further ones.
  }, [artifact, editing, edited?.revision]);
  useEffect(() => {
    editor.current?.setEditing(editing);
    if (editing && latest.current.takesFocus?.()) editor.current?.focus();
  }, [artifact, editing, beginning.value]);
  const problem = edited?.problem ?? null;
  useEffect(() => {
    editor.current?.fault(problem?.line ?? null, problem?.what ?? "");
  }, [artifact, problem?.line, problem?.what]);

  const clicked = linked.clicked.value;
  const isClicked = clicked !== null && columnKey(clicked.artifact) === key;
  const { lines } = editing ? NOTHING : linked.litIn(artifact);
  useEffect(() => {
    editor.current?.mark(lines, isClicked ? clicked.line : null);
  }, [lines.join(","), artifact, clicked]);
  const { chosen } = linked;
  const isNew = useRef(true);
  useEffect(() => {
    const to = editor.current;
    if (isClicked && isNew.current) to?.reveal(clicked.line); // it was clicked on another page
    isNew.current = false;
    const { lines } = latest.current.edited ? NOTHING : linked.chosenIn(artifact);
    if (!to || !lines.length || isClicked) return;
    const now = linked.clicked.peek();
    const middle = (host.current?.clientHeight ?? 0) / 2;
    const line = nearest(lines, now?.top ?? middle, (at) => to.topOf(at));
    if (line === null) return;
    linked.walkTo(key, line);
    if (now) to.bring(line, now.top);
    else to.reveal(line);
  }, [chosen.value, artifact, editing]);
  const stepped = editing ? null : linked.steppedTo(key);
  useEffect(() => {
    if (stepped?.by === "arrows") editor.current?.reveal(stepped.line);
    else if (stepped) editor.current?.level(stepped.line);
  }, [stepped]);

  return <div class="ed" ref={host} data-editing={editing || undefined} />;
}

interface SourceTextProps {
  artifact: Artifact;
  /** The compiler's text, also while it is edited. */
  original?: boolean;
  /** Without what is only of a column among others. */
  brief?: boolean;
  numbers?: readonly string[] | undefined;
}

/** A text of the kernel, below what is known of it. */
export function SourceText({
  artifact,
  original = false,
  brief = false,
  numbers,
}: SourceTextProps) {
  const key = columnKey(artifact);
  const begun = editOf(key);
  const edit = original ? undefined : begun;
  // An edit begins with what is compiled here, which a recorded text may differ from.
  const start = begun && !edit ? begun.base : null;
  const base = useMemo(
    () => (start === null ? artifact : { ...artifact, text: start }),
    [artifact, start],
  );
  return (
    <>
      {edit ? (
        <EditState column={key} edit={edit} brief={brief} />
      ) : (
        brief && <Facts artifact={artifact} />
      )}
      <LinkedText
        artifact={base}
        linked={linked}
        numbers={numbers}
        edited={
          edit
            ? {
                text: edit.text,
                revision: edit.revision,
                problem: { line: lineOf(edit.problem), what: edit.problem?.what ?? "" },
              }
            : null
        }
        onPoint={(line) => pointAt(artifact, line)}
        onPick={(line, top) => pickLine(artifact, line, top)}
        onChange={(text) => changeText(key, text)}
        takesFocus={() => takesFocus(key)}
      />
    </>
  );
}
