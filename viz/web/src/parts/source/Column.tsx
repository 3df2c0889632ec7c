/** One source: title, facts, text. Lines and nodes light each other. */
import { useEffect, useRef } from "preact/hooks";
import { announce, openPasses, select } from "../../state/actions";
import { short } from "../../state/format";
import { bundle, sides } from "../../state/state";
import { lit } from "../../state/stage";
import type { Artifact } from "../../data/messages/kernel";
import { CopyButton } from "../../ui/copy";
import { columnKey, kindName, kindOf, targetOf } from "../kernel/columns";
import { EditButtons, EditState } from "./Editing";
import { changeText, editOf, lineOf, takesFocus } from "./edits";
import { Facts } from "./Facts";
import { sourceEditor, type SourceEditor } from "./editor";
import {
  canCompile,
  cancelCompile,
  compile,
  compiling,
  complete,
  kernel,
  progress,
} from "../kernel/kernel";
import { saidOf } from "../../ui/code/since";
import { languageOf } from "../../ui/code/languages";
import { lineIndex, linesOf, NOTHING, sameOrigin, slotsOfLine } from "../kernel/lines";
import { nodeOrigins, pointedNode } from "../kernel/link";
import { otherPasses } from "../kernel/passes";
import { pointedLine } from "./pointed";
import { userSource } from "../kernel/userLines";
import { PYTHON } from "../kernel/userText";

const MOST_LIT = 400;

export function Column({ id, artifact }: { id: string; artifact: Artifact | undefined }) {
  const target = targetOf(id);
  return (
    <section
      class="col"
      aria-label={target ? `${kindName(kindOf(id))} for ${target}` : kindName(kindOf(id))}
    >
      <div class="ch">
        <span class="el">{kindName(kindOf(id))}</span>
        <span class="t3 mono el">{kindOf(id) === PYTHON ? "your lines" : target}</span>
        {artifact && target && !editOf(id) && <MadeBy artifact={artifact} />}
        {kindOf(id) === PYTHON && <Changed files={userSource.value?.files ?? []} />}
        <span class="sp" />
        {artifact && !artifact.error && <EditButtons column={id} />}
        {artifact && !artifact.error && (
          <CopyButton
            text={editOf(id)?.text ?? artifact.text}
            what={`${kindName(artifact.kind)} source`}
          />
        )}
      </div>
      {artifact && !artifact.error ? (
        <SourceText artifact={artifact} />
      ) : (
        <Missing id={id} artifact={artifact} />
      )}
    </section>
  );
}

/** Says that the lines are no longer what their files hold. */
function Changed({ files }: { files: readonly string[] }) {
  const said = saidOf(files);
  if (!said) return null;
  return (
    <span class="badge mov" title="These are the lines as they were when the program ran">
      ◆ {said}
    </span>
  );
}

/** Where the passes that made the text are not those shown above it: the way to them. */
function MadeBy({ artifact }: { artifact: Artifact }) {
  const root = otherPasses(artifact);
  if (!root) return null;
  const whose = root.target ? `the passes for ${short(root.target)}` : "the program's own passes";
  return (
    <button
      type="button"
      class="link small el"
      aria-label={`from ${whose}: show them`}
      title={`This text is from ${whose}, not from those shown above. Show them`}
      onClick={() => openPasses(root, true)}
    >
      Show passes
    </button>
  );
}

interface SourceTextProps {
  artifact: Artifact;
  /** The compiler's text, also while it is edited. */
  original?: boolean;
  /** Without what is only of a column of the drawer. */
  brief?: boolean;
}

