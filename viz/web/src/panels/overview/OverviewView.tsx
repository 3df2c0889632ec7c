/** What happened, at one glance: what ran and how long, what took it, and from where it came. */
import { Failed } from "../../parts/Failed";
import { kernelPage, run } from "../../state/state";
import { Course } from "./run/Course";
import { Failure } from "./run/Failure";
import { Head } from "./run/Head";
import { KernelView } from "./kernel/KernelView";
import { Kernels } from "./table/Kernels";
import { Replay } from "./table/Replay";
import { Lines } from "./run/Lines";
import { Notes } from "./run/Notes";
import { Costs, Problems, RecentRuns } from "./run/Lists";
import { overview, watched } from "./data/store";

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
      {!problem && !o && run.value && (
        <div class="state" role="status">
          Loading the overview
        </div>
      )}
      {o && (
        <>
          <Course />
          <div class="ov-two">
            <div class="ov-main">
              <Kernels />
              <Replay />
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
