/** What a search for the wrong step has found: the rule, its match, and what came before and after. */
import { Fragment } from "preact";
import type {
  Bisection,
  Outcome,
  RunBisection,
  TriedKernel,
  WrongPair,
  WrongStep,
} from "../../data/messages/trials/bisection";
import { countsWords, KINDS } from "../../parts/check/marks";
import type { WrongPlace } from "../../parts/check/bisect";
import { count, plural, short } from "../../state/format";
import { Clipped, Place } from "../../ui/code/Text";
import { kernelCount } from "../../state/state";

type Show = (at: WrongPlace) => void;

/** Entries of a list that are named. */
const FEW = 5;

export function KernelAnswer({ found, show }: { found: Bisection; show: Show }) {
  return (
    <>
      <Since found={found} />
      <Blamed found={found} show={show} />
      <Notes notes={found.notes} />
    </>
  );
}

export function RunAnswer({ found, show }: { found: RunBisection; show: Show }) {
  const { differing, undone } = found.steps;
  return (
    <>
      <Since found={found} />
      {grouped(found.found).map(([first, ...others]) => (
        <div key={first.kernel.number}>
          <p class="t3 small mono el">{short(first.kernel.name, 80)}</p>
          <Blamed found={first} show={show} />
          {others.length > 0 && (
            <p class="t2 small">
              The same in {plural(others.length, "other kernel")}:{" "}
              {short(others.map((one) => one.kernel.name).join(", "), 300)}.
            </p>
          )}
        </div>
      ))}
      {undone.slice(0, FEW).map((one) => (
        <p key={one.rewrite}>{short(one.said, 400)}.</p>
      ))}
      {differing.slice(0, FEW).map((one) => (
        <Differing key={`${one.rewrite} ${one.step}`} one={one} show={show} />
      ))}
      {differing.length > FEW && (
        <p class="t3 small">{plural(differing.length - FEW, "more step")} that differ.</p>
      )}
      {!found.wrong && (
        <p>
          No difference was found
          {found.told ? "." : ", but not everything could be judged."}
        </p>
      )}
      <Tried found={found} />
      <Notes notes={found.notes} />
    </>
  );
}

