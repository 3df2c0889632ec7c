/** The text of the target: original, edited or their difference, at the full height. */
import { useEffect, useRef } from "preact/hooks";
import { count, plural, short } from "../../../state/format";
import { TabText } from "../../../ui/TabText";
import { onTabs } from "../../../parts/arrows";
import { kindName, kindOf, targetOf } from "../../../parts/kernel/columns";
import { canCompile, compiling } from "../../../parts/kernel/kernel";
import { compilesUnasked } from "../../../ui/code/since";
import { Missing } from "../../../parts/sources/Missing";
import { SourceText } from "../../../parts/source/SourceText";
import { DiffPane } from "../../../parts/source/DiffPane";
import { editOf, isOpening, lineOf } from "../../../parts/run/edits";
import { factText, tellingFacts } from "../../../parts/source/facts";
import { CopyButton } from "../../../ui/code/copy";
import { bench, isStale, state } from "../data/bench";
import { goWorkbench, TEXTS, workbenchLink, type Shown } from "../data/link";
import { artifact, askFor, column, columns, compilesFor, whyNot } from "../data/where";
import { both, canEdit, changedText, changes, editText, made, showText, waits } from "./texts";

const WORDS: Readonly<Record<Shown, string>> = {
  original: "Original",
  edited: "Edited",
  difference: "Difference",
};
const ORDER: readonly Shown[] = ["original", "edited", "difference"];

export function TextCard() {
  const key = column.value;
  const shown = workbenchLink.value.text;
  const strip = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const tab = strip.current?.querySelector("[aria-selected=true]");
    tab?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [key, columns.value]);
  return (
    <section class="card wb-text" data-region="Text" aria-label="Text of the kernel">
      <div class="ph">
        <div class="tabs" role="tablist" aria-label="Texts" ref={strip} onKeyDown={onTabs}>
          {columns.value.map((one) => (
            <button
              type="button"
              class="tab"
              role="tab"
              key={one}
              aria-selected={one === key}
              tabIndex={one === key ? 0 : -1}
              onClick={() => goWorkbench({ kind: kindOf(one) })}
            >
              <TabText text={kindName(kindOf(one))} />
            </button>
          ))}
        </div>
        <span class="sp" />
        <span class="seg" role="group" aria-label="Which text">
          {ORDER.filter((one) => TEXTS.includes(one)).map((one) => (
            <button
              type="button"
              key={one}
              aria-pressed={one === shown}
              disabled={key === null}
              onClick={() => showText(one)}
            >
              {WORDS[one]}
            </button>
          ))}
        </span>
      </div>
      <div class="wb-body">
        <Body shown={shown} />
      </div>
      <Foot />
    </section>
  );
}

function Body({ shown }: { shown: Shown }) {
  const key = column.value;
  const found = artifact.value;
  if (key === null)
    return (
      <div class="state">{whyNot.value || "No text of this kernel is known for the target."}</div>
    );
  const target = targetOf(key);
  const waits = compilesUnasked.value === false && !compilesFor(target);
  if (!found && waits && canCompile(target) && !compiling.value.has(target))
    return (
      <div class="state">
        <span>This text was not recorded.</span>
        <button type="button" class="btn sm" onClick={() => askFor(target)}>
          Compile for {short(target, 40)}
        </button>
      </div>
    );
  if (!found || found.error)
    return (
      <div class="col">
        <Missing id={key} artifact={found} />
      </div>
    );
  const texts = both.value;
  const now = made.value;
  if (shown === "difference")
    return texts ? (
      <DiffPane edit={texts} />
    ) : (
      <div class="state">
        {now?.state === "making"
          ? "Compiling the kernel as it is changed."
          : "Nothing is changed yet. Edit the text, or change the optimizations or rules."}
      </div>
    );
  const edit = editOf(key);
  if (shown === "edited" && !edit && now?.state === "making")
    return (
      <div class="state" role="status">
        Compiling the kernel as it is changed.
      </div>
    );
  if (shown === "edited" && !edit && now?.state === "error")
    return (
      <div class="state" role="alert">
        <b>{now.error.what}</b>
        <span class="mono">{now.error.where}</span>
        <span>{now.error.hint}</span>
      </div>
    );
  const other = shown === "edited" && !edit ? changedText.value : null;
  return (
    <div class="col" key={key}>
      {other ? (
        <SourceText
          key="made"
          artifact={{ ...found, text: other.text, facts: other.facts, lines: [], origins: [] }}
          brief
        />
      ) : (
        <SourceText key="own" artifact={found} original={shown === "original"} brief />
      )}
    </div>
  );
}

/** What came of the text; the way to edit it. */
function Foot() {
  const key = column.value;
  const s = state.value;
  const edit = key === null ? undefined : editOf(key);
  const problem = edit?.problem ?? (s.kind === "error" ? s.error : null);
  const ran = bench.value?.result;
  const line = lineOf(problem);
  const { added, removed } = changes.value;
  return (
    <div class="row wb-foot t2 small" role="status">
      {s.kind === "running" ? (
        <span class="el">{s.progress}</span>
      ) : problem ? (
        <>
          <span class="cdel b">!</span>
          <span class="el cdel" title={`${problem.what} ${problem.hint}`}>
            {line !== null && `Line ${count(line + 1)}: `}
            {short(problem.what, 300)}
          </span>
        </>
      ) : ran && !isStale.value ? (
        <>
          <span class="cadd b">✓</span>
          <span class="nw">Compiled and run on {short(ran.device, 24)}</span>
          <span class="t3 el num">
            {tellingFacts(ran.edited.facts).slice(0, 4).map(factText).join(" · ")}
          </span>
        </>
      ) : (
        <span class="t3 el">{edit
            ? "Not run yet: press Ctrl Enter"
            : made.value
              ? "As compiled with what is changed"
              : "As compiled"}</span>
      )}
      <span class="sp" />
      {added + removed > 0 && (
        <>
          <span class="badge add" title={`${plural(added, "line")} added`}>
            +{count(added)}
          </span>
          <span class="badge del" title={`${plural(removed, "line")} removed`}>
            −{count(removed)}
          </span>
        </>
      )}
      {key !== null && canEdit() && (
        <button
          type="button"
          class="btn sm quiet"
          title="Edit this text (E)"
          disabled={isOpening(key) || waits.value}
          onClick={editText}
        >
          {isOpening(key) || waits.value ? "Compiling" : "Edit"}
        </button>
      )}
      {artifact.value && key !== null && (
        <CopyButton
          text={edit?.text ?? artifact.value.text}
          what={`${kindName(kindOf(key))} source`}
        />
      )}
    </div>
  );
}
