/** The button that searches for the optimisations, its width, and what the search says. */
import { Icon } from "../../../ui/Icon";
import { Menu, MenuItem } from "../../../ui/over/Menu";
import { edited, whyNot } from "../data/where";
import { canSearch, cancelSearch, foundWords, search, searchOpts, width, WIDTHS } from "./search";

export function SearchButton() {
  if (search.value.kind === "running")
    return (
      <button type="button" class="btn sm wb-search" onClick={() => void cancelSearch()}>
        Cancel search
      </button>
    );
  return (
    <span class="row g4">
      <button
        type="button"
        class="btn sm wb-search"
        title="Time many combinations on the device, and put the fastest into the list"
        disabled={!canSearch()}
        onClick={() => void searchOpts()}
      >
        Search, width {width.value}
      </button>
      <Menu
        label={`Width of the search: ${width.value}`}
        class="btn sm quiet"
        disabled={edited.value !== null}
        button={<Icon name="down" />}
      >
        {(close) => (
          <>
            <div class="note">Combinations that each round goes on from</div>
            {WIDTHS.map((n) => (
              <MenuItem
                key={n}
                ticked={n === width.value}
                onClick={() => {
                  close();
                  width.value = n;
                }}
              >
                {n}
              </MenuItem>
            ))}
          </>
        )}
      </Menu>
    </span>
  );
}

/** How far the search is, what it found, or why there is none; `idle` before one. */
export function SearchSaid({ idle }: { idle: string }) {
  const now = search.value;
  const [text, tint] =
    now.kind === "running"
      ? [now.progress, "t2"]
      : now.kind === "found"
        ? [foundWords(now.found, now.ended), "t2"]
        : now.kind === "error"
          ? [`${now.error.what}. ${now.error.hint}`, "cdel"]
          : [whyNot.value ? `${idle}. ${whyNot.value}` : idle, "t3"];
  return (
    <p class={`wb-said small ${tint}`} role="status" title={text}>
      {text}
    </p>
  );
}
