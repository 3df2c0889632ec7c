/** `?`: the keys that act in the view that is open, in its words, then the others; and what the glyphs mean. */
import { useState } from "preact/hooks";
import { KEY_ROWS, SECTIONS, type Key, type KeyRow } from "../parts/keyTable";
import { isOn, type Command } from "../parts/command";
import type { Page } from "../state/link/view";
import { letterKeys } from "../state/prefs";
import { overlay, view } from "../state/state";
import { Icon } from "../ui/Icon";
import { Sheet } from "../ui/over/Sheet";
import { commands } from "./commands";
import { keyCaps } from "./keys";
import { isOffered, pages } from "./panels";

export function KeySheet() {
  const [query, ask] = useState("");
  const { page } = view.value;
  const title = pages.find((one) => one.page === page)!.title;
  const found = KEY_ROWS.map((row) => ({ row, here: commandsOf(row, page) }))
    .map(({ row, here }) => ({ row, acts: here.length > 0, words: wordsFor(row, here) }))
    .filter(({ row, words }) => answers(query, row, words));
  const here = found.filter((one) => one.acts);
  const others = found.filter((one) => !one.acts);
  return (
    <Sheet label="Keys" class="keys" foot={<Foot />}>
      <div class="ask">
        <h2 class="h">Keys in {title}</h2>
        <label class="field">
          <Icon name="search" />
          <input
            type="search"
            aria-label="Find a key or what it does"
            placeholder="Find a key or what it does"
            spellcheck={false}
            value={query}
            onInput={(e) => ask(e.currentTarget.value)}
          />
        </label>
        <span class="sp" />
        <span class="t2 nw mid">
          {KEY_ROWS.flatMap((row) => row.keys).length} keys, each with one meaning everywhere
        </span>
      </div>
      <div class="list" tabIndex={-1}>
        <div class="cols">
          {SECTIONS.map((section) => {
            const rows = here.filter(({ row }) => row.section === section);
            return (
              rows.length > 0 && (
                <section key={section}>
                  <h3>{section}</h3>
                  {rows.map(({ row, words }) => (
                    <Line key={row.means} row={row} words={words} />
                  ))}
                </section>
              )
            );
          })}
        </div>
        {others.length > 0 && (
          <section class="elsewhere" aria-label="Not here">
            <h3>Not here</h3>
            <div class="cols">
              {others.map(({ row }) => (
                <Line key={row.means} row={row} words={row.means} where={whereOf(row)} />
              ))}
            </div>
          </section>
        )}
        {found.length === 0 && <div class="state">No key does that. Ctrl K finds commands.</div>}
      </div>
    </Sheet>
  );
}

function Line({ row, words, where }: { row: KeyRow; words: string; where?: string }) {
  return (
    <div class="line">
      <span class="row g4">
        {row.keys.length > 4 ? (
          <>
            <Caps name={row.keys[0]} /> … <Caps name={row.keys.at(-1)!} />
          </>
        ) : (
          row.keys.map((key) => <Caps key={key} name={key} />)
        )}
      </span>
      <span>
        {words}
        {where && <span class="t3 small where">{where}</span>}
      </span>
    </div>
  );
}

const Caps = ({ name }: { name: Key }) => (
  <span class="row caps">
    {keyCaps(name).map((cap) => (
      <kbd key={cap}>{cap}</kbd>
    ))}
  </span>
);

function Foot() {
  return (
    <>
      <label class="row">
        <input
          type="checkbox"
          checked={letterKeys.value}
          onChange={(e) => (letterKeys.value = e.currentTarget.checked)}
        />
        Single-letter keys
      </label>
      <button type="button" class="link" onClick={() => (overlay.value = "legend")}>
        What shapes and colours mean
      </button>
      <span class="sp" />
      <span class="mid">Tab, F6 and Alt ← → stay the browser's own</span>
    </>
  );
}

const has = (c: Command, keys: readonly Key[]): boolean =>
  c.keys.some((key) => keys.some((own) => own === key));

/** The commands of a page under the keys of a row, in the order of the keys. */
const commandsOf = (row: KeyRow, page: Page): Command[] =>
  row.keys.flatMap((key) => commands.find((c) => has(c, [key]) && isOn(c, page)) ?? []);

/** In the words of the view, where these are few. */
function wordsFor(row: KeyRow, here: readonly Command[]): string {
  const [first, second] = here;
  if (here.length > 2 || !first) return row.means;
  return second ? `${first.title}; ${second.title.toLowerCase()}` : first.title;
}

/** The views in which a row of keys acts. */
const whereOf = (row: KeyRow): string =>
  pages
    .filter(({ page }) => isOffered(page) && commandsOf(row, page).length > 0)
    .map(({ title }) => title)
    .join(", ");

function answers(query: string, row: KeyRow, words: string): boolean {
  const text = `${words} ${row.means} ${row.keys.join(" ")}`.toLowerCase();
  return query.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
