/** The texts of a kernel or schedule in both runs, with what differs in them. */
import type { Artifact } from "../../../data/messages/kernel";
import { count, plural, short } from "../../../state/format";
import { columnKey, kindName, kindOf, targetOf } from "../../../parts/kernel/columns";
import { PYTHON } from "../../../parts/kernel/userText";
import { LinkedText } from "../../../parts/source/SourceText";
import { Compilation } from "../../../parts/sources/Compilation";
import type { Offer, SourcesModel } from "../../../parts/sources/model";
import { Failed } from "../../../parts/Failed";
import { linked, nodesOfLine, pickLine, pointAt, slotName } from "../data/lines";
import { tally } from "../data/merged";
import { scope } from "../data/store";
import {
  askAgain,
  canCompile,
  cancelCompile,
  columns,
  compile,
  compiling,
  differenceOf,
  differencesOf,
  failedText,
  possible,
  problemOf,
  shown,
  sourceOf,
  textKey,
  texts,
  textsOf,
  toggle,
} from "../data/texts";

const find = (id: string): Artifact | undefined => texts.value.get(id)?.artifact;
const isOwn = (id: string): boolean => kindOf(id) === PYTHON;

/** The target of a column without its side, which is none of the users' lines. */
const ofTarget = (id: string): string => targetOf(textKey(id));

function offers(): Offer[] {
  return possible.value.map((key) => ({
    key,
    shown: shown.value.includes(key),
    hint: hintOf(key),
  }));
}

function hintOf(key: string): string {
  const s = sourceOf(key);
  if (isOwn(key)) return "";
  if (!s) return "compiled on request, for both runs";
  const state = s.equal ? "equal" : !s.a ? "only in B" : !s.b ? "only in A" : "differs";
  return s.onRequest ? `${state}, compiled on request` : state;
}

function lightsWhat(): string {
  const at = linked.line.value;
  if (!at) return linked.isAny.value ? slotName() : "";
  const number = texts.value.get(columnKey(at.artifact))?.numbers[at.line] ?? "";
  return `${kindName(at.artifact.kind)} ${number}`;
}

/** The line of a column with which its first difference begins. */
const firstDifference = (id: string): number | null =>
  differencesOf.value.get(textKey(id))?.[0]?.get(id) ?? null;

function Text({ artifact }: { artifact: Artifact }) {
  const text = texts.value.get(columnKey(artifact));
  return (
    <LinkedText
      artifact={artifact}
      linked={linked}
      numbers={text?.numbers}
      signs={text?.signs}
      first={firstDifference(columnKey(artifact))}
      onPoint={(line) => pointAt(artifact, line)}
      onPick={(line, top) => pickLine(artifact, line, top)}
    />
  );
}

const ON_REQUEST =
  "Compiled on request, with the code that was installed then, not with the compilers of the runs: what these do differently does not show here.";

/** What differs in a text, and where it is from. */
function Notes({ id, artifact }: { id: string; artifact: Artifact | undefined }) {
  const text = texts.value.get(id);
  if (!artifact || !text) return null;
  const key = textKey(id);
  const s = sourceOf(key);
  const both = textsOf(key);
  const only = !both.b ? "A" : !both.a ? "B" : "";
  const difference = differenceOf(key);
  const n = tally(difference?.rows ?? text.rows);
  const renamed = difference?.renamed.length ?? 0;
  const parts = [
    n.changed && `${count(n.changed)} changed`,
    n.removed && `${count(n.removed)} removed`,
    n.added && `${count(n.added)} added`,
    n.moved && `${count(n.moved)} moved`,
    renamed && `${plural(renamed, "register")} renamed`,
  ].filter(Boolean);
  const words = only ? `only in ${only}` : parts.join(", ") || "equal in both runs";
  return (
    <>
      <span class="t3 num el" title={words}>
        {words}
      </span>
      {s?.onRequest && (
        <span class="badge el" title={ON_REQUEST}>
          compiled on request
        </span>
      )}
      {difference?.truncated && (
        <span class="badge mov" title={short(difference.truncated, 300)}>
          ◆ cut
        </span>
      )}
    </>
  );
}

function Missing({ id }: { id: string; artifact: Artifact | undefined }) {
  const key = textKey(id);
  const target = targetOf(key);
  const job = compiling.value.get(target);
  const problem = (job?.state === "error" ? job.error : null) ?? problemOf(key) ?? failedText(key);
  if (job?.state === "running")
    return (
      <div class="state">
        <span class="t2" role="status">
          {job.progress}
        </span>
      </div>
    );
  if (problem)
    return <Failed problem={problem} retry={() => (job ? compile(target) : askAgain(key))} />;
  const s = sourceOf(key);
  if (s && s.a && s.b) return <div class="state">Loading the text</div>;
  const side = id === key ? "" : ` in ${id.slice(-2, -1)}`;
  return (
    <div class="state">
      <span>
        {isOwn(id)
          ? `No line of the program was recorded${side}.`
          : `Not recorded${side}${target ? ` for ${target}` : ""}.`}
      </span>
      {model.compile(id) && (
        <button type="button" class="btn sm" onClick={() => compile(target)}>
          Compile for {target}
        </button>
      )}
    </div>
  );
}

const Progress = ({ id }: { id: string }) => (
  <Compilation target={ofTarget(id)} cancel={cancelCompile} />
);

export const model: SourcesModel = {
  columns: () => [...columns.value.keys()],
  artifact: find,
  offers,
  toggle,
  linked,
  numbers: (id) => texts.value.get(id)?.numbers,
  signs: (id) => texts.value.get(id)?.signs,
  lightsWhat,
  nodes: nodesOfLine,
  Text,
  Missing,
  compile: (id) =>
    !isOwn(id) && canCompile.value && scope.value ? () => compile(ofTarget(id)) : null,
  isComing: (id) => compiling.value.get(ofTarget(id))?.state === "running",
  Progress,
  Notes,
};
