/** A kernel on an emulated GPU: its text with what each line did, and one warp step by step. */
import type { ComponentChildren } from "preact";
import {
  block,
  canEmulate,
  cancelEmulation,
  chosenDevice,
  device,
  devices,
  emulate,
  emulatedColumn,
  emulation,
  goTo,
  held,
  isOutdated,
  runOn,
  show,
  state,
  stepBy,
  steps,
  wantsEdited,
  warp,
} from "../../parts/emulation/store";
import { nextLine } from "../../parts/emulation/walk";
import { kindName, kindOf } from "../../parts/kernel/columns";
import { kernel } from "../../parts/kernel/kernel";
import { beginEdit, editOf, isOpening, lineOf, showEdit } from "../../parts/source/edits";
import { data } from "../../state/actions";
import { clip, count, plural } from "../../state/format";
import { run } from "../../state/state";
import { Icon } from "../../ui/Icon";
import { Lines } from "./Lines";
import { Registers } from "./Registers";
import { Stops } from "./Stops";

export function Emulator() {
  const s = state.value;
  if (!kernel.value)
    return <div class="state">This pass belongs to no kernel, so there is nothing to emulate.</div>;
  if (!data().server && s.kind !== "done")
    return <div class="state">To emulate this kernel, open the trace with uopviz.</div>;
  if (data().server && !run.value?.targets.length)
    return (
      <div class="state">This trace was not recorded by this compiler: nothing runs it here.</div>
    );
  if (data().server && !devices.value.length)
    return <div class="state">Looking for the devices of this machine</div>;
  return (
    <div class="emulator">
      <Bar />
      {s.kind === "error" && (
        <div class="state" role="alert">
          <b>{s.error.what}</b>
          <span class="mono">{s.error.where}</span>
          {s.text !== null && <Excerpt text={s.text} line={lineOf(s.error)} />}
          <span>{s.error.hint}</span>
        </div>
      )}
      {s.kind === "running" && (
        <div class="state" role="status">
          <span>{s.progress}</span>
          <div class="progress static">
            <i class="any" />
          </div>
        </div>
      )}
      {s.kind === "idle" && (
        <div class="state">
          <span>
            Emulate runs the kernel on random inputs, without a GPU: it counts what each line does,
            checks every access, and keeps each step of one warp.
          </span>
        </div>
      )}
      {s.kind === "done" && (
        <>
          <Said />
          <Stops />
          <div class="split">
            <Lines of={s.result} />
            <Registers walk={s.result.walk} />
          </div>
        </>
      )}
    </div>
  );
}

/** What is emulated, and the steps. */
function Bar() {
  const found = emulation.value;
  return (
    <div class="cb bar" role="toolbar" aria-label="Emulator">
      {data().server ? <How /> : <Held />}
      {found && (
        <>
          <span class="vr" />
          <Step label="To the start" name="first" run={() => goTo(0)} />
          <Step label="Back to the last stop" run={() => runOn(true)}>
            ◀◀
          </Step>
          <Step label="One instruction back (Left)" name="prev" run={() => stepBy(-1)} />
          <Step label="One instruction forward (Right)" name="right" run={() => stepBy(1)} />
          <Step label="On to the next stop (Space)" run={() => runOn()}>
            ▶▶
          </Step>
          <Step label="To the end" name="last" run={() => goTo(found.walk.line.length)} />
        </>
      )}
    </div>
  );
}

