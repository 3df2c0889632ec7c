/** A kernel on an emulated GPU: its text with what each line did, and one warp step by step. */
import type { ComponentChildren } from "preact";
import { nextLine } from "./walk";
import { kernel } from "../../parts/kernel/kernel";
import { data } from "../../state/actions";
import { count, plural } from "../../state/format";
import { run } from "../../state/state";
import { Icon } from "../../ui/Icon";
import { Lines } from "./Lines";
import { Registers } from "./Registers";
import {
  block,
  canEmulate,
  cancelEmulation,
  chosenDevice,
  device,
  devices,
  emulate,
  emulation,
  goTo,
  runOn,
  state,
  stepBy,
  steps,
  warp,
} from "./store";

export function Emulator() {
  const s = state.value;
  if (!kernel.value)
    return <div class="state">This pass belongs to no kernel, so there is nothing to emulate.</div>;
  if (!data().server)
    return <div class="state">To emulate this kernel, open the trace with uopviz.</div>;
  if (!run.value?.targets.length)
    return <div class="state">This trace was not recorded by this compiler: nothing runs it here.</div>;
  if (!devices.value.length) return <div class="state">Looking for the devices of this machine</div>;
  return (
    <div class="emulator">
      <Bar />
      {s.kind === "error" && (
        <div class="state" role="alert">
          <b>{s.error.what}</b>
          <span class="mono">{s.error.where}</span>
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
            Emulate runs the kernel on random inputs, without a GPU: it counts what each line does, checks
            every access, and keeps each step of one warp.
          </span>
        </div>
      )}
      {s.kind === "done" && (
        <>
          <Said />
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
  const running = state.value.kind === "running";
  return (
    <div class="cb bar" role="toolbar" aria-label="Emulator">
      <select
        aria-label="Emulated device"
        value={chosenDevice.value ?? ""}
        onChange={(e) => (device.value = e.currentTarget.value)}
      >
        {devices.value.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <Number label="Block" value={block.value} set={(n) => (block.value = n)} />
      <Number label="Warp" value={warp.value} set={(n) => (warp.value = n)} />
      {running ? (
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
      {found && (
        <>
          <span class="vr" />
          <Step label="To the start" name="first" run={() => goTo(0)} />
          <Step label="Back to the last breakpoint" run={() => runOn(true)}>
            ◀◀
          </Step>
          <Step label="One instruction back (Left)" name="prev" run={() => stepBy(-1)} />
          <Step label="One instruction forward (Right)" name="right" run={() => stepBy(1)} />
          <Step label="On to the next breakpoint (Space)" run={() => runOn()}>
            ▶▶
          </Step>
          <Step label="To the end" name="last" run={() => goTo(found.walk.line.length)} />
          <span class="num nw" role="status">
            {count(steps.value)} of {plural(found.walk.line.length, "step")}
            {found.walk.more && " kept"}
            {nextLine(found.walk, steps.value) > 0 && `, line ${nextLine(found.walk, steps.value)}`}
          </span>
        </>
      )}
    </div>
  );
}

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

function Number(p: { label: string; value: number; set: (value: number) => void }) {
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

/** In words: what ended it, what the figures are of. */
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
      <span class="t2 num">
        {plural(found.counters.total, "thread instruction")} in{" "}
        {done === all ? plural(all, "block") : `${count(done)} of ${plural(all, "block")}`} of{" "}
        {found.threads.join(" × ")} threads, on {found.target}
        {found.walk.more && "; the warp goes on behind the last step that is kept"}
      </span>
    </div>
  );
}