/** Answers that name the same rule or pass, together. */
function grouped(all: readonly Bisection[]): [Bisection, ...Bisection[]][] {
  const groups = new Map<string, [Bisection, ...Bisection[]]>();
  for (const one of all) {
    const step = one.culprit ?? one.failed?.step;
    const rule = step?.match?.rule;
    const key = rule
      ? `${rule.name} ${rule.file}:${rule.line}`
      : (step?.pass ?? one.failed?.pass ?? "");
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return [...groups.values()];
}

const STATES: Record<TriedKernel["state"], (n: number) => string> = {
  agrees: (n) => `${count(n)} ${n === 1 ? "agrees" : "agree"} with the reference`,
  differs: (n) => `${count(n)} ${n === 1 ? "differs" : "differ"}`,
  fails: (n) => `${count(n)} ${n === 1 ? "fails" : "fail"} to compile`,
  unknown: (n) => `${count(n)} could not be judged`,
};

/** What was tried, and on what. */
function Tried({ found }: { found: RunBisection }) {
  const { kernels, steps, inputs } = found;
  const states = (Object.keys(STATES) as TriedKernel["state"][]).map((state) => ({
    state,
    n: kernels.filter((k) => k.state === state).length,
  }));
  const said = states.filter(({ n }) => n > 0).map(({ state, n }) => STATES[state](n));
  const checked = KINDS.reduce((sum, kind) => sum + steps.counts[kind], 0);
  return (
    <p class="t2 small">
      {kernels.length > 0 && `${kernelCount(kernels.length)}: ${said.join(", ")}`}
      {kernels.some((k) => k.state === "agrees") &&
        ` on ${short(inputs, 200)}; equal there, not proved`}
      {kernels.length > 0 && ". "}
      {checked > 0 && `${plural(checked, "other step")} checked: ${countsWords(steps.counts)}.`}
    </p>
  );
}

/** A step that differs by itself: its rule, and the values for which it does. */
function Differing({ one, show }: { one: WrongPair; show: Show }) {
  return (
    <dl class="kv">
      <dt>Rule</dt>
      <dd>
        <b class="mono">{short(one.rule.name, 80)}</b>{" "}
        <Place file={one.rule.file} line={one.rule.line} />
        {one.rule.equation && (
          <div class="t2 mono">
            <Clipped text={one.rule.equation} limit={200} />
          </div>
        )}
      </dd>
      <dt>Step</dt>
      <dd>
        <button type="button" class="link" onClick={() => show(one)}>
          {count(one.step)} of {short(one.pass, 60)}
        </button>
        : {short(one.verdict.how, 200)}
      </dd>
      {one.verdict.values?.slice(0, FEW).map(([name, value]) => (
        <Fragment key={name}>
          <dt>{short(name, 40)}</dt>
          <dd class="mono">
            <Clipped text={value} limit={120} />
          </dd>
        </Fragment>
      ))}
      <dt>Before</dt>
      <dd class="mono">
        <Clipped text={one.verdict.before ?? ""} limit={120} />
      </dd>
      <dt>After</dt>
      <dd class="mono cdel">
        <Clipped text={one.verdict.after ?? ""} limit={120} />
      </dd>
    </dl>
  );
}

function Since({ found }: { found: Bisection | RunBisection }) {
  if (!found.changed.length) return null;
  return (
    <p class="t2 small">
      The code on disk is compiled; since the run{" "}
      {short(found.changed.map((one) => one.said || one.name).join("; "), 300)}.
    </p>
  );
}

function Notes({ notes }: { notes: readonly string[] }) {
  return notes.map((note, i) => (
    <p key={i} class="t2 small">
      {short(note, 300)}.
    </p>
  ));
}

function Blamed({ found, show }: { found: Bisection; show: Show }) {
  const { failed } = found;
  const culprit = found.culprit ?? failed?.step ?? null;
  return (
    <>
      {failed && (
        <p>
          Pass <b>{short(failed.pass, 80)}</b> fails: {short(failed.error.what, 400)}.
        </p>
      )}
      {culprit ? (
        <Culprit found={found} culprit={culprit} show={show} />
      ) : (
        !failed && <p>{nothing(found)}</p>
      )}
    </>
  );
}

/** Where no step is to blame. */
function nothing({ outcome, device }: Bisection): string {
  if (!outcome) return "Unknown: the compiled kernel cannot be run.";
  const where = device ? ` on ${device}` : "";
  return outcome.equal
    ? `No difference was found: the kernel${where}, compiled with the code on disk, agrees with the reference on the inputs that were tried. That is no proof.`
    : `The result${where} differs, and no step is to blame.`;
}

function Culprit(p: { found: Bisection; culprit: WrongStep; show: Show }) {
  const { culprit } = p;
  const { match } = culprit;
  const at = p.found.inTrace;
  return (
    <>
      <dl class="kv">
        <dt>{match ? "Rule" : "Pass"}</dt>
        <dd>
          {match ? (
            <>
              <b class="mono">{short(match.rule.name, 80)}</b>{" "}
              <Place file={match.rule.file} line={match.rule.line} />
            </>
          ) : (
            <>
              <b>{short(culprit.pass, 80)}</b>
              {culprit.candidates.length > 0
                ? `, by one of ${short(culprit.candidates.join(", "), 300)}`
                : ", outside of any rule"}
            </>
          )}
        </dd>
        {match && (
          <>
            <dt>Step</dt>
            <dd>
              {at ? (
                <button type="button" class="link" onClick={() => p.show(at)}>
                  {count(match.step)} of {short(culprit.pass, 80)}
                </button>
              ) : (
                `${count(match.step)} of ${short(culprit.pass, 80)}, which the trace does not have`
              )}
            </dd>
          </>
        )}
        {p.found.culprit && (
          <>
            <Result name="Before" outcome={culprit.before} />
            <Result name="After" outcome={culprit.after} />
          </>
        )}
      </dl>
      {match && at === null && (
        <div class="why-diff top8">
          <Graph name="Before" lines={match.before} />
          <Graph name="After" lines={match.after} />
        </div>
      )}
      {culprit.leftOut && (
        <p class="t3 small">Found by leaving rules out: the states there cannot be run.</p>
      )}
    </>
  );
}

function Result({ name, outcome }: { name: string; outcome: Outcome | null }) {
  return (
    <>
      <dt>{name}</dt>
      <dd class={outcome === null || outcome.equal ? undefined : "cdel"}>
        <Clipped text={outcome?.said || "not known"} limit={300} />
      </dd>
    </>
  );
}

function Graph({ name, lines }: { name: string; lines: readonly string[] }) {
  return (
    <div>
      <span class="small t2">{name}</span>
      <pre class="mono small">
        <Clipped text={lines.join("\n")} limit={1500} />
      </pre>
    </div>
  );
}
