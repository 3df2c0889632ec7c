/** Files that the page gives to the browser to keep. */
import { computed, signal } from "@preact/signals";
import { asProblem, FIRST_RUN, isAbort, type ExportHow } from "../data/backend";
import { follow } from "../data/jobs";
import type { Exported } from "../data/messages/job";
import { allData, announce, reportProblem } from "./actions";
import { bytes, plural } from "./format";
import { kernelCount, openRuns, run, runName } from "./state";

/** Saves `file` under a name that any system takes. */
export function saveFile(file: Blob, name: string, ending: string): void {
  const address = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = address;
  link.download = `${name.replace(/[^\w.-]+/g, "_")}${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** How far the export is, in the server's words ("40%, passes: 3 of 9"); null while there is none. */
export const exporting = signal<string | null>(null);

/** "values captured of 2 kernels and 1 step, up to 3.1 MB more"; null where the run has none. In the file they
 * are compressed, and then base64, which takes 4 bytes for 3. */
export const capturedWords = computed<string | null>(() => {
  const kept = run.value?.captured;
  const steps = kept?.steps ?? 0;
  if (!kept || (!kept.kernels && !steps)) return null;
  const of = [kept.kernels ? kernelCount(kept.kernels) : "", steps ? plural(steps, "captured step") : ""];
  const more = bytes(Math.ceil((4 * kept.bytes) / 3));
  return `values captured of ${of.filter(Boolean).join(" and ")}, up to ${more} more`;
});

/** Of the whole run, as it is, with the texts of the targets. */
const PLAIN: ExportHow = { kernels: [], redact: false, values: false, passes: false };
let stop = new AbortController();

/** The percentage of `exporting`; "" while there is none yet. */
export function exportPercent(): string {
  return /^\d+%/.exec(exporting.value ?? "")?.[0] ?? "";
}

/** Ends the export that is under way. */
export function cancelExport(): void {
  stop.abort();
}

/** Exports all runs that are open as one file, which opens on their comparison. */
export const saveAllRuns = (how: Partial<ExportHow> = {}): Promise<void> =>
  saveExport(
    how,
    openRuns.peek().map((one) => one.name),
  );

/** Exports the run that is shown, or what `how` says of it, or `runs`, and says what the file does
 * not hold. One at a time. */
export async function saveExport(
  how: Partial<ExportHow> = {},
  [of, ...beside]: readonly string[] = [runName.peek()],
): Promise<void> {
  if (exporting.peek() !== null) {
    announce("An export is running. Cancel it, or wait until it is saved.");
    return;
  }
  const server = allData().of(of ?? FIRST_RUN).server!;
  const name = run.peek()?.name ?? "run";
  const { signal: cancelled } = (stop = new AbortController());
  exporting.value = "";
  announce("Exporting");
  try {
    let job = 0;
    const start = async (): Promise<number> =>
      (job = await server.exportRun({ ...PLAIN, ...how }, beside));
    const told = (text: string): string => (exporting.value = text);
    const { leftOut } = await follow<Exported>(server, start, told, cancelled);
    const file = await server.exportedFile(job, cancelled);
    saveFile(file, name, ".html");
    announce(`The export is saved, ${(file.size / 1e6).toFixed(1)} MB`);
    if (leftOut.length)
      reportProblem({
        what: `The exported file leaves out: ${leftOut.join("; ")}`,
        where: "export",
        hint: "Export one kernel, or use `uopviz export --budget`.",
      });
  } catch (thrown) {
    if (isAbort(thrown)) announce("The export was cancelled");
    else {
      const problem = asProblem(thrown, "export");
      reportProblem(problem);
      announce(`Not exported: ${problem.what}. ${problem.hint}`);
    }
  } finally {
    exporting.value = null;
  }
}
