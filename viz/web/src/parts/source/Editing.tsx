/** The buttons and the state of a source text that can be edited. */
import { data } from "../../state/actions";
import { count } from "../../state/format";
import { run } from "../../state/state";
import { kindOf, targetOf } from "../kernel/columns";
import {
  beginEdit,
  deviceFor,
  editOf,
  isOpening,
  lineOf,
  missingFor,
  revert,
  runEdited,
  type Edit,
  editAgain,
  versions,
  wideEdit,
} from "../run/edits";
import { sameChoices } from "../kernel/versions";
import { canEmulateColumn, emulateColumn } from "../emulation/store";
import { canLaunch, Failed } from "../run/RunBox";
import { MenuItem, Menu } from "../../ui/over/Menu";
import { wideColumn } from "../kernel/room";
import { openVariants } from "../whatif/variants";
import { canKeepText, keepText } from "../whatif/texts";


export function EditButtons({ column }: { column: string }) {
  const device = deviceFor(column);
  if (editOf(column))
    return (
      <>
        {canEmulateColumn(column) && (
          <button
            type="button"
            class="btn sm quiet"
            title="Emulate this text: what each line does, step by step"
            onClick={() => emulateColumn(column)}
          >
            Emulate
          </button>
        )}
        <button
          type="button"
          class={wideEdit.value === column ? "btn sm pri" : "btn sm"}
          title={`Run this text on ${device} and compare it (Ctrl Enter)`}
          disabled={!canLaunch()}
          onClick={() => runEdited(column)}
        >
          Run edited
        </button>
      </>
    );
  const missing = missingFor(column);
  if (device === null && !missing && !wouldRun(column)) return null;
  return (
    <button
      type="button"
      class="btn sm quiet"
      title={
        missing
          ? `Cannot be edited and run here: ${missing}`
          : device === null
            ? "An exported file cannot run code. Open the trace with uopviz to edit and run this source."
            : `Edit this text and run it on ${device} (E)`
      }
      disabled={device === null || isOpening(column)}
      onClick={() => beginEdit(column)}
    >
      {isOpening(column) ? "Compiling" : "Edit"}
    </button>
  );
}

/** Whether an exported file shows a text that a server could run. */
const wouldRun = (column: string): boolean => {
  const family = run.value?.families[targetOf(column)];
  const edited = run.value?.dialect?.edited ?? {};
  return !data().server && family !== undefined && edited[kindOf(column)] === family;
};

interface EditStateProps {
  column: string;
  edit: Edit;
  /** It has the full height already, and what went wrong is said below it. */
  brief?: boolean;
}

/** In the place of facts, which are of the compiler's text: what differs, or why it did not run. */
export function EditState({ column, edit, brief }: EditStateProps) {
  const { base, text, problem } = edit;
  const line = lineOf(problem);
  return (
    <div class="cb">
      {problem && !brief ? (
        <span class="row g4 sp el unrun" role="alert">
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
      <Versions column={column} edit={edit} />
      {!brief && (
        <button
          type="button"
          class="btn sm quiet"
          disabled={!canKeepText(column)}
          title={`Run this text in turn with the compiler's, and keep it in the table of variants`}
          aria-label="Keep as variant"
          onClick={() => {
            openVariants();
            keepText(column);
          }}
        >
          Keep
        </button>
      )}
      {!brief && (
        <button
          type="button"
          class="btn sm quiet"
          aria-pressed={wideEdit.value === column}
          onClick={() => (wideColumn.value = wideEdit.value === column ? null : column)}
        >
          Full height
        </button>
      )}
      <button
        type="button"
        class="btn sm quiet"
        title="Back to the compiler's text. The versions stay."
        onClick={() => revert(column)}
      >
        Discard
      </button>
    </div>
  );
}

const STATES = { draft: "not run", ran: "ran", failed: "failed" } as const;

/** Earlier texts, the newest first; each can be taken up again. */
function Versions({ column, edit }: { column: string; edit: Edit }) {
  const all = versions(column);
  return (
    <Menu label="Versions of this text" class="btn sm quiet" button="Versions">
      {(close) => (
        <>
          {[...all].reverse().map((v) => (
            <MenuItem
              key={v.at}
              ticked={v.text === edit.text && sameChoices(v, edit)}
              hint={STATES[v.state]}
              onClick={() => {
                close();
                editAgain(column, v.text, v);
              }}
            >
              {new Date(v.at).toLocaleTimeString("en", { hour12: false })}
            </MenuItem>
          ))}
          <MenuItem
            ticked={edit.text === edit.base}
            onClick={() => {
              close();
              editAgain(column, edit.base, edit);
            }}
          >
            Compiler's text
          </MenuItem>
        </>
      )}
    </Menu>
  );
}
