/** Where we are, what the step did, and how it is shown. */
import { openContext } from "../../state/actions";
import { count, short } from "../../state/format";
import {
  currentKernel,
  currentRow,
  currentStep,
  rows,
  step,
  stepCount,
  unreadable,
} from "../../state/state";
import { stage } from "../../state/stage";
import { compiling } from "../../parts/kernel/kernel";
import { choices, chosen, showPasses, type Choice } from "../../parts/kernel/passes";
import { graphLink, setMode, setScope, type Mode } from "./link";
import { canChoose, CHOICE } from "./targets";
import { Icon } from "../../ui/Icon";
import { Menu, MenuItem } from "../../ui/over/Menu";

const MODES: [Mode, string][] = [
  ["side", "Side by side"],
  ["merged", "Merged"],
  ["text", "Text"],
];

export function Header() {
  const row = currentRow.value;
  const parent = currentKernel.value ?? (row ? rows.value[row.parent] : undefined);
  const at = currentStep.value;
  const all = graphLink.value.scope === "all";
  return (
    <div class="ph" data-region="Step">
      <nav class="crumb" aria-label="Where">
        {parent && (
          <>
            <button
              type="button"
              class="link plain t2 el"
              title={short(parent.name, 1000)}
              onClick={() => void openContext(parent.row)}
            >
              {short(parent.name)}
            </button>
            <span class="t3">/</span>
          </>
        )}
        <b class="el" title={row ? short(row.name, 1000) : undefined}>
          {row ? short(row.name) : rows.value.length > 0 && "No pass"}
        </b>
        {row && !unreadable.value && (
          <>
            <span class="t3">/</span>
            <span class="num nw">
              {step.value === 0 ? "input" : `step ${count(step.value)}`}{" "}
              <span class="t3">of {count(stepCount.value)}</span>
            </span>
          </>
        )}
      </nav>
      {at && !unreadable.value && (
        <>
          <Badge kind="del" sign="−" n={at.removed.length} word="removed" />
          <Badge kind="add" sign="+" n={at.added.length} word="added" />
          <Badge kind="mov" sign="◆" n={at.moved.length} word="moved" />
        </>
      )}
      <span class="sp" />
      <PassesFor />
      <span class="seg" role="group" aria-label="Scope">
        <button
          type="button"
          aria-pressed={!all}
          title="Nodes around the change (A)"
          onClick={() => setScope("change")}
        >
          <span class="xwide">Around change</span>
          <span class="xnarrow">Near</span>
        </button>
        <button
          type="button"
          aria-pressed={all}
          title="All nodes (A)"
          onClick={() => setScope("all")}
        >
          All
        </button>
      </span>
      <span class="seg" role="group" aria-label="Diff view">
        {MODES.map(([mode, name]) => (
          <button
            type="button"
            key={mode}
            aria-pressed={graphLink.value.mode === mode}
            onClick={() => graphLink.value.mode !== mode && setMode(mode)}
          >
            {mode === "side" ? (
              <>
                <span class="xwide">{name}</span>
                <span class="xnarrow">Side</span>
              </>
            ) : (
              name
            )}
          </button>
        ))}
      </span>
      <button
        type="button"
        class="btn sm ico quiet wide"
        aria-label="Fit the graph"
        title="Fit the graph (0)"
        disabled={graphLink.value.mode === "text"}
        onClick={() => stage.value?.fit()}
      >
        <Icon name="fit" />
      </button>
    </div>
  );
}

/** For which target the passes are, and a choice of the others. */
function PassesFor() {
  const now = chosen.value;
  if (!now || !canChoose()) return null;
  return (
    <Menu
      id={CHOICE}
      label={`Passes for ${now.target}`}
      class="btn sm quiet passes-for"
      title="The passes that the program ran, or those for another target (Shift T)"
      button={
        <>
          <span class="xwide t2">for</span> <span class="mono">{short(now.target)}</span>
          <Icon name="down" />
        </>
      }
    >
      {(close) =>
        choices.value.map((c) => (
          <MenuItem
            key={c.own ? "" : c.target}
            ticked={c === now}
            hint={hintOf(c)}
            onClick={() => {
              close();
              if (c !== now) showPasses(c);
            }}
          >
            Passes for <span class="mono">{short(c.target)}</span>
          </MenuItem>
        ))
      }
    </Menu>
  );
}

function hintOf(c: Choice): string {
  if (c.own) return "of the program";
  if (c.root) return c.root.status === "error" ? "failed" : "compiled here";
  return compiling.value.get(c.target)?.state === "running" ? "compiling" : "compile";
}

function Badge(p: { kind: "del" | "add" | "mov"; sign: string; n: number; word: string }) {
  if (!p.n) return null;
  return (
    <span class={`badge num ${p.kind}`} aria-label={`${count(p.n)} ${p.word}`}>
      {p.sign}
      {count(p.n)}
      <span class="xwide"> {p.word}</span>
    </span>
  );
}
