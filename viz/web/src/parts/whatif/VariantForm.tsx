/** What is changed in the next variant: rules left out, where to stop, optimisations, target. */
import { useState } from "preact/hooks";
import { short } from "../../state/format";
import { rules, run } from "../../state/state";
import { Icon } from "../../ui/Icon";
import {
  asked,
  change,
  changesSomething,
  clear,
  limit,
  LIMITS,
  passNames,
  toggleSkip,
  wordsOf,
} from "./asked";
import { cancelJob, isRunning, tryVariant } from "./store";

export function VariantForm() {
  const spec = asked.value;
  const passes = [...new Set([...passNames.value.values(), spec.inside])].filter(Boolean);
  return (
    <form
      class="wi-form"
      aria-label="The next variant"
      onSubmit={(e) => {
        e.preventDefault();
        void tryVariant();
      }}
    >
      <div class="wi-part">
        <span class="t2">Leave out</span>
        {spec.skip.map((name) => (
          <span class="chip on" key={name}>
            <span class="el mono">{short(name, 60)}</span>
            <button
              type="button"
              class="link plain"
              aria-label={`Take ${short(name, 60)} in again`}
              onClick={() => toggleSkip(name)}
            >
              ✕
            </button>
          </span>
        ))}
        <AddRule />
      </div>
      <label class="wi-part">
        <span class="t2">Stop after</span>
        <input
          type="number"
          min={0}
          max={2147483647}
          placeholder="all"
          aria-label="Matches after which nothing matches"
          value={spec.stop_after ?? ""}
          onInput={(e) => {
            const text = e.currentTarget.value;
            change({ stop_after: text === "" ? null : Math.max(0, Math.floor(Number(text))) });
          }}
        />
        <span class="t2">matches</span>
      </label>
      <label class="wi-part">
        <span class="t2">in</span>
        <select
          aria-label="Passes where this holds"
          value={spec.inside}
          onChange={(e) => change({ inside: e.currentTarget.value })}
        >
          <option value="">all passes</option>
          {passes.map((name) => (
            <option key={name} value={name}>
              {short(name, 60)}
            </option>
          ))}
        </select>
      </label>
      <Opts />
      <label class="wi-part">
        <span class="t2">Target</span>
        <select
          aria-label="Target"
          value={spec.target}
          onChange={(e) => change({ target: e.currentTarget.value })}
        >
          <option value="">as recorded</option>
          {(run.value?.targets ?? []).map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label class="wi-part">
        <span class="t2">Limit</span>
        <select
          aria-label="Limit of time"
          value={String(limit.value)}
          onChange={(e) => (limit.value = Number(e.currentTarget.value))}
        >
          {LIMITS.map((s) => (
            <option key={s} value={String(s)}>
              {s < 60 ? `${s} s` : `${s / 60} min`}
            </option>
          ))}
        </select>
      </label>
      <span class="sp" />
      <button
        type="button"
        class="btn sm quiet"
        disabled={!changesSomething.value}
        onClick={clear}
      >
        Clear
      </button>
      {isRunning() ? (
        <button type="button" class="btn sm" onClick={cancelJob}>
          Cancel
        </button>
      ) : (
        <button
          type="submit"
          class="btn sm pri"
          title={`Compile and run: ${short(wordsOf(spec), 300)} (Shift Enter)`}
        >
          <Icon name="play" fill />
          Compile and run
        </button>
      )}
    </form>
  );
}

/** A field for the name of a rule of the run; one that is complete is added. */
function AddRule() {
  const [text, setText] = useState("");
  const names = [...new Set([...rules.value.values()].map((rule) => rule.name))].sort();
  const add = (name: string): void => {
    if (!asked.peek().skip.includes(name)) toggleSkip(name);
    setText("");
  };
  return (
    <>
      <input
        class="mono wi-rule"
        list="wi-rules"
        aria-label="Rule to leave out"
        placeholder="rule"
        spellcheck={false}
        value={text}
        onInput={(e) => {
          const value = e.currentTarget.value;
          setText(value);
          // chosen of the list, not typed up to here
          if (names.includes(value) && (e as InputEvent).inputType !== "insertText") add(value);
        }}
        onKeyDown={(e) => {
          if (e.key !== "Enter" || !text) return;
          e.preventDefault();
          if (names.includes(text)) add(text);
        }}
      />
      <datalist id="wi-rules">
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

function Opts() {
  const { opts } = asked.value;
  const [own, setOwn] = useState(false);
  const kind = opts === null ? "auto" : opts.trim() || own ? "own" : "none";
  return (
    <span class="wi-part">
      <span class="t2">Opts</span>
      <select
        aria-label="Optimizations"
        value={kind}
        onChange={(e) => {
          setOwn(e.currentTarget.value === "own");
          change({ opts: e.currentTarget.value === "auto" ? null : "" });
        }}
      >
        <option value="auto">chosen by the compiler</option>
        <option value="none">none</option>
        <option value="own">these</option>
      </select>
      {kind === "own" && (
        <input
          class="mono wi-opts"
          aria-label="Optimizations, as a list"
          placeholder="UPCAST(0, 4) UNROLL(0, 0)"
          spellcheck={false}
          value={opts ?? ""}
          onInput={(e) => change({ opts: e.currentTarget.value })}
        />
      )}
    </span>
  );
}
