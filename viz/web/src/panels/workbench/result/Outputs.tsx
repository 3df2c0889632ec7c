/** Whether both compute the same: the error as figures and as a picture, and other inputs. */
import { useState } from "preact/hooks";
import { count } from "../../../state/format";
import type { BenchInput, Workbench } from "../../../data/messages/trials/workbench";
import { BrokenBy } from "../../../parts/check/BrokenBy";
import { kernel } from "../../../parts/kernel/kernel";
import { bench } from "../data/bench";
import { ErrorPicture } from "./ErrorPicture";
import { equalWords, errorWords, inputWord, value, verdict } from "./words";

export function Outputs() {
  const found = bench.value?.result ?? null;
  const wrong = found?.inputs.find((input) => verdict(input) === false);
  const both = found?.inputs.find((input) => bothWrong(input) && !EXTREME.has(input.kind));
  const bad = wrong ?? both;
  const first = found?.inputs[0];
  return (
    <section class="card wb-outputs" aria-label="Outputs">
      <div class="ph">
        <h3>Outputs</h3>
        <span class="sp" />
        {first && (
          <>
            <span class={bad ? "sig del" : "sig add"} aria-hidden="true">
              {bad ? "≠" : "✓"}
            </span>
            <span class="el" title={bad && wordsOf(bad)}>
              {wrong
                ? `differ: ${wrong.title}`
                : both
                  ? `both wrong: ${both.title}`
                  : equalWords(first)}
            </span>
          </>
        )}
      </div>
      {bad && <Blame />}
      {found ? <Shown key={bench.value!.at} found={found} /> : <p class="wb-note">Not run yet.</p>}
    </section>
  );
}

/** The way to the step that is to blame; nothing for a text of the user's own, which has no steps. */
function Blame() {
  const { how } = bench.value!;
  if (how.source !== null || how.skip.length || !kernel.value) return null;
  return (
    <div class="wb-blame">
      <BrokenBy wide how={how} kernel={kernel.value.context} />
    </div>
  );
}

/** Kinds on which rules may change the result, by what they assume (docs/check.md). */
const EXTREME: ReadonlySet<string> = new Set(["subnormals", "specials"]);

/** Whether the original is wrong already, and the edited kernel no less: no change is to blame. */
const bothWrong = (input: BenchInput): boolean =>
  input.original === false && input.edited === false;

function Shown({ found }: { found: Workbench }) {
  const [cell, pick] = useState<number | null>(null);
  const { outputs: o, picture: p } = found;
  const at = cell === null ? -1 : p.cell.indexOf(cell);
  const chosen = at >= 0;
  const same = p.cell.length === 0;
  const usual = found.inputs.some((input) => bothWrong(input) && !EXTREME.has(input.kind));
  const place = chosen ? [Math.floor(p.at[at]! / p.columns), p.at[at]! % p.columns] : o.at;
  return (
    <>
      <div class="wb-errors">
        <ErrorPicture picture={p} cell={cell} pick={pick} />
        <dl class="kv num">
          <dt>Compared</dt>
          <dd>{count(o.compared)}</dd>
          <dt>Identical</dt>
          <dd>
            {count(o.identical)} <span class="t3">({share(o.identical, o.compared)})</span>
          </dd>
          <dt>Max error</dt>
          <dd>{errorWords(o.ulps, o.error)}</dd>
          <dt>{chosen ? "Element" : "Worst at"}</dt>
          <dd class="mono">{same ? "–" : `[${place.join(", ")}]`}</dd>
          <dt>Original</dt>
          <dd class="mono">{same ? "–" : value(chosen ? p.original[at]! : o.original)}</dd>
          <dt>Edited</dt>
          <dd class="mono">{same ? "–" : value(chosen ? p.edited[at]! : o.edited)}</dd>
        </dl>
      </div>
      <p class="t3 small wb-caption">
        data{o.output} as {count(p.rows)} × {count(p.columns)}
        {same ? ": no element differs" : "; darker is a larger difference"}
        {p.down * p.across > 1 && `, each cell the largest of ${count(p.down * p.across)}`}
        {p.more > 0 && `; ${count(p.more)} further cells differ less`}
      </p>
      <table class="num wb-inputs">
        <thead>
          <tr>
            <th>Inputs</th>
            <th class="r">Max ulp</th>
            <th class="r" aria-label="Result" />
          </tr>
        </thead>
        <tbody>
          {found.inputs.map((input) => (
            <Input key={input.kind} input={input} usual={usual} />
          ))}
        </tbody>
      </table>
    </>
  );
}

const MARKS = { "✓": "add", "~": "mov", "≠": "del" } as const;

/** `usual`: both are wrong on usual inputs, too. */
function Input({ input, usual }: { input: BenchInput; usual: boolean }) {
  const is = verdict(input);
  const mark = bothWrong(input) ? (EXTREME.has(input.kind) && !usual ? "~" : "≠") : is ? "✓" : "≠";
  return (
    <tr title={wordsOf(input)}>
      <td>{input.title}</td>
      <td class="r">{inputWord(input)}</td>
      <td class="r">
        {is !== null && (
          <span class={`sig ${MARKS[mark]}`} role="img" aria-label={wordsOf(input)}>
            {mark}
          </span>
        )}
      </td>
    </tr>
  );
}

/** The verdict of an input as a sentence. */
function wordsOf(input: BenchInput): string {
  if (input.same === null) return input.why;
  const same = input.same ? "Both agree" : "The two differ";
  if (input.edited === null)
    return `${same}. Not compared with the reference${input.why && `: ${input.why}`}`;
  const words = { true: "agrees with", false: "differs from" } as const;
  return (
    `${same}. The original ${words[`${input.original ?? false}`]} the reference, ` +
    `the edited kernel ${words[`${input.edited}`]} it`
  );
}

const share = (n: number, all: number): string => {
  const percent = (100 * n) / Math.max(1, all);
  return n === all ? "100%" : `${Math.min(99.9, percent).toFixed(1)}%`;
};
