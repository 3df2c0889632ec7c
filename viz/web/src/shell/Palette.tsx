/** Ctrl-K: every command, and what the search of the run finds. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Highlight } from "../ui/Highlight";
import { Icon } from "../ui/Icon";
import { useModal } from "../ui/over/useModal";
import { enabled, isOn, type Command } from "../parts/command";
import { commands, moreCommands } from "./commands";
import { giveCommand } from "./give";
import { isOffered, pages } from "./panels";
import type { SearchResult } from "../data/messages/search";
import { findInRun, type Hit, type HitGroup } from "../parts/search/find";
import { ranked, wordsOf } from "../parts/search/rank";
import { SearchBox } from "../parts/search/query";
import { count } from "../state/format";
import { keyCaps } from "./keys";
import { data } from "../state/actions";
import { can, overlay, rows, view } from "../state/state";

export function Palette() {
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const keepInside = useModal(frame);
  const box = useMemo(() => new SearchBox(), []);
  useEffect(() => box.start(), []);
  const query = box.query.value;
  const result = box.result.value;
  // Hits are rows of the run, which may come later than the answer.
  const groups = useMemo(() => findAll(query, result), [query, result, rows.value]);
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
                    <span class="t3 mono el">
                      {[entry.under, entry.detail].filter(Boolean).join(", ")}
                    </span>
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

const keysOf = (hit: Hit): readonly string[] => commands.find((c) => c.id === hit.key)?.keys ?? [];

/** Commands that a palette would only give to itself. */
const NOT_LISTED = ["palette", "escape"];

/**
 * The commands of all views, best first, those of the present one before others that answer as well;
 * without a query those of the present view alone.
 */
function commandGroup(query: string): HitGroup {
  const { page } = view.peek();
  const words = wordsOf(query);
  const all = [...commands, ...moreCommands(query)].filter((c) => !NOT_LISTED.includes(c.id));
  const here = all.filter(enabled);
  const others = words.length ? all.filter((c) => !isOn(c, page) && isListed(c)) : [];
  const entries = [...here, ...others].map((c) => ({
    command: c,
    title: c.title,
    detail: `${c.words ?? ""} ${c.group}`,
  }));
  const best = words.length ? ranked(entries, words) : entries;
  const hits = best.map(({ command: c }) => ({
    key: c.id,
    title: c.title,
    detail: isOn(c, page) ? "" : `in ${titleOf(c)}`,
    open: () => giveCommand(c),
  }));
  return { name: "Commands", hits, total: hits.length };
}

/** A file can do only some things: there, what cannot be done now is left out, and what belongs to a page
 * that it has nothing for; and everywhere what would end nothing. */
const isListed = (c: Command): boolean =>
  can(c.needs) &&
  (c.pages ?? []).every(isOffered) &&
  ((data().server !== null && !c.ends) || (c.when?.() ?? true));

const titleOf = (c: Command): string =>
  pages.find(({ page }) => page === c.pages?.[0])?.title ?? "another view";
