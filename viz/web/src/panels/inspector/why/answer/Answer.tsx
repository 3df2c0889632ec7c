/** The answer: a sentence, the step that it names, the pattern against the graph, the function. */
import { go } from "../../../../state/actions";
import { count, plural, short } from "../../../../state/format";
import { rewriteRows, rows, ruleName, rules, step, view } from "../../../../state/state";
import type { WhyNot } from "../../../../data/messages/rule";
import { nearestPass } from "../../../../parts/kernel/nearestPass";
import { isRecorded } from "../../../../parts/rule/patternWords";
import { Declined } from "./Declined";
import { FitView } from "./FitView";
import { signOf } from "../data/choices";
import { goToNode } from "../data/jump";
import { slotNow } from "../data/store";
import { EVENT_TITLES, sentence, TITLES } from "./words";
import { WhySign } from "./WhySign";

export function Answer({ answer }: { answer: WhyNot }) {
  const pattern = rules.value.get(answer.rule)?.pattern;
  return (
    <>
      <div class="sec" role="status">
        <div class="row start">
          <WhySign sign={signOf(answer.kind)} />
          <h2 class="h">{TITLES[answer.kind]}</h2>
        </div>
        <p class="doc">{sentence(short(answer.said, 1000))}</p>
        <Tried answer={answer} />
      </div>
      <Event answer={answer} />
      {answer.kind === "not in pass" && <Passes answer={answer} />}
      {answer.kind === "declined" && <Declined answer={answer} />}
      {answer.pattern && pattern && isRecorded(pattern) && (
        <FitView answer={answer} fit={answer.pattern} pattern={pattern} />
      )}
      {answer.unknown && <p class="sec t2">The pattern: {answer.unknown}.</p>}
    </>
  );
}

/** When the rule was tried, and as what the node stood there then. */
function Tried({ answer }: { answer: WhyNot }) {
  const { node, step: tried } = answer;
  if (tried === null) return null;
  const when = tried === 0 ? "before any step" : `after step ${count(tried)}`;
  const shown = slotNow(node) !== null;
  return (
    <p class="t2 small why-tried">
      Tried {when}, as <span class="mono">u{node}</span>.{" "}
      {shown ? null : (
        <button
          type="button"
          class="link"
          title={`The graph at step ${count(step.value)} does not have u${node}`}
          onClick={() => goToNode(answer.rewrite, node, tried)}
        >
          Show the graph {tried === 0 ? "before the first step" : `at step ${count(tried)}`}
        </button>
      )}
    </p>
  );
}

/** The step that the answer names: what fired, came first, made the node or replaced it. */
function Event({ answer }: { answer: WhyNot }) {
  const { by } = answer;
  if (!by) return null;
  const here = by.rewrite === view.value.rewrite;
  const name = by.rule >= 0 ? short(by.name) : "rebuilt with other sources";
  return (
    <div class="sec">
      <h3>{EVENT_TITLES[answer.kind]}</h3>
      <div class="why-event">
        <span class="sig mov num">{count(by.step)}</span>
        <span class="el">
          <b class="mono">{name}</b>
          {!here && <span class="t2"> in {short(by.pass, 60)}</span>}
        </span>
        <button
          type="button"
          class="btn sm"
          onClick={() =>
            here
              ? go({ step: by.step }, "push")
              : go(
                  {
                    ...{ page: "graphs", rewrite: by.rewrite, step: by.step, tab: "step" },
                    ...{ slot: null, uid: answer.node, node: null },
                  },
                  "push",
                )
          }
        >
          Go to step {count(by.step)}
        </button>
      </div>
    </div>
  );
}

/** Passes that have the rule: the one of each name that is nearest to this pass. */
function Passes({ answer }: { answer: WhyNot }) {
  const from = rewriteRows.value.get(answer.rewrite);
  const found = answer.passes.flatMap((name) => {
    const row = nearestPass(rows.value, name, from?.row ?? -1);
    return row ? [row] : [];
  });
  if (!found.length)
    return (
      <p class="sec t2">
        {answer.passes.length
          ? "The passes that have it are not listed in this run."
          : `No pass of this run is known to try ${ruleName(answer.rule)}.`}
      </p>
    );
  return (
    <div class="sec">
      <h3>
        Passes that have it<span class="sp" />
        <span class="num">{count(found.length)}</span>
      </h3>
      <ul class="why-passes">
        {found.map((row) => (
          <li key={row.row} class="row">
            <button
              type="button"
              class="link el"
              onClick={() =>
                go(
                  { page: "graphs", rewrite: row.id, step: null, slot: null, uid: answer.node },
                  "push",
                )
              }
            >
              {short(row.name)}
            </button>
            <span class="sp" />
            <span class="t3 num nw">{plural(row.steps, "step")}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
