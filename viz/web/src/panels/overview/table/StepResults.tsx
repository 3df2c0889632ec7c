/** What came of a captured step on the GPU of this browser: its kernels beside the times that were recorded, and its
 * memory beside the values of the run. */
import type { StepPart } from "../../../webgpu/stepHere";
import { gpuName } from "../../../parts/run/here";
import type { StepOutcome } from "../../../parts/run/steps";
import { figureOf } from "../../../parts/ratio";
import { Go } from "../../../parts/Go";
import { count, micros, plural, short } from "../../../state/format";
import { kernelAt } from "../../../state/link/links";
import { run } from "../../../state/state";
import { CopyButton } from "../../../ui/code/copy";
import { kernels } from "../data/store";

/** Memory and kernels that are listed. */
const MOST = 60;

interface Timed {
  name: string;
  launches: number;
  us: number;
  context: number | undefined;
  /** The median of its launches in the run; null: not known. */
  recorded: number | null;
}

/** The kernels of the step, those that take longest here first. */
function timedOf({ result, contexts }: StepOutcome): Timed[] {
  const medians = new Map(kernels.value.map(({ context, spread }) => [context, spread?.median ?? null]));
  return result.kernels
    .map((one) => {
      const context = contexts.get(one.name);
      return { ...one, context, recorded: context === undefined ? null : (medians.get(context) ?? null) };
    })
    .sort((a, b) => b.launches * b.us - a.launches * a.us);
}

/** Microseconds of all launches in the run, where the medians of all kernels are known. */
const recordedOf = (all: readonly Timed[]): number | null =>
  all.reduce<number | null>(
    (sum, { launches, recorded }) => (sum === null || recorded === null ? null : sum + launches * recorded),
    0,
  );

/** "23 recorded", "2 generated". */
const beginsIn = ({ result: { memory } }: StepOutcome): string =>
  (["recorded", "generated"] as const)
    .map((how) => ({ how, n: memory.filter(({ began }) => began === how).length }))
    .filter(({ n }) => n)
    .map(({ how, n }) => `${count(n)} ${how}`)
    .join(", ");

const number = (x: number): string => (Number.isInteger(x) ? count(x) : x.toPrecision(5));

/** A result of one element, such as a loss. */
const single = ({ size, ended, role }: StepPart): boolean =>
  size === 1 && ended !== null && role === "made in this step";

