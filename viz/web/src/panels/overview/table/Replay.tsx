/** The kernels of the run on the GPU of this browser, beside the times that were recorded. */
import {
  canReplayHere,
  cancelReplay,
  noGpu,
  replayed,
  replayHere,
  replaying,
  replayText,
  totalsOf,
  type Replayed,
} from "../../../parts/run/everyKernel";
import { asksConsent, gpuName } from "../../../parts/run/here";
import { Consent } from "../../../parts/run/Consent";
import { figureOf } from "../../../parts/ratio";
import { Go } from "../../../parts/Go";
import { count, micros, plural, short } from "../../../state/format";
import { kernelAt } from "../../../state/link/links";
import { CopyButton } from "../../../ui/code/copy";
import { list, overviewLink } from "../data/link";
import { FEW_KERNELS, kernels } from "../data/store";
import { CapturedSteps } from "./CapturedSteps";

/** Runs all kernels whose compilation is in the run, the heaviest first. */
export function replayAll(): void {
  const recorded = kernels.peek().filter(({ context }) => context >= 0);
  void replayHere(
    recorded.map(({ context, name, launches, spread }) => ({
      ...{ context, name, launches },
      median: spread?.median ?? null,
    })),
  );
}

export function Replay() {
  const now = replaying.value;
  const all = replayed.value;
  if (!canReplayHere.value || !kernels.value.length) return null;
  return (
    <section class="ov-sec" data-region="On your GPU" aria-label="On your GPU">
      <div class="ov-h">
        <h3>On your GPU</h3>
        <span class="t3 el">{gpuName.value}</span>
        <span class="sp" />
        {now && asksConsent.value ? (
          <Consent />
        ) : now ? (
          <>
            <span class="t2 num el" role="status">
              {count(now.at)} of {count(now.of)} {now.said}
            </span>
            <button type="button" class="link" onClick={() => cancelReplay()}>
              Cancel
            </button>
          </>
        ) : (
          <button
            type="button"
            class="link"
            title="Runs each kernel on the GPU of this browser, compares what it computes, and times it"
            onClick={replayAll}
          >
            {all.length ? "Run all again" : "Run all kernels here"}
          </button>
        )}
        {!now && all.length > 0 && <CopyButton text={replayText(all)} what="results as text" />}
      </div>
      {all.length > 0 ? (
        <Results all={all} />
      ) : noGpu.value ? (
        <p class="wb-note cdel" role="alert">
          {noGpu.value.what}. {noGpu.value.hint}
        </p>
      ) : (
        <p class="wb-note">
          Compares the results and times of this run with those on this machine. Nothing is installed, and
          nothing is sent.
        </p>
      )}
      <CapturedSteps />
    </section>
  );
}

function Results({ all }: { all: readonly Replayed[] }) {
  const { recorded, here, equal, differs, failed } = totalsOf(all);
  const parts = [
    `${plural(equal, "kernel")} equal`,
    differs ? `${count(differs)} different` : "",
    failed ? `${count(failed)} not run` : "",
  ];
  return (
    <>
      <table class="compared num replay" aria-label="Kernels on this GPU">
        <thead>
          <tr>
            <th>Kernel</th>
            <th class="r">Launches</th>
            <th class="r">Recorded</th>
            <th class="r">Here</th>
            <th class="r">Ratio</th>
            <th>Result</th>
          </tr>
        </thead>
        <tbody>
          {listed(all).map((one) => (
            <Row key={one.of.context} one={one} />
          ))}
        </tbody>
        <tfoot>
          <tr class="b">
            <td>{parts.filter(Boolean).join(", ")}</td>
            <td />
            <td class="r">{recorded > 0 && micros(recorded)}</td>
            <td class="r">{here > 0 && micros(here)}</td>
            <td class="r">{recorded > 0 && figureOf(here / recorded)}</td>
            <td />
          </tr>
        </tfoot>
      </table>
      {all.length > FEW_KERNELS && (
        <div class="ov-more">
          <button
            type="button"
            class="link num"
            onClick={() => list({ all: !overviewLink.peek().all })}
          >
            {overviewLink.value.all
              ? `Show the first ${FEW_KERNELS}`
              : `Show ${count(all.length - FEW_KERNELS)} more`}
          </button>
        </div>
      )}
    </>
  );
}

/** What is not equal first; of many the first few, like the kernels above. */
function listed(all: readonly Replayed[]): readonly Replayed[] {
  const wrong = all.filter(({ result }) => !result?.equal);
  const ordered = [...wrong, ...all.filter(({ result }) => result?.equal)];
  return overviewLink.value.all ? ordered : ordered.slice(0, Math.max(FEW_KERNELS, wrong.length));
}

function Row({ one: { of, result, problem } }: { one: Replayed }) {
  const said = problem ? problem.what : result?.equal ? "✓ equal" : "≠ differs";
  const tint = problem ? "t2" : result?.equal ? "cadd" : "cdel";
  return (
    <tr>
      <td class="mono el">
        <Go to={kernelAt(of.context)} class="link plain el" title={short(of.name, 300)}>
          {short(of.name, 60)}
        </Go>
      </td>
      <td class="r">{count(of.launches)}</td>
      <td class="r">{of.median === null ? "" : micros(of.median)}</td>
      <td class="r">{result && micros(result.median)}</td>
      <td class="r">{result && of.median ? figureOf(result.median / of.median) : ""}</td>
      <td class={`${tint} el`} title={problem?.hint ?? result?.detail}>
        {short(said, 80)}
      </td>
    </tr>
  );
}
