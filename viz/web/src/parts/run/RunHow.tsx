/** How the next run goes: on which device, and with which optimisations of the kernel. */
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { lackingHere } from "../../data/browser";
import { data } from "../../state/actions";
import { run } from "../../state/state";
import { Icon } from "../../ui/Icon";
import { Menu, MenuItem } from "../../ui/over/Menu";
import { kernel } from "../kernel/kernel";
import { askGpuName, gpuName, isHere } from "./here";
import { optsWord } from "./runs";

const picked = signal<string | null>(null);
/** The optimisations to apply, as text; null: what the compiler chooses. */
export const runOpts = signal<string | null>(null);

/** The device to run on; null where there is none. */
export function runDevice(): string | null {
  const devices = run.value?.devices ?? [];
  const wanted = picked.value;
  return wanted !== null && devices.includes(wanted) ? wanted : (devices[0] ?? null);
}

/** Why there is none, as a sentence. */
export function whyNoDevice(): string {
  const here = run.value?.browser ? `, or: ${lackingHere()}` : "";
  if (!data().server) return `To run this kernel, open the trace with uopviz${here}`;
  return run.value?.targets.length
    ? `This kernel cannot be run: no supported device on this machine${here}`
    : "This kernel cannot be run: the trace was not recorded by this compiler";
}

export function RunHow() {
  const device = runDevice();
  const opts = runOpts.value;
  return (
    <Menu
      label="Device and optimizations"
      class="btn pri"
      button={
        <>
          {device}
          {opts !== null && <span>{opts.trim() ? "custom opts" : "none"}</span>}
          <Icon name="down" />
        </>
      }
    >
      {(close) => (
        <>
          <Found />
          {(run.value?.devices ?? []).map((name) => (
            <MenuItem
              key={name}
              ticked={name === device}
              hint={isHere(name) ? gpuName.value : ""}
              onClick={() => {
                picked.value = name;
                close();
              }}
            >
              {name}
            </MenuItem>
          ))}
          <div class="note">Optimizations</div>
          {[null, ""].map((choice) => (
            <MenuItem
              key={optsWord(choice)}
              ticked={opts === choice}
              onClick={() => {
                runOpts.value = choice;
                close();
              }}
            >
              {choice === null ? "Chosen by the compiler" : "None"}
            </MenuItem>
          ))}
          {data().server && <Own close={close} />}
        </>
      )}
    </Menu>
  );
}

/** Asks for the name of the GPU once the menu is open: to ask starts it. */
function Found() {
  useEffect(() => {
    if ((run.value?.devices ?? []).some(isHere)) askGpuName();
  }, []);
  return null;
}

/** A text of one's own, which begins with what the compiler chose. */
function Own({ close }: { close: () => void }) {
  const [text, setText] = useState(runOpts.value?.trim() ? runOpts.value : (kernel.value?.opts ?? []).join(" "));
  return (
    <form
      class="row own-opts"
      onSubmit={(e) => {
        e.preventDefault();
        runOpts.value = text;
        close();
      }}
    >
      <label class="field sp">
        <input
          class="mono"
          aria-label="Custom optimizations"
          placeholder="UPCAST(0, 4) UNROLL(0, 0)"
          spellcheck={false}
          value={text}
          onInput={(e) => setText(e.currentTarget.value)}
        />
      </label>
      <button type="submit" class="btn sm">
        Use
      </button>
    </form>
  );
}
