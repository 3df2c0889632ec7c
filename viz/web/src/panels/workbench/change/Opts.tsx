/** The optimisations of the kernel: on, off, and which others apply; and rules that are left out. */
import { useState } from "preact/hooks";
import { short } from "../../../state/format";
import { ruleNames } from "../../../state/state";
import { Icon } from "../../../ui/Icon";
import { Menu, MenuItem } from "../../../ui/over/Menu";
import { goWorkbench } from "../data/link";
import { choices, edited, whyNot } from "../data/where";
import { SearchButton, SearchSaid } from "./SearchRow";
import { addOpt, asking, isReset, known, optRows, optsError, resetOpts, toggleOpt } from "./opts";

const PART = /^([A-Z]+)\((.*)\)$/s;
const MOST = 100;

/** "UPCAST(0, 4)" -> ["UPCAST", "axis 0, 4"]. */
export function wordsOf(opt: string): [string, string] {
  const [, name = opt, rest = ""] = PART.exec(opt) ?? [];
  const parts = rest.split(",").map((part) => part.trim());
  if (name === "TC") return [name, `choice ${parts[0]}`];
  if (name === "SWAP") return [name, `axes ${parts.join(", ")}`];
  const [axis, amount] = parts;
  if (axis === undefined || axis === "None") return [name, ""];
  return [name, `axis ${axis}, ${amount === "0" ? "all" : (amount ?? "")}`];
}

export function Opts() {
  const list = optRows.value;
  const problem = optsError.value;
  const fixed = edited.value !== null;
  return (
    <section class="card wb-opts" aria-label="Optimizations">
      <div class="ph">
        <h3>Optimizations</h3>
        <span class="sp" />
        <Add disabled={fixed} />
      </div>
      {fixed && <p class="wb-note">The edited text was made with these. Discard it to change them.</p>}
      <ul class="wb-list">
        {list.map((row, i) => {
          const [name, words] = wordsOf(row.opt);
          return (
            <li key={`${row.opt} ${i}`}>
              <label class="wb-opt" title={row.why || row.opt}>
                <input
                  type="checkbox"
                  checked={row.on}
                  disabled={fixed}
                  onChange={() => toggleOpt(i)}
                />
                <span class={row.on ? "mono b" : "mono t3"}>{short(name, 12)}</span>
                <span class={row.on ? "el" : "el t3"}>{short(words, 40)}</span>
                {row.why && <span class="badge mov">does not apply</span>}
              </label>
            </li>
          );
        })}
        {!list.length && (
          <li class="wb-note">
            {problem
              ? `${problem.what}. ${problem.hint}`
              : known.value
                ? "No optimization is applied."
                : asking.value
                  ? "Looking for optimizations"
                  : whyNot.value || "Known once the kernel is compiled here."}
          </li>
        )}
      </ul>
      <RulesOff disabled={fixed} />
      <div class="row wb-foot">
        <SearchButton />
        <span class="sp" />
        <button type="button" class="btn sm" disabled={isReset.value || fixed} onClick={resetOpts}>
          Reset
        </button>
      </div>
      <SearchSaid idle={isReset.value ? "Chosen by the compiler" : "Changed by you"} />
    </section>
  );
}

function Add({ disabled }: { disabled: boolean }) {
  const legal = known.value?.legal ?? [];
  return (
    <Menu
      label="Add an optimization"
      class="btn sm quiet"
      disabled={disabled || !legal.length}
      button="+ Add"
    >
      {(close) => (
        <>
          <div class="note">
            Loops left: {sizes(known.value?.outer)} over outputs
            {known.value?.inner.length ? `, ${sizes(known.value.inner)} in reduces` : ""}
          </div>
          {legal.map((opt) => {
            const [name, words] = wordsOf(opt);
            return (
              <MenuItem
                key={opt}
                onClick={() => {
                  close();
                  addOpt(opt);
                }}
                hint={words}
              >
                <span class="mono">{name}</span>
              </MenuItem>
            );
          })}
        </>
      )}
    </Menu>
  );
}

const sizes = (all: readonly number[] = []): string => all.join(", ") || "none";

/** Rules that are left out when the kernel is compiled. */
function RulesOff({ disabled }: { disabled: boolean }) {
  const { skip } = choices.value;
  return (
    <div class="row wrap g4 wb-rules">
      <span class="t2 small">Rules off</span>
      {skip.map((name) => (
        <button
          type="button"
          key={name}
          class="chip on"
          disabled={disabled}
          title={`Use ${short(name)} again`}
          onClick={() => goWorkbench({ skip: skip.filter((n) => n !== name) })}
        >
          <span class="el">{short(name, 40)}</span>
          <Icon name="close" />
        </button>
      ))}
      <Menu label="Leave a rule out" class="btn sm quiet" disabled={disabled} button="+ Rule">
        {(close) => (
          <RuleList
            pick={(name) => {
              close();
              goWorkbench({ skip: [...new Set([...skip, name])] });
            }}
          />
        )}
      </Menu>
    </div>
  );
}

function RuleList({ pick }: { pick: (name: string) => void }) {
  const [text, setText] = useState("");
  const found = ruleNames.value.filter((name) => name.includes(text.trim()));
  return (
    <>
      <label class="field">
        <input
          aria-label="Find a rule"
          placeholder="Name of a rule"
          value={text}
          onInput={(e) => setText(e.currentTarget.value)}
        />
      </label>
      {found.slice(0, MOST).map((name) => (
        <MenuItem key={name} onClick={() => pick(name)}>
          <span class="mono">{short(name, 60)}</span>
        </MenuItem>
      ))}
      {found.length > MOST && <div class="note">{found.length - MOST} more: type a name.</div>}
      {!found.length && <div class="note">No rule of this run has that name.</div>}
    </>
  );
}
