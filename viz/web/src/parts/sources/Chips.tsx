/** Which sources stand side by side: a chip each, and a menu of those that have none. */
import { plural } from "../../state/format";
import { Icon } from "../../ui/Icon";
import { Menu, MenuItem } from "../../ui/over/Menu";
import { kindName, kindOf, targetOf } from "../kernel/columns";
import { nameOf } from "./Column";
import type { SourcesModel } from "./model";

/** Chips besides those of the columns that are shown. */
const SPARE = 1;

export function Chips({ model }: { model: SourcesModel }) {
  const offers = model.offers();
  const spare = offers.filter(({ shown }) => !shown).slice(0, SPARE);
  const chips = offers.filter((one) => one.shown || spare.includes(one));
  const rest = offers.filter((one) => !chips.includes(one));
  return (
    <span class="src-chips" role="group" aria-label="Sources to show">
      {chips.map(({ key, hint, shown }) => (
        <button
          type="button"
          key={key}
          class={shown ? "chip on" : "chip"}
          aria-pressed={shown}
          aria-label={nameOf(key)}
          title={hint ? `${nameOf(key)}: ${hint}` : nameOf(key)}
          onClick={() => model.toggle(key)}
        >
          {kindName(kindOf(key))}
          {targetOf(key) && <small class="mono">{targetOf(key)}</small>}
        </button>
      ))}
      {rest.length > 0 && (
        <Menu
          label="Further sources"
          class="chip more num"
          button={
            <>
              {plural(rest.length, "more", "more")}
              <Icon name="down" />
            </>
          }
        >
          {(close) =>
            rest.map(({ key, hint }) => (
              <MenuItem
                key={key}
                hint={hint}
                onClick={() => {
                  close();
                  model.toggle(key);
                }}
              >
                {kindName(kindOf(key))} <span class="mono t3">{targetOf(key)}</span>
              </MenuItem>
            ))
          }
        </Menu>
      )}
    </span>
  );
}