/** The text of a source, read or edited, below what is known of it. */
export function SourceText({ artifact, original = false, brief = false }: SourceTextProps) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<SourceEditor | null>(null);
  const key = columnKey(artifact);
  const begun = editOf(key);
  const edit = original ? undefined : begun;
  const text = edit?.text ?? begun?.base ?? artifact.text;
  const editing = edit !== undefined;
  const current = useRef({ artifact, key, editing });
  current.current = { artifact, key, editing };

  useEffect(() => {
    const made = sourceEditor(host.current!, `${kindName(artifact.kind)} source`, {
      onLine: (line) => {
        // Lines of an edited text are not those that the nodes were linked with.
        const now = current.current;
        pointAt(now.artifact, now.editing ? null : line);
      },
      onPick: (line) => pickLine(current.current.artifact, line),
      onChange: (text) => changeText(current.current.key, text),
      onRead: (line, text) => announce(`Line ${line + 1}: ${short(text.trim())}`),
    });
    editor.current = made;
    return () => made.destroy();
  }, []);
  useEffect(() => {
    editor.current?.setText(
      text,
      languageOf(artifact.kind),
      artifact.kind === PYTHON ? userSource.peek()?.numbers : undefined,
    );
    // Other changes of an edit come from this editor: it has them already, and perhaps further ones.
  }, [artifact, editing, edit?.revision]);
  useEffect(() => {
    editor.current?.setEditing(editing);
    if (editing && takesFocus(key)) editor.current?.focus();
  }, [artifact, editing]);
  const problem = edit?.problem ?? null;
  useEffect(() => {
    editor.current?.fault(lineOf(problem), problem?.what ?? "");
  }, [artifact, problem]);

  const line = pointedLine.value;
  const { id, selected } = pointedNode.value;
  const origins = nodeOrigins.value;
  const { lines: marked, cut } = editing
    ? NOTHING
    : line !== null
      ? line.key === key
        ? { lines: [line.line], cut: 0 }
        : sameOrigin(line.artifact, line.line, lineIndex(artifact))
      : id >= 0
        ? linesOf(lineIndex(artifact), origins, id)
        : NOTHING;
  const signature = marked.join(",");
  useEffect(() => {
    editor.current?.mark(marked, line === null ? selected : line.key !== key);
  }, [signature, artifact, selected]);

  return (
    <>
      {edit ? (
        <EditState column={key} edit={edit} brief={brief} />
      ) : (
        <Facts artifact={artifact} lit={marked.length} cut={cut} />
      )}
      <div class="ed" ref={host} data-editing={editing || undefined} />
    </>
  );
}

/** Lights what a line (0-based) of a text belongs to, here and in the other texts; null: nothing. */
export function pointAt(artifact: Artifact, line: number | null): void {
  if (line === null) {
    pointedLine.value = null;
    lit.value = [];
    return;
  }
  pointedLine.value = { key: columnKey(artifact), artifact, line };
  lit.value = slotsUnder(artifact, line);
}

function slotsUnder(artifact: Artifact, line: number): number[] {
  const b = bundle.peek();
  const both = sides.peek();
  if (!b || !both) return [];
  const origins = nodeOrigins.peek();
  return slotsOfLine(b, both.after, origins, artifact, line).slice(0, MOST_LIT);
}

function pickLine(artifact: Artifact, line: number): void {
  const slot = slotsUnder(artifact, line).at(-1);
  if (slot !== undefined) select(slot);
  else announce("No node of this graph corresponds to this line");
}

/** Why a column has no text and none is on its way. */
function absent(id: string): string {
  if (!kernel.value) return "Loading the kernel";
  if (kindOf(id) === PYTHON) return "No line of the program was recorded for this kernel.";
  if (progress.value === "running") return "The run is still compiling this kernel.";
  const name = kindName(kindOf(id));
  return complete.value.has(targetOf(id))
    ? `The compiler for ${targetOf(id)} produces no ${name} here.`
    : `Not recorded for ${targetOf(id)}.`;
}

/** In the place of a text that is not here: that it is compiled, or why it is not. */
export function Missing({ id, artifact }: { id: string; artifact: Artifact | undefined }) {
  const target = targetOf(id);
  const job = compiling.value.get(target);
  if (job?.state === "running" || (!job && canCompile(target)))
    return (
      <>
        <div class="cb">
          <span class="t2 small el" role="status">
            {job?.progress || `Compiling for ${target}`}
          </span>
        </div>
        <div class="state">
          <div class="progress static">
            <i class="any" />
          </div>
          {job && (
            <button type="button" class="btn sm" onClick={() => cancelCompile(target)}>
              Cancel
            </button>
          )}
        </div>
      </>
    );
  const problem = artifact?.error ?? (job?.state === "error" ? job.error : null);
  if (problem)
    return (
      <>
        <div class="cb">
          <span class="sig del">!</span>
        </div>
        <div class="state" role="alert">
          <b>{problem.what}</b>
          {problem.where && <span class="mono">{problem.where}</span>}
          {problem.hint && <span>{problem.hint}</span>}
          {!artifact && (
            <button type="button" class="btn sm" onClick={() => compile(target)}>
              Compile for {target}
            </button>
          )}
        </div>
      </>
    );
  return (
    <>
      <div class="cb" />
      <div class="state">{absent(id)}</div>
    </>
  );
}