/** On which device, of which text, which warp. */
function How() {
  return (
    <>
      <select
        aria-label="Emulated device"
        value={chosenDevice.value ?? ""}
        onChange={(e) => (device.value = e.currentTarget.value)}
      >
        {devices.value.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <Text />
      <NumberField label="Block" value={block.value} set={(n) => (block.value = n)} />
      <NumberField label="Warp" value={warp.value} set={(n) => (warp.value = n)} />
      {state.value.kind === "running" ? (
        <button type="button" class="btn sm" onClick={cancelEmulation}>
          Cancel
        </button>
      ) : (
        <button
          type="button"
          class="btn sm pri"
          title="Emulate the kernel (Shift R)"
          disabled={!canEmulate()}
          onClick={() => void emulate()}
        >
          <Icon name="play" fill />
          Emulate
        </button>
      )}
    </>
  );
}

/** In an exported file: what was emulated before it was exported. */
function Held() {
  const now = emulation.value;
  const at = held.value.findIndex((e) => e === now);
  return (
    <>
      <select
        aria-label="Emulation"
        value={at}
        onChange={(e) => show(held.value[Number(e.currentTarget.value)]!)}
      >
        {held.value.map((e, i) => (
          <option key={i} value={i}>
            {e.device}
            {e.source !== null && ", edited"}
          </option>
        ))}
      </select>
      {now && (
        <span class="t2 num nw">
          block {now.walk.block}, warp {now.walk.warp}
        </span>
      )}
    </>
  );
}

/** Which text is emulated: the compiler's, or what the user has made of it. */
function Text() {
  const column = emulatedColumn.value;
  if (column === null) return null;
  const what = kindName(kindOf(column));
  if (!editOf(column))
    return (
      <button
        type="button"
        class="btn sm quiet"
        title={`Edit the ${what} and emulate it`}
        disabled={isOpening(column)}
        onClick={() => beginEdit(column)}
      >
        {isOpening(column) ? "Compiling" : `Edit ${what}`}
      </button>
    );
  return (
    <>
      <select
        aria-label="Text to emulate"
        value={wantsEdited.value ? "edited" : "compiled"}
        onChange={(e) => (wantsEdited.value = e.currentTarget.value === "edited")}
      >
        <option value="edited">Edited {what}</option>
        <option value="compiled">Compiler's {what}</option>
      </select>
      <button
        type="button"
        class="btn sm quiet"
        title={`Go on editing the ${what}`}
        onClick={() => showEdit(column)}
      >
        Edit
      </button>
    </>
  );
}

const AROUND = 3;

/** The lines of a text around one that is wrong (from 0). */
function Excerpt({ text, line }: { text: string; line: number | null }) {
  if (line === null) return null;
  const from = Math.max(0, line - AROUND);
  const lines = text.split("\n").slice(from, line + AROUND + 1);
  return (
    <pre class="excerpt mono">
      {lines.map((shown, i) => (
        <span key={i} class={from + i === line ? "wrong" : undefined}>
          <span class="no num">{from + i + 1}</span>
          {clip(shown, LONGEST).text || " "}
        </span>
      ))}
    </pre>
  );
}

const LONGEST = 200;

interface StepProps {
  label: string;
  name?: "first" | "prev" | "right" | "last";
  run: () => void;
  children?: ComponentChildren;
}

function Step({ label, name, run, children }: StepProps) {
  return (
    <button type="button" class="btn sm ico quiet" aria-label={label} title={label} onClick={run}>
      {name ? <Icon name={name} /> : children}
    </button>
  );
}

function NumberField(p: { label: string; value: number; set: (value: number) => void }) {
  return (
    <label class="row g4">
      {p.label}
      <input
        type="number"
        min={0}
        value={p.value}
        onChange={(e) => p.set(Math.max(0, Math.floor(e.currentTarget.valueAsNumber || 0)))}
      />
    </label>
  );
}

/** In words: what ended it, where the walk is, what the figures are of. */
function Said() {
  const found = emulation.value;
  if (!found) return null;
  const [done, all] = found.blocks;
  const fault = found.fault ?? found.walk.fault;
  return (
    <div class="said">
      {fault && (
        <div role="alert">
          <span class="sig del">!</span> <b>{fault.what}</b> <span class="mono">{fault.where}</span>{" "}
          <span class="t2">{fault.hint}</span>
        </div>
      )}
      <span class="num nw at" role="status">
        {count(steps.value)} of {plural(found.walk.line.length, "step")}
        {found.walk.more && " kept"}
        {nextLine(found.walk, steps.value) > 0 && `, line ${nextLine(found.walk, steps.value)}`}
      </span>{" "}
      <span class="t2 num">
        {found.source !== null && <span class="badge ac">edited</span>}{" "}
        {plural(found.counters.total, "thread instruction")} in{" "}
        {done === all ? plural(all, "block") : `${count(done)} of ${plural(all, "block")}`} of{" "}
        {plural(
          found.threads.reduce((a, b) => a * b, 1),
          "thread",
        )}{" "}
        ({found.threads.join(" × ")}), on {found.target}
        {found.walk.more && "; the warp goes on behind the last step that is kept"}
      </span>
      {isOutdated.value && (
        <span class="badge mov">◆ the text has changed since: emulate it again</span>
      )}
    </div>
  );
}
