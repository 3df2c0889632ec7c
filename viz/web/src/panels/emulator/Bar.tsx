/** What is emulated, where in it the reader is, and where the stepping stops. */
import type { Emulation } from "../../data/messages/emulation";
import {
  cancelEmulation,
  device,
  emulateText,
  emulateWarp,
  emulation,
  held,
  show,
  state,
  texts,
  wantsEdited,
} from "../../parts/emulation/store";
import { emulatorLink } from "../../parts/emulation/link";
import { at, goTo, runOn, stepBy } from "../../parts/emulation/stepping";
import { kindName } from "../../parts/kernel/columns";
import { editOf } from "../../parts/run/edits";
import { data } from "../../state/actions";
import { count } from "../../state/format";
import { Icon, type IconName } from "../../ui/Icon";
import { editText } from "./edit";
import { Stops } from "./Stops";

export function Bar() {
  const found = emulation.value;
  return (
    <div class="ebar" role="toolbar" aria-label="Emulator">
      {data().server ? <Asked /> : <Held />}
      {found && <Steps of={found} />}
      {state.value.kind === "running" && found && (
        <span class="row g4" role="status">
          <span class="t2 nw">{state.value.progress}</span>
          <button type="button" class="btn sm" onClick={() => void cancelEmulation()}>
            Cancel
          </button>
        </span>
      )}
      <span class="sp" />
      {found && <Stops walk={found.walk} />}
    </div>
  );
}

/** Which text, block and warp. */
function Asked() {
  const found = emulation.value;
  const [done, all] = found?.blocks ?? [0, 0];
  const threads = found?.threads.reduce((a, b) => a * b, 1) ?? 0;
  const width = found && found.target.startsWith("gfx9") ? 64 : 32;
  const { block, warp } = emulatorLink.value;
  const column = texts.value.find((text) => text.device === device.value)?.column;
  const edited = wantsEdited.value && column !== undefined && editOf(column) !== undefined;
  return (
    <>
      <select
        aria-label="Text to emulate"
        value={`${device.value} ${edited}`}
        onChange={(e) => {
          const text = texts.peek()[e.currentTarget.selectedIndex];
          if (text) emulateText(text);
        }}
      >
        {texts.value.map((text) => (
          <option key={`${text.device} ${text.edited}`} value={`${text.device} ${text.edited}`}>
            {text.title}
            {text.edited && ", edited"}
          </option>
        ))}
      </select>
      <button type="button" class="btn sm quiet" title="Edit this text (E)" onClick={editText}>
        Edit
      </button>
      <NumberField
        label="Block"
        value={block}
        most={all - 1 || done}
        set={(n) => emulateWarp({ block: n })}
      />
      <NumberField
        label="Warp"
        value={warp}
        most={Math.ceil(threads / width) - 1}
        set={(n) => emulateWarp({ warp: n })}
      />
    </>
  );
}

/** In an exported file: what was emulated before it was exported. */
function Held() {
  const now = emulation.value;
  const all = held.value ?? [];
  return (
    <>
      <select
        aria-label="Emulation"
        value={all.findIndex((e) => e === now)}
        onChange={(e) => show(all[Number(e.currentTarget.value)]!)}
      >
        {all.map((e, i) => (
          <option key={i} value={i}>
            {titleOf(e)}
          </option>
        ))}
      </select>
      {now && (
        <span class="t2 num nw">
          Block {count(now.walk.block)}, warp {count(now.walk.warp)}
        </span>
      )}
    </>
  );
}

const titleOf = (e: Emulation): string =>
  `${kindName(e.kind)} ${e.target}${e.source === null ? "" : ", edited"}`;

function Steps({ of }: { of: Emulation }) {
  const last = of.walk.line.length - 1;
  return (
    <>
      <span class="vr" />
      <span class="row g4">
        <Step label="First instruction" icon="first" run={() => goTo(0)} />
        <Step label="Back to the previous stop" icon="back" run={() => runOn(true)} />
        <Step label="Previous instruction (←)" icon="prev" bold run={() => stepBy(-1)} />
        <Step label="Next instruction (→)" icon="right" bold run={() => stepBy(1)} />
        <Step label="On to the next stop (Space)" icon="on" run={() => runOn()} />
        <Step label="Last instruction" icon="last" run={() => goTo(last)} />
      </span>
      <span class="num nw at" role="status">
        <span class="t2">instruction</span> <b>{count(last < 0 ? 0 : at.value + 1)}</b>{" "}
        <span class="t3">of {count(last + 1)}</span>
      </span>
    </>
  );
}

interface StepProps {
  label: string;
  icon: IconName;
  bold?: boolean;
  run: () => void;
}

/** A press of the mouse leaves the focus where it is: Space goes on to the next stop. */
function Step({ label, icon, bold, run }: StepProps) {
  return (
    <button
      type="button"
      class={bold ? "btn ico" : "btn ico quiet"}
      aria-label={label}
      title={label}
      onMouseDown={(e) => e.preventDefault()}
      onClick={run}
    >
      <Icon name={icon} />
    </button>
  );
}

interface NumberProps {
  label: string;
  value: number;
  most: number;
  set: (value: number) => void;
}

function NumberField({ label, value, most, set }: NumberProps) {
  return (
    <label class="row g6 t2" title={most > 0 ? `0 to ${count(most)}` : undefined}>
      {label}
      <input
        type="number"
        class="num"
        min={0}
        value={value}
        onChange={(e) => set(Math.max(0, Math.floor(e.currentTarget.valueAsNumber || 0)))}
      />
    </label>
  );
}
