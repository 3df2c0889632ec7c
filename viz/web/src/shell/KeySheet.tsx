/** `?`: every key, by group, and the switch for single letters. */
import { commands } from "./commands";
import { keyCaps } from "./keys";
import { letterKeys } from "../state/prefs";
import { GROUPS } from "../parts/command";
import { Sheet } from "../ui/over/Sheet";

export function KeySheet() {
  const foot = (
    <label class="row">
      <input
        type="checkbox"
        checked={letterKeys.value}
        onChange={(e) => (letterKeys.value = e.currentTarget.checked)}
      />
      Single-letter keys
    </label>
  );
  return (
    <Sheet label="Keys" foot={foot}>
      <div class="cols">
        {GROUPS.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            {commands
              .filter((c) => c.group === group && c.keys.length)
              .map((c) => (
                <div class="line" key={c.id}>
                  <span class="row g4">
                    {keyCaps(c.keys[0]!).map((cap) => (
                      <kbd key={cap}>{cap}</kbd>
                    ))}
                  </span>
                  <span>{c.title}</span>
                </div>
              ))}
          </section>
        ))}
      </div>
    </Sheet>
  );
}
