/** Files that the page gives to the browser to keep. */
import { asProblem } from "../data/backend";
import { announce, data, reportProblem } from "./actions";
import { run } from "./state";

/** Saves `file` under a name that any system takes. */
export function saveFile(file: Blob, name: string, ending: string): void {
  const address = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = address;
  link.download = `${name.replace(/[^\w.-]+/g, "_")}${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Exports the run, or these kernels of it, and says what the file does not hold. */
export async function saveExport(kernels: readonly number[], redact = false): Promise<void> {
  announce("Exporting");
  try {
    const { file, leftOut } = await data().server!.exported(kernels, redact);
    saveFile(file, run.peek()?.name ?? "run", ".html");
    const size = `${(file.size / 1e6).toFixed(1)} MB`;
    announce(`The export is saved, ${size}`);
    if (leftOut.length)
      reportProblem({
        what: `The exported file leaves out: ${leftOut.join("; ")}`,
        where: "export",
        hint: "Export one kernel, or use `uopviz export --budget`.",
      });
  } catch (thrown) {
    const problem = asProblem(thrown, "export");
    reportProblem(problem);
    announce(`Not exported: ${problem.what}. ${problem.hint}`);
  }
}
