/** What happened, at one glance: what ran and how long, what took it, and from where it came. */
import { Failed } from "../../parts/Failed";
import { kernelPage, rows, run } from "../../state/state";
import { Course } from "./run/Course";
import { Failure } from "./run/Failure";
import { Head } from "./run/Head";
import { KernelView } from "./kernel/KernelView";
import { Kernels } from "./table/Kernels";
import { Lines } from "./run/Lines";
import { Notes } from "./run/Notes";
import { Costs, Problems, RecentRuns } from "./run/Lists";
import { overview, watched } from "./store";

export function OverviewView() {
  if (kernelPage.value !== null) return <KernelView />;
  const o = overview.value;
  const problem = watched.error.value;
  return (
    <main class="ov" aria-label="Overview">
      <Failure />
      <Head />
      <Notes />
      {problem && !o && <Failed problem={problem} retry={watched.retry} />}
      {!problem && !o && (
        <div class="state" role="status">
          Reading what happened
        </div>
      )}
      {o && (
        <>
          <Course />
          <div class="ov-two">
            <div class="ov-main">
              {rows.value.length === 0 && run.value?.live ? (
                <div class="state">Nothing has been compiled yet. What comes appears here.</div>
              ) : (
                <Kernels />
              )}
              <Lines />
            </div>
            <div class="ov-side">
              <Problems />
              <Costs />
              <RecentRuns />
            </div>
          </div>
        </>
      )}
    </main>
  );
}
