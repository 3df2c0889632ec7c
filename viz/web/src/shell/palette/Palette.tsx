/** Ctrl-K: every command, and passes, kernels, rules and steps by name. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { choices, chosen, showPasses } from "../../parts/kernel/passes";
import { Highlight } from "../../ui/Highlight";
import { Icon } from "../../ui/Icon";
import { useModal } from "../../ui/useModal";
import { go, goStep, openContext, openRewrite } from "../../state/actions";
import { enabled } from "../../parts/command";
import { commands } from "../commands";
import { baseName, count, plural, short } from "../../state/format";
import { keyCaps } from "../keys";
import { search, type Entry, type FindSteps } from "./paletteSearch";
import { firings, overlay, rows, ruleName, rules } from "../../state/state";
import { searchSteps } from "./stepSearch";

export function Palette() {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const keepInside = useModal(box);
  const entries = useMemo(collect, []);
  const groups = useMemo(() => search(entries, query, findSteps), [query]);
  const flat = groups.flatMap((g) => g.entries);
  const chosen = Math.min(at, flat.length - 1);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [chosen, query]);
  const close = (): void => void (overlay.value = null);
  const pick = (entry: Entry | undefined): void => {
    if (!entry) return;
    close();
    entry.run();
  };
  let index = -1;
  return (
    <>
      <div class="scrim" onClick={close} />
      <div
        class="palette"
        role="dialog"
        aria-label="Command palette"
        aria-modal="true"
        ref={box}
        onKeyDown={keepInside}
      >
        <div class="ask">
          <Icon name="search" />
          <input
            role="combobox"
            aria-expanded="true"
            aria-controls="palette-list"
            aria-activedescendant={chosen >= 0 ? `pal-${chosen}` : undefined}
            aria-label="Command, pass, kernel or rule"
            placeholder="Command, pass, kernel or rule"
            spellcheck={false}
            value={query}
            onInput={(e) => {
              setQuery(e.currentTarget.value);
              setAt(0);
            }}
            onKeyDown={(e) => {
              if (e.key === "ArrowDown") setAt((chosen + 1) % Math.max(1, flat.length));
              else if (e.key === "ArrowUp")
                setAt((chosen - 1 + flat.length) % Math.max(1, flat.length));
              else if (e.key === "Enter") pick(flat[chosen]);
              else return;
              e.preventDefault();
            }}
          />
          <kbd>Esc</kbd>
        </div>
        <div class="list" id="palette-list" role="listbox" aria-label="Results" ref={list}>
          {!flat.length && <div class="state">Nothing is called that. Try a part of the name.</div>}
          {groups.map((g) => (
            <div key={g.name} role="group" aria-label={g.name}>
              <div class="grp">
                {g.name}
                {g.total > g.entries.length && (
                  <span class="num">
                    {" "}
                    {g.entries.length} of {count(g.total)}
                  </span>
                )}
              </div>
              {g.entries.map((entry) => {
                index += 1;
                const mine = index;
                return (
                  <div
                    key={mine}
                    id={`pal-${mine}`}
                    class="it"
                    role="option"
                    aria-selected={mine === chosen}
                    onPointerMove={() => mine !== chosen && setAt(mine)}
                    onClick={() => pick(entry)}
                  >
                    <span class="el">
                      <Highlight text={entry.title} query={query} />
                    </span>
                    <span class="sp" />
                    <span class="t3 mono el">{entry.detail}</span>
                    {entry.keys.slice(0, 1).map((key) => (
                      <span class="row g4" key={key}>
                        {keyCaps(key).map((cap) => (
                          <kbd key={cap}>{cap}</kbd>
                        ))}
                      </span>
                    ))}
                  </div>
                );
              })}
            </div>
          ))}
        </div>
      </div>
    </>
  );
}

/** Everything that can be reached now. */
function collect(): Entry[] {
  const out: Entry[] = [];
  for (const c of commands)
    if (enabled(c) && c.id !== "palette" && c.id !== "escape")
      out.push({ group: "Commands", title: c.title, detail: "", keys: c.keys, run: c.run });
  for (const choice of choices.peek())
    if (choice !== chosen.peek())
      out.push({
        group: "Commands",
        title: `Show the passes for ${short(choice.target)}`,
        detail: choice.root ? "" : "compiles the kernel",
        keys: [],
        run: () => showPasses(choice),
      });
  for (const row of rows.peek()) {
    if (row.status === "gone") continue;
    const parent = short(rows.peek()[row.parent]?.name ?? "", 60);
    if (row.kind === "rewrite")
      out.push({
        group: "Passes",
        title: short(row.name),
        detail: `${parent}  ${plural(row.steps, "step")}`,
        keys: [],
        run: () => openRewrite(row.id),
      });
    else
      out.push({
        group: row.label === "kernel" ? "Kernels" : "Contexts",
        title: short(row.name),
        detail: `${short(row.calls, 60)}  ${plural(row.steps, "step")}`.trim(),
        keys: [],
        run: () => void openContext(row.row),
      });
  }
  for (const rule of rules.peek().values())
    out.push({
      group: "Rules",
      title: short(rule.name),
      detail: `${short(baseName(rule.file), 60)}:${rule.line}  ${plural(rule.matches, "match", "matches")}`,
      keys: [],
      run: () => openRule(rule.id),
    });
  return out;
}

const findSteps: FindSteps = (words, most) => {
  const rules = [...firings.peek()].map(([rule, steps]) => ({ name: ruleName(rule), steps }));
  const { best, total } = searchSteps(rules, words, most);
  const entries = best.map(({ step, name }) => ({
    group: "",
    title: `${step} ${name}`,
    detail: "",
    keys: [],
    run: () => goStep(step),
  }));
  return { entries, total };
};

/** Shows the rule in this pass if it fires here; the filter says so either way. */
function openRule(rule: number): void {
  const first = firings.peek().get(rule)?.[0];
  go(first === undefined ? { rule } : { rule, step: first, tab: "step" });
}
