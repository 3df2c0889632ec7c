/** What is changed in the next variant: rules left out, where to stop, optimisations, target. */
import { useState } from "preact/hooks";
import { short } from "../../state/format";
import { ruleNames, run } from "../../state/state";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/over/Menu";
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

/** One line: what the next variant is, the form behind a button, and the button that compiles it. */
export function VariantForm() {
  const running = isRunning();
  return (
    <>
      <Menu
        label="Change the next variant"
        class="btn sm"
        title="Rules to leave out, where to stop, optimizations, target"
        button={
          <>
            Change
            <Icon name="down" />
          </>
        }
      >
        {(close) => <Fields close={close} />}
      </Menu>
      <button
        type="button"
        class="btn sm quiet"
        disabled={!changesSomething.value}
        title="Change nothing in the next variant"
        onClick={clear}
      >
        Clear
      </button>
      {running ? (
        <button type="button" class="btn sm wi-go" title="Cancel (Esc)" onClick={cancelJob}>
          Cancel
        </button>
      ) : (
        <button
          type="button"
          class="btn sm pri wi-go"
          title={`Compile and run: ${short(wordsOf(asked.value), 300)}`}
          onClick={() => void tryVariant()}
        >
          <Icon name="play" fill />
          Compile and run
        </button>
      )}
    </>
  );
}

function Fields({ close }: { close: () => void }) {
  const spec = asked.value;
  const passes = [...new Set([...passNames.value.values(), spec.inside])].filter(Boolean);
  return (
    <form
      class="wi-form"
      aria-label="The next variant"
      onSubmit={(e) => {
        e.preventDefault();
        close();
        void tryVariant();
      }}
    >
      <span class="t2">Leave out</span>
      <div class="wi-part">
        {spec.skip.map((name) => (
          <button
            type="button"
            class="chip on"
            key={name}
            aria-label={`Use ${short(name, 60)} again`}
            title="Use it again"
            onClick={() => toggleSkip(name)}
          >
            <span class="el mono">{short(name, 60)}</span> ✕
          </button>
        ))}
        <AddRule />
      </div>
      <label for="wi-stop" class="t2">
        Stop after
      </label>
      <div class="wi-part">
        <input
          id="wi-stop"
          type="number"
          min={0}
          max={2147483647}
          placeholder="all"
          value={spec.stop_after ?? ""}
          onInput={(e) => {
            const text = e.currentTarget.value;
            change({ stop_after: text === "" ? null : Math.max(0, Math.floor(Number(text))) });
          }}
        />
        <span class="t2">matches</span>
      </div>
      <label for="wi-inside" class="t2">
        In pass
      </label>
      <select
        id="wi-inside"
        title="Where rules are left out, and matches are counted"
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
      <Opts />
      <label for="wi-target" class="t2">
        Target
      </label>
      <select
        id="wi-target"
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
      <label for="wi-limit" class="t2">
        Time limit
      </label>
      <select
        id="wi-limit"
        value={String(limit.value)}
        onChange={(e) => (limit.value = Number(e.currentTarget.value))}
      >
        {LIMITS.map((s) => (
          <option key={s} value={String(s)}>
            {s < 60 ? `${s} s` : `${s / 60} min`}
          </option>
        ))}
      </select>
      <div class="wi-end">
        <button type="button" class="btn sm" onClick={close}>
          Close
        </button>
        <button type="submit" class="btn sm pri" disabled={isRunning()}>
          Compile and run
        </button>
      </div>
    </form>
  );
}

/** A field for the name of a rule of the run; one that is complete is added. */
function AddRule() {
  const [text, setText] = useState("");
  const names = ruleNames.value;
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
    <>
      <label for="wi-kind" class="t2">
        Optimizations
      </label>
      <div class="wi-part">
        <select
          id="wi-kind"
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
      </div>
    </>
  );
}
