/** `?`: every key, by group, and the switch for single letters. */
import { useRef } from "preact/hooks";
import { useModal } from "../ui/useModal";
import { commands } from "./commands";
import { keyCaps } from "./keys";
import { letterKeys } from "../state/prefs";
import { overlay } from "../state/state";
import { GROUPS } from "../parts/command";

export function KeySheet() {
  const box = useRef<HTMLDivElement>(null);
  const keepInside = useModal(box);
  return (
    <>
      <div class="scrim" onClick={() => (overlay.value = null)} />
      <div
        class="palette sheet"
        role="dialog"
        aria-label="Keys"
        aria-modal="true"
        tabIndex={-1}
        ref={box}
        onKeyDown={keepInside}
      >
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
        <div class="foot">
          <label class="row">
            <input
              type="checkbox"
              checked={letterKeys.value}
              onChange={(e) => (letterKeys.value = e.currentTarget.checked)}
            />
            Single-letter keys
          </label>
          <span class="sp" />
          <kbd>Esc</kbd> closes
        </div>
      </div>
    </>
  );
}