export function StepResults({ of }: { of: StepOutcome }) {
  const timed = timedOf(of);
  const recorded = recordedOf(timed);
  const { memory } = of.result;
  const singles = memory.flatMap((part, i) => (single(part) ? [{ ...part, i }] : []));
  const telling = memory.flatMap((part, at) => (part.began || part.ended ? [{ part, at }] : []));
  return (
    <div class="step-results">
      <p class="t2 row wrap">
        <span>Begins with values: {beginsIn(of) || "none"}.</span>
        {of.why && <span>Not all are those of the run: {short(of.why, 200)}.</span>}
        {of.varies && <span>Variables have their largest values.</span>}
        {of.edited.length > 0 && (
          <span class="cdel">
            With your text of {of.edited.slice(0, 3).map((name) => short(name, 60)).join(", ")}
            {of.edited.length > 3 && ` and ${count(of.edited.length - 3)} more`}.
          </span>
        )}
        {singles.slice(0, 6).map(({ ended, i }) => (
          <span key={i} class={ended!.equal ? "" : "cdel"}>
            b{i} is {number(ended!.got)}, in the run {number(ended!.wanted)}.
          </span>
        ))}
        <CopyButton text={textOf(of, timed)} what="results of the step as text" />
      </p>
      <table class="compared num replay" aria-label="Kernels of the step">
        <thead>
          <tr>
            <th>Kernel of the step</th>
            <th class="r">Launches</th>
            <th class="r">Recorded</th>
            <th class="r">Here</th>
            <th class="r">Ratio</th>
          </tr>
        </thead>
        <tbody>
          {timed.slice(0, MOST).map((one) => (
            <tr key={one.name}>
              <td class="mono el">
                {one.context === undefined ? (
                  short(one.name, 60)
                ) : (
                  <Go to={kernelAt(one.context)} class="link plain el" title={short(one.name, 300)}>
                    {short(one.name, 60)}
                  </Go>
                )}
              </td>
              <td class="r">{count(one.launches)}</td>
              <td class="r">{one.recorded === null ? "" : micros(one.recorded)}</td>
              <td class="r">{micros(one.us)}</td>
              <td class="r">{one.recorded ? figureOf(one.us / one.recorded) : ""}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr class="b">
            <td>The step as a whole</td>
            <td class="r">{count(of.result.launches)}</td>
            <td class="r">{recorded === null ? "" : micros(recorded)}</td>
            <td class="r">{micros(of.result.median)}</td>
            <td class="r">{recorded ? figureOf(of.result.median / recorded) : ""}</td>
          </tr>
        </tfoot>
      </table>
      <details>
        <summary>
          Memory: what {plural(telling.length, "buffer")} began with and ended as
        </summary>
        <table class="compared num replay" aria-label="Memory of the step">
          <thead>
            <tr>
              <th>Memory</th>
              <th class="role">Role</th>
              <th class="begins">Begins with</th>
              <th class="r">Here</th>
              <th class="r">In the run</th>
              <th>Result</th>
            </tr>
          </thead>
          <tbody>
            {telling.slice(0, MOST).map(({ part, at }) => (
              <Memory key={at} part={part} at={at} />
            ))}
          </tbody>
        </table>
        {telling.length > MOST && <p class="t3">{count(telling.length - MOST)} more are not listed.</p>}
      </details>
    </div>
  );
}

function Memory({ part: { dtype, size, role, began, ended }, at }: { part: StepPart; at: number }) {
  const where = ended && size > 1 ? `Element ${count(ended.at)}, which is furthest off` : undefined;
  return (
    <tr>
      <td class="mono">
        b{at} {short(dtype, 12)}[{count(size)}]
      </td>
      <td class="role">{short(role, 24)}</td>
      <td class="begins">{began && `${began} values`}</td>
      <td class="r" title={where}>
        {ended && number(ended.got)}
      </td>
      <td class="r" title={where}>
        {ended && number(ended.wanted)}
      </td>
      <td class={ended && !ended.equal ? "cdel" : "cadd"}>
        {ended && (ended.equal ? "✓" : "≠")}
        {ended && <span class="said">{ended.equal ? " as in the run" : " differs"}</span>}
      </td>
    </tr>
  );
}

/** All of it as lines of text, to be sent. */
function textOf(of: StepOutcome, timed: readonly Timed[]): string {
  const { result } = of;
  const recorded = recordedOf(timed);
  const apart = result.memory.flatMap(({ ended, dtype, size }, i) =>
    ended
      ? [[`b${i}`, `${dtype}[${size}]`, ended.got, ended.wanted, ended.equal ? "equal" : "DIFFERS"].join("\t")]
      : [],
  );
  return [
    `captured step of ${run.peek()?.file ?? ""} on this browser: ${gpuName.peek()}`,
    navigator.userAgent,
    `${plural(result.launches, "launch", "launches")}: ${micros(result.median)} here, ${recorded === null ? "-" : micros(recorded)} recorded`,
    `begins with values: ${beginsIn(of) || "none"}`,
    ...(of.edited.length ? [`with edited text of: ${of.edited.join(", ")}`] : []),
    `compared with the run: ${said(result.asRecorded)}; with the kernels without optimizations: ${said(result.equal)}`,
    ["kernel", "launches", "recorded", "here"].join("\t"),
    ...timed.map(({ name, launches, recorded: before, us }) =>
      [name, launches, before === null ? "-" : micros(before), micros(us)].join("\t"),
    ),
    ...(apart.length ? [["memory", "type", "here", "in the run", "result"].join("\t"), ...apart] : []),
  ].join("\n");
}

const said = (equal: boolean | null): string =>
  equal === null ? "not compared" : equal ? "equal" : "DIFFERS";
