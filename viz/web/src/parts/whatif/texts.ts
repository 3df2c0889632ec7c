/** Edited source texts as variants: keeps the one that is being edited, and takes one up again. */
import { asProblem } from "../../data/backend";
import { announce, data, reportProblem } from "../../state/actions";
import { columnKey, kindName, kindOf, targetOf } from "../kernel/columns";
import { kernel } from "../kernel/kernel";
import { deviceFor, editAgain, editOf } from "../run/edits";
import { NOTHING } from "./asked";
import { canTry, isRunning, keepVariant } from "./store";

/** Whether the text of a column is one that is edited, and can be run and kept now. */
export const canKeepText = (column: string | null): boolean =>
  column !== null &&
  editOf(column) !== undefined &&
  deviceFor(column) !== null &&
  canTry() &&
  !isRunning();

/** Runs the edited text of a column in turn with the compiler's, and keeps it as a variant. */
export function keepText(column: string): void {
  const [edit, device, k] = [editOf(column), deviceFor(column), kernel.peek()];
  if (!edit || device === null || !k) return;
  const [target, { opts, skip }] = [targetOf(column), edit];
  void keepVariant(
    { ...NOTHING, opts, skip: [...skip], target: target === k.target ? "" : target },
    { kind: kindOf(column), text: edit.text, device },
  );
}

/** Puts the text of a variant into the editor; the column, or null where it cannot be edited here. */
export async function editVariant(number: number): Promise<string | null> {
  const { server } = data();
  if (!server) return null;
  try {
    const { kind, text, target, opts, skip } = await server.whatIf.text(number);
    const column = columnKey({ kind, target });
    if (deviceFor(column) === null) {
      announce(`No device here runs an edited ${kindName(kind)} text for ${target}`);
      return null;
    }
    editAgain(column, text, { opts, skip });
    return column;
  } catch (thrown) {
    const problem = asProblem(thrown, "variants");
    reportProblem(problem);
    announce(`Not edited: ${problem.what}. ${problem.hint}`);
    return null;
  }
}
