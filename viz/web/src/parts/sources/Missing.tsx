/** In the place of a text that is not here: that it is compiled, or why it is not. */
import type { Artifact } from "../../data/messages/kernel";
import { kindName, kindOf, targetOf } from "../kernel/columns";
import {
  canCompile,
  cancelCompile,
  compile,
  compiling,
  complete,
  kernel,
  progress,
  isWaiting,
} from "../kernel/kernel";
import { PYTHON } from "../kernel/userText";
import { Compilation } from "./Compilation";

/** What is being compiled for a column without a text, in words; null where nothing is. */
export function compilingFor(id: string): string | null {
  const target = targetOf(id);
  const job = compiling.value.get(target);
  if (job?.state === "running") return job.progress || `Compiling for ${target}`;
  return !job && isWaiting(target) ? `Compiling for ${target}` : null;
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

interface MissingProps {
  id: string;
  artifact: Artifact | undefined;
  /** What is above it has the bar and Cancel. */
  headed?: boolean;
}

export function Missing({ id, artifact, headed = false }: MissingProps) {
  const target = targetOf(id);
  const progress = compilingFor(id);
  const job = compiling.value.get(target);
  if (progress !== null)
    return (
      <div class="state">
        <span class="t2" role="status">
          {progress}
        </span>
        {!headed && <Progress id={id} />}
      </div>
    );
  const problem = artifact?.error ?? (job?.state === "error" ? job.error : null);
  if (problem)
    return (
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
    );
  return (
    <div class="state">
      <span>{absent(id)}</span>
      {!artifact && canCompile(target) && (
        <button type="button" class="btn sm" onClick={() => compile(target)}>
          Compile for {target}
        </button>
      )}
    </div>
  );
}

/** The bar of a compilation, and the way to end it where it is of this page. */
export function Progress({ id }: { id: string }) {
  const target = targetOf(id);
  return (
    <Compilation target={target} cancel={compiling.value.has(target) ? cancelCompile : null} />
  );
}
