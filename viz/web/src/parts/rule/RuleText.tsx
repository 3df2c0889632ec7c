/** What a rule says and where it is written: name, equation, pattern, source. */
import { type ComponentChildren, Fragment } from "preact";
import { useState } from "preact/hooks";
import { clip, count, micros, plural, short } from "../../state/format";
import { currentStep } from "../../state/state";
import type { Rule } from "../../data/messages/rule";
import { compared, ruleToday } from "../../ui/code/since";
import { CodeLines } from "../../ui/code/CodeLines";
import { Icon } from "../../ui/Icon";
import { Clipped, Place } from "../../ui/code/Text";
import { isPass, isRecorded } from "./patternWords";
import { PatternView } from "./PatternView";
import { partsOf, restOfDoc } from "./ruleSource";

interface RuleTextProps {
  rule: Rule;
  /** Whether the current step is a match of it; its bindings are shown then. */
  matched?: boolean;
  /** Behind the name: whether the match is right. */
  state?: ComponentChildren;
  /** In place of how often it matched in the run. */
  counts?: ComponentChildren;
  actions?: ComponentChildren;
}

export function RuleText({ rule, matched = false, state, counts, actions }: RuleTextProps) {
  const rest = restOfDoc(rule);
  const hasPattern = isRecorded(rule.pattern);
  const mayDecline = hasPattern || rule.declines > 0;
  return (
    <>
      <div class="sec">
        <div class="title">
          <h2 class="h">
            <RuleName text={rule.name} />
          </h2>
          {state ?? (rule.group && <span class="badge el">{short(rule.group, 60)}</span>)}
        </div>
        {rule.equation && <Equation rule={rule} matched={matched} />}
        {rest && (
          <div class="doc">
            <Clipped text={rest} limit={500} />
          </div>
        )}
        <div class="counts num">
          {counts ?? `${count(rule.matches)} in the run`}
          {mayDecline && `, ${count(rule.declines)} declined`}
          {!matched && rule.matches > 0 && `, ${micros(rule.us)} in its matches`}
        </div>
        {actions}
      </div>
      {hasPattern && (
        <div class="sec">
          <h3>{matched ? "Bindings" : "Pattern"}</h3>
          <PatternView pattern={rule.pattern} matched={matched} />
        </div>
      )}
      {!isPass(rule) && (
        <div class="sec">
          <h3>
            Rule source
            <span class="sp" />
            <Place
              file={rule.file}
              line={rule.line}
              today={ruleToday(rule.id)?.line || rule.line}
            />
            {rule.file && <Icon name="external" />}
          </h3>
          <Today rule={rule} />
          {rule.source ? (
            <Source rule={rule} />
          ) : (
            <span class="t3">The source was not recorded.</span>
          )}
        </div>
      )}
    </>
  );
}

/** How the rule has changed, where its file no longer says the same at the same place. */
function Today({ rule }: { rule: Rule }) {
  const today = ruleToday(rule.id);
  if (!today) return null;
  const said = {
    moved: `moved since the run, ${compared()} at line ${today.line}`,
    changed: `changed since the run, ${compared()} at line ${today.line}`,
    gone: "gone from its file since the run",
  }[today.state];
  return (
    <p class="small today">
      <span class="badge mov" title="The rule is shown as it was when the program ran">
        ◆ {said}
      </span>
    </p>
  );
}

/** A long name breaks behind its underscores and dots. */
function RuleName({ text }: { text: string }) {
  const { text: shown, cut } = clip(text, 120);
  return (
    <>
      {shown.split(/(?<=[_.])/).map((part, i) => (
        <Fragment key={i}>
          {i > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
      {cut > 0 && <span class="t3"> … {count(cut)} more characters</span>}
    </>
  );
}

/** Lines of a rule's source that are shown at first. */
const FEW_LINES = 24;

/** Without what stands above it already, the pattern and the docstring; these open on demand, as
 * do the later lines of a long one. */
function Source({ rule }: { rule: Rule }) {
  const [whole, showWhole] = useState(false);
  const [long, showLong] = useState(false);
  const { lines, def, doc } = partsOf(rule.source);
  const body = doc[1] < lines.length ? doc[1] : def;
  const last = long ? lines.length : Math.min(lines.length, body + FEW_LINES);
  const parts: [number, number][] = whole
    ? [[0, last]]
    : [
        [def, Math.min(doc[0], last)],
        [doc[1], last],
      ];
  const left = [def > 0 && "decorator", doc[1] > doc[0] && "docstring"].filter(Boolean);
  return (
    <div class="snip">
      {left.length > 0 && (
        <button
          type="button"
          class="link t3 small above"
          aria-expanded={whole}
          onClick={() => showWhole(!whole)}
        >
          {whole ? "Hide" : "Show"} {left.join(" and ")}
        </button>
      )}
      {parts.map(
        ([from, to]) =>
          to > from && (
            <CodeLines
              key={from}
              text={lines.slice(from, to).join("\n")}
              language="python"
              from={rule.sourceLine + from}
              marked={rule.sourceLine + def}
            />
          ),
      )}
      {lines.length > last && (
        <button type="button" class="link t3 small below" onClick={() => showLong(true)}>
          Show {plural(lines.length - last, "more line")}
        </button>
      )}
    </div>
  );
}

/** The equation with the names that the pattern binds set apart. */
function Equation({ rule, matched }: { rule: Rule; matched: boolean }) {
  const names = new Set(matched ? currentStep.value?.binds.map(([name]) => name) : []);
  const { text, cut } = clip(rule.equation, 400);
  const parts = text.split(/([A-Za-z_]\w*|->|→)/);
  return (
    <div class="eq">
      {parts.map((part, i) =>
        names.has(part) ? (
          <span class="v" key={i}>
            {part}
          </span>
        ) : part === "->" || part === "→" ? (
          <span class="ar" key={i}>
            →
          </span>
        ) : (
          part
        ),
      )}
      {cut > 0 && <span class="t3"> … {count(cut)} more characters, below</span>}
    </div>
  );
}
