/** The filters as chips: what is on shows its value and goes off with one click. */
import { useState } from "preact/hooks";
import { go } from "../../state/actions";
import { count } from "../../state/format";
import { changedOnly } from "../../state/prefs";
import { bundle, firings, ruleName, view } from "../../state/state";
import { Icon } from "../../ui/Icon";
import { Menu, MenuItem } from "../../ui/over/Menu";
import { slotName } from "../../parts/slotName";

export function FilterChips() {
  const v = view.value;
  return (
    <div class="chips" role="group" aria-label="Filters">
      <button
        type="button"
        class={changedOnly.value ? "chip on" : "chip"}
        aria-pressed={changedOnly.value}
        title="Fold passes that changed nothing"
        onClick={() => (changedOnly.value = !changedOnly.value)}
      >
        Changed
      </button>
      {v.rule !== null ? (
        <OnChip what="Rule" text={ruleName(v.rule)} off={() => go({ rule: null })} />
      ) : (
        <Choice
          what="Rule"
          items={() =>
            [...firings.value].map(([rule, steps]) => ({
              key: String(rule),
              text: ruleName(rule),
              hint: count(steps.length),
              pick: () => go({ rule }),
            }))
          }
        />
      )}
      {v.op !== null ? (
        <OnChip what="Op" text={v.op} off={() => go({ op: null })} />
      ) : (
        <Choice
          what="Op"
          items={() =>
            [...(bundle.value?.ops ?? [])]
              .sort()
              .map((op) => ({ key: op, text: op, hint: "", pick: () => go({ op }) }))
          }
        />
      )}
      {v.node !== null ? (
        <OnChip what="Node" text={slotName(v.node)} off={() => go({ node: null })} />
      ) : (
        <Menu label="Filter by node" class="chip" button="Node" disabled={!bundle.value}>
          {(close) =>
            v.slot === null ? (
              <div class="note">Select a node in the graph first, then press F or choose Node.</div>
            ) : (
              <MenuItem
                onClick={() => {
                  close();
                  go({ node: v.slot });
                }}
              >
                Only steps that touch {slotName(v.slot)}
              </MenuItem>
            )
          }
        </Menu>
      )}
    </div>
  );
}

/** Where there is no room for the value, its kind stands for it. */
function OnChip({ what, text, off }: { what: string; text: string; off: () => void }) {
  return (
    <button
      type="button"
      class="chip on off"
      aria-label={`Remove the filter ${text}`}
      title={`Only ${text}. Click to remove the filter.`}
      onClick={off}
    >
      <span class="el mono wide">{text}</span>
      <span class="narrow">{what}</span>
      <Icon name="close" />
    </button>
  );
}

interface Item {
  /** Two rules may have one name. */
  key: string;
  text: string;
  hint: string;
  pick: () => void;
}

function Choice({ what, items }: { what: string; items: () => Item[] }) {
  return (
    <Menu
      label={`Filter by ${what.toLowerCase()}`}
      class="chip"
      button={what}
      disabled={!bundle.value}
    >
      {(close) => <ChoiceList what={what} items={items()} close={close} />}
    </Menu>
  );
}

function ChoiceList({ what, items, close }: { what: string; items: Item[]; close: () => void }) {
  const [text, setText] = useState("");
  const shown = items.filter((i) => i.text.toLowerCase().includes(text.toLowerCase()));
  return (
    <>
      {items.length > 8 && (
        <label class="field">
          <Icon name="search" />
          <input
            aria-label={`Find a ${what.toLowerCase()}`}
            placeholder={`${what} of this pass`}
            onInput={(e) => setText(e.currentTarget.value)}
          />
        </label>
      )}
      {shown.map((i) => (
        <MenuItem
          key={i.key}
          hint={i.hint}
          onClick={() => {
            close();
            i.pick();
          }}
        >
          <span class="mono">{i.text}</span>
        </MenuItem>
      ))}
      {!shown.length && <div class="note">None in this pass.</div>}
    </>
  );
}
