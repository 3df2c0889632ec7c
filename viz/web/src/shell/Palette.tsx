/** Ctrl-K: every command, and what the search of the run finds. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Highlight } from "../ui/Highlight";
import { Icon } from "../ui/Icon";
import { useModal } from "../ui/over/useModal";
import { enabled } from "../parts/command";
import { commands, moreCommands } from "./commands";
import type { SearchResult } from "../data/messages/search";
import { findInRun, type Hit, type HitGroup } from "../parts/search/find";
import { ranked, wordsOf } from "../parts/search/rank";
import { SearchBox } from "../parts/search/query";
import { count } from "../state/format";
import { keyCaps } from "./keys";
import { overlay } from "../state/state";

export function Palette() {
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const keepInside = useModal(frame);
  const box = useMemo(() => new SearchBox(), []);
  useEffect(() => box.start(), []);
  const query = box.query.value;
  const result = box.result.value;
  const groups = useMemo(() => findAll(query, result), [query, result]);
  const flat = groups.flatMap((g) => g.hits);
  const chosen = Math.min(at, flat.length - 1);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [chosen, query]);
  const close = (): void => void (overlay.value = null);
  const pick = (entry: Hit | undefined): void => {
    if (!entry) return;
    close();
    entry.open();
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
        ref={frame}
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
              box.query.value = e.currentTarget.value;
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
          {!flat.length && (
            <div class="state" role="status">
              {result && !result.truncated ? "No results. Try part of a name." : "Searching"}
            </div>
          )}
          {groups.map((g) => (
            <div key={g.name} role="group" aria-label={g.name}>
              <div class="grp">
                {g.name}
                {g.total > g.hits.length && (
                  <span class="num">
                    {" "}
                    {g.hits.length} of {count(g.total)}
                  </span>
                )}
              </div>
              {g.hits.map((entry) => {
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
                    <span class="el" title={entry.title}>
                      <Highlight text={entry.title} query={query} />
                    </span>
                    <span class="sp" />
                    <span class="t3 mono el">{entry.detail}</span>
                    {keysOf(entry)
                      .slice(0, 1)
                      .map((key) => (
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

/** Rows of a group; the navigator's search lists more of them. */
const PER_GROUP = 8;

/** What the search of the run finds, and commands; without a query commands only. */
function findAll(query: string, result: SearchResult | null): HitGroup[] {
  const run = findInRun(query, result);
  const all = [
    ...run.map((g) => ({ ...g, hits: g.hits.slice(0, PER_GROUP) })),
    commandGroup(query),
  ];
  return all.filter((g) => g.total);
}

const keysOf = (hit: Hit): readonly string[] =>
  commands.find((c) => c.id === hit.key && c.run === hit.open)?.keys ?? [];

/** The commands that can be given now, best first; without a query all of them. */
function commandGroup(query: string): HitGroup {
  const all = [...commands, ...moreCommands(query)]
    .filter((c) => enabled(c) && c.id !== "palette" && c.id !== "escape")
    .map((c) => ({ key: c.id, title: c.title, detail: "", open: c.run }));
  const words = wordsOf(query);
  const hits = words.length ? ranked(all, words) : all;
  return { name: "Commands", hits, total: hits.length };
}
