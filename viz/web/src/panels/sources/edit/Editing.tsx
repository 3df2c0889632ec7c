/** The buttons and the state of a source text that can be edited. */
import { data } from "../../../state/actions";
import { count } from "../../../state/format";
import { kindOf, kindsOfTarget, targetOf } from "../../../parts/kernel/columns";
import {
  beginEdit,
  deviceFor,
  editOf,
  isOpening,
  lineOf,
  revert,
  runEdited,
  type Edit,
} from "./edits";
import { canLaunch, Failed } from "../run/RunBox";

export function EditButtons({ column }: { column: string }) {
  const device = deviceFor(column);
  if (editOf(column))
    return (
      <button
        type="button"
        class="btn sm pri"
        title={`Run this text on ${device} and compare it (Ctrl Enter)`}
        disabled={!canLaunch()}
        onClick={() => runEdited(column)}
      >
        Run edited
      </button>
    );
  if (device === null && !wouldRun(column)) return null;
  return (
    <button
      type="button"
      class="btn sm quiet"
      title={
        device === null
          ? "Open the trace with uopviz to edit this text and run it; a file runs nothing"
          : `Edit this text and run it on ${device} (Shift E)`
      }
      disabled={device === null || isOpening(column)}
      onClick={() => beginEdit(column)}
    >
      {isOpening(column) ? "Compiling" : "Edit"}
    </button>
  );
}

/** Whether an exported file shows a text that a server could run. */
const wouldRun = (column: string): boolean =>
  !data().server &&
  kindOf(column) === "llvm" &&
  kindsOfTarget(targetOf(column)).includes("cpu_asm");

/** In the place of facts, which are of the compiler's text: what differs, or why it did not run. */
export function EditState({ column, edit }: { column: string; edit: Edit }) {
  const { base, text, problem } = edit;
  const line = lineOf(problem);
  return (
    <div class="cb">
      {problem ? (
        <span class="row g4 sp why" role="alert">
          {line !== null && <span class="badge del num">line {count(line + 1)}</span>}
          <Failed error={problem} />
        </span>
      ) : (
        <span class="sp">
          {text === base ? (
            <span class="badge">as compiled</span>
          ) : (
            <span class="badge ac">edited</span>
          )}
        </span>
      )}
      <button
        type="button"
        class="btn sm quiet"
        title="Back to the compiler's text; the edit is dropped"
        onClick={() => revert(column)}
      >
        Revert
      </button>
    </div>
  );
}
