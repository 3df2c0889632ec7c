/** A pattern held against the graph: drawn with what fits and what does not, and part by part. */
import type { Misfit, Pat, PatternFit, WhyNot } from "../../../../data/messages/rule";
import { layoutPattern } from "../../../../parts/rule/patternLayout";
import { PatternDrawing, type PartState } from "../../../../parts/rule/PatternDrawing";
import { dtypeWords, opWords } from "../../../../parts/rule/patternWords";
import { walkButtons } from "../../../../parts/walkButtons";
import { count, plural, short } from "../../../../state/format";
import { lit } from "../../../../state/stage";
import { goToNode } from "../data/jump";
import { chooser, type Part, partsOf, pathWords } from "../data/parts";
import { nodes, slotNow } from "../data/store";

/** Parts that are listed; the others are drawn. */
const MOST = 16;

interface FitProps {
  answer: WhyNot;
  fit: PatternFit;
  pattern: Pat;
}

export function FitView({ answer, fit, pattern }: FitProps) {
  const parts = partsOf(pattern, fit, answer.node, nodes.value);
  const drawing = layoutPattern(pattern, chooser(fit, answer.node, nodes.value));
  const states = new Map(parts.map((part) => [part.path, part]));
  const fits = parts.filter((part) => part.state === "fits").length;
  const light = (part: Part | undefined): void => {
    const slot = part?.node ? slotNow(part.node) : null;
    lit.value = slot === null ? [] : [slot];
  };
  return (
    <div class="sec">
      <h3>
        Pattern against the graph
        <span class="sp" />
        <span class="num nw">
          {count(fits)} of {plural(parts.length, "part")} {fits === 1 ? "fits" : "fit"}
        </span>
      </h3>
      <div class="pat wide-pat fitted">
        <PatternDrawing
          pattern={pattern}
          drawing={drawing}
          stateOf={(path): PartState => states.get(path)?.state ?? "unreached"}
          onPoint={(n) => light(n ? states.get(n.path) : undefined)}
        />
      </div>
      {fit.misfit && <Difference misfit={fit.misfit} />}
      <ul class="why-parts" aria-label="Parts of the pattern" onKeyDown={walkButtons}>
        {parts.slice(0, MOST).map((part) => (
          <li key={part.path}>
            <State state={part.state} />
            <span class="mono el">
              {part.pat.name !== null && <b class="acc">{short(part.pat.name, 24)} </b>}
              {wanted(part.pat)}
            </span>
            {part.node === null ? (
              <span class="t3">{part.state === "unreached" ? "not looked at" : ""}</span>
            ) : (
              <button
                type="button"
                class="link mono el"
                title="Select this node"
                onPointerEnter={() => light(part)}
                onPointerLeave={() => light(undefined)}
                onFocus={() => light(part)}
                onBlur={() => light(undefined)}
                onClick={() => goToNode(answer.rewrite, part.node!)}
              >
                u{part.node} {nodes.value.titleOf(part.node)}
              </button>
            )}
          </li>
        ))}
        {parts.length > MOST && (
          <li class="t3 small">{plural(parts.length - MOST, "more part")} in the drawing</li>
        )}
      </ul>
      {!fit.installed && fit.why && (
        <p class="t3 small top8">
          The recorded pattern was asked, which has no conditions written in Python: {fit.why}.
        </p>
      )}
    </div>
  );
}

/** What was expected of a node, and what it is. */
function Difference({ misfit }: { misfit: Misfit }) {
  const node = misfit.node;
  const state = useCase(misfit);
  return (
    <>
      <p class="t2 small why-at">
        At {pathWords(misfit.path)}
        {node > 0 && (
          <>
            , <span class="mono">{`u${node} ${short(misfit.text, 120)}`}</span>
          </>
        )}
        : {state}
      </p>
      <div class="why-diff">
        <div>
          <span class="t3 small">Expected</span>
          <b class="mono">{short(misfit.expected, 200)}</b>
        </div>
        <div class="found">
          <span class="small">Found</span>
          <b class="mono">{short(misfit.found, 200)}</b>
        </div>
      </div>
    </>
  );
}

/** What of the node is not as the pattern wants it. */
function useCase(misfit: Misfit): string {
  switch (misfit.kind) {
    case "op":
      return "another op";
    case "dtype":
      return "another dtype";
    case "argument":
      return "another argument";
    case "condition":
      return "a condition of the pattern does not hold";
    case "among":
      return "an op is missing among its sources";
    case "sources":
      return "another number of sources";
    case "name":
      return "the name is bound to another node already";
  }
}

const STATES: Readonly<Record<PartState, readonly [kind: string, text: string, label: string]>> = {
  fits: ["ac", "✓", "fits"],
  fails: ["del", "≠", "does not fit"],
  unreached: ["plain", "·", "not looked at"],
};

function State({ state }: { state: PartState }) {
  const [kind, text, label] = STATES[state];
  return (
    <span class={`sig ${kind}`} role="img" aria-label={label}>
      {text}
    </span>
  );
}

/** "CONST 0", "ADD or MUL, ints": what a part asks for. */
function wanted(pat: Pat): string {
  const ops = opWords(pat.op) || (pat.anyOf?.length ? `one of ${pat.anyOf.length}` : "");
  const more = [pat.arg === null ? "" : short(pat.arg, 24), dtypeWords(pat.dtype)];
  const text = [ops, ...more].filter(Boolean).join(", ");
  return text || (pat.name === null ? "any node" : "");
}
