/** The sources of the current kernel, or the texts of the schedule. */
import { data, openPasses } from "../../state/actions";
import { short } from "../../state/format";
import { hovered, run, view } from "../../state/state";
import type { Artifact } from "../../data/messages/kernel";
import { compilesUnasked, saidOf, since } from "../../ui/code/since";
import { CopyButton } from "../../ui/code/copy";
import {
  chooseColumns,
  columnKey,
  kindName,
  kindOf,
  possibleColumns,
  targetOf,
} from "../kernel/columns";
import {
  canCompile,
  compilable,
  compile,
  complete,
  isKnown,
  kernelArtifacts,
  progress,
  scheduleTexts,
  shownColumns,
  toggleColumn,
  userSource,
} from "../kernel/kernel";
import { otherPasses } from "../kernel/passes";
import { wideColumn } from "../kernel/room";
import { PYTHON } from "../kernel/userText";
import { slotName } from "../slotName";
import { DiffPane } from "../source/DiffPane";
import { nodesBehind, showNodes } from "./behind";
import { EditButtons } from "../source/Editing";
import { editOf } from "../run/edits";
import { linked } from "../source/lit";
import { compilingFor, Missing, Progress } from "./Missing";
import { SourceText } from "../source/SourceText";
import { Column } from "./Column";
import type { Offer, SourcesModel } from "./model";

const find = (key: string): Artifact | undefined =>
  kernelArtifacts.value.find((a) => columnKey(a) === key);

/** What people look at first in front: one of each kind, then the same for other targets. */
function offers(): Offer[] {
  if (scheduleTexts.value || !isKnown.value) return [];
  const all = kernelArtifacts.value;
  const targets = compilable.value;
  const shown = shownColumns.value;
  const keys = [
    ...all.map(columnKey).filter((key) => kindOf(key) === PYTHON),
    ...chooseColumns(all, targets, Infinity),
    ...possibleColumns(all, targets, complete.value),
    ...shown,
  ];
  const have = new Set(all.map(columnKey));
  const maker = since.value?.maker;
  const compiled =
    compilesUnasked.value === false && maker
      ? `compiled here, by uopviz ${short(maker.reader, 20)}`
      : "compiled on demand";
  return [...new Set(keys)].map((key) => ({
    key,
    shown: shown.includes(key),
    hint: have.has(key) ? "" : data().server ? compiled : "not in this file",
  }));
}

/** A kernel that the run did not finish is not compiled here either. */
function columns(): readonly string[] {
  const have = new Set(kernelArtifacts.value.map(columnKey));
  return progress.value === "unfinished"
    ? shownColumns.value.filter((key) => have.has(key))
    : shownColumns.value;
}

function lightsWhat(): string {
  const at = linked.line.value;
  if (at) {
    const numbers = kindOf(columnKey(at.artifact)) === PYTHON ? userSource.value?.numbers : null;
    return `${kindName(at.artifact.kind)} ${numbers?.[at.line] || at.line + 1}`;
  }
  const slot = hovered.value ?? view.value.slot;
  return linked.isAny.value && slot !== null ? slotName(slot) : "";
}

function Text({ artifact }: { artifact: Artifact }) {
  return (
    <SourceText
      artifact={artifact}
      numbers={artifact.kind === PYTHON ? userSource.value?.numbers : undefined}
    />
  );
}

/** That its lines are no longer what their files hold; the way to the passes that made it. */
function Notes({ id, artifact }: { id: string; artifact: Artifact | undefined }) {
  if (kindOf(id) === PYTHON) {
    const files = userSource.value?.files ?? [];
    const said = saidOf(files);
    return (
      <>
        <span class="t3 mono el" title={files.join(", ")}>
          {short(files.join(", "), 80)}
        </span>
        {said && (
          <span class="badge mov" title="These are the lines as they were when the program ran">
            ◆ {said}
          </span>
        )}
      </>
    );
  }
  const root = artifact && targetOf(id) && !editOf(id) ? otherPasses(artifact) : null;
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

function Buttons({ id, artifact }: { id: string; artifact: Artifact }) {
  return (
    <>
      <EditButtons column={id} />
      <CopyButton
        text={editOf(id)?.text ?? artifact.text}
        what={`${kindName(artifact.kind)} source`}
      />
    </>
  );
}

/** The text that is edited over the full width, beside what is changed in it. */
function Wide() {
  const column = wideColumn.value;
  const edit = column === null ? undefined : editOf(column);
  if (column === null || !edit) return null;
  return (
    <div class="cols2">
      <Column model={kernelSources} id={column} />
      <DiffPane edit={edit} />
    </div>
  );
}

export const kernelSources: SourcesModel = {
  columns,
  artifact: find,
  offers,
  toggle: toggleColumn,
  linked,
  numbers: (key) => (kindOf(key) === PYTHON ? userSource.value?.numbers : undefined),
  lightsWhat,
  nodes() {
    const at = linked.clicked.value;
    if (!at || view.value.page === "graphs") return null;
    return { count: nodesBehind(at), show: () => void showNodes(at) };
  },
  Text,
  Missing: ({ id, artifact }) => <Missing id={id} artifact={artifact} headed />,
  compile: (key) => (canCompile(targetOf(key)) ? () => compile(targetOf(key)) : null),
  isComing: (key) => !find(key) && compilingFor(key) !== null && run.value !== null,
  Progress,
  Notes,
  Buttons,
  wide() {
    const column = wideColumn.value;
    return column !== null && editOf(column) ? Wide : null;
  },
};
