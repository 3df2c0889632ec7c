/** A kernel on an emulated GPU: conflicts and lines at the left; lanes and banks at the right. */
import {
  canEmulate,
  cancelEmulation,
  devices,
  emulate,
  emulation,
  held,
  isOutdated,
  state,
} from "../../parts/emulation/store";
import { kernel, progress } from "../../parts/kernel/kernel";
import { lineOf } from "../../parts/run/edits";
import { data } from "../../state/actions";
import { clip, count } from "../../state/format";
import { run } from "../../state/state";
import type { Emulation } from "../../data/messages/emulation";
import { Banks } from "./warp/Banks";
import { Bar } from "./Bar";
import { Conflicts } from "./text/Conflicts";
import { Lanes } from "./warp/Lanes";
import { Lines } from "./text/Lines";

export function EmulatorView() {
  const found = emulation.value;
  const s = state.value;
  const why = found || s.kind === "error" ? "" : whyNothing();
  return (
    <main class="emulator" aria-label="Emulator" data-region="Emulator">
      {!why && <Bar />}
      {why ? (
        <div class="state">{why}</div>
      ) : s.kind === "error" ? (
        <Problem />
      ) : found ? (
        <Found of={found} />
      ) : (
        <Waiting />
      )}
    </main>
  );
}

/** Why there is nothing to emulate, in one sentence; "" where there is something. */
function whyNothing(): string {
  const r = run.value;
  if (!kernel.value)
    return "This pass belongs to no kernel: choose a kernel above to emulate it.";
  if (held.value === null) return "Looking for what was emulated of this kernel.";
  if (!data().server)
    return "This file holds no emulation of this kernel: open the trace with uopviz to emulate it.";
  if (!r?.targets.length)
    return "This trace was recorded by another compiler: its kernels cannot be emulated here.";
  if (progress.value === "running") return "This kernel is still being compiled.";
  if (!canEmulate()) return "This kernel was not compiled completely, so there is nothing to emulate.";
  if (!devices.value.length) return "Looking for the devices of this machine.";
  return "";
}

/** Nothing is there yet: it runs, or was cancelled. */
function Waiting() {
  const s = state.value;
  if (s.kind !== "running")
    return (
      <div class="state">
        <span>
          Emulating runs the kernel on random inputs without a GPU. It counts what each line does,
          checks every access, and keeps each instruction of one warp.
        </span>
        <button type="button" class="btn pri" onClick={() => void emulate()}>
          Emulate
        </button>
      </div>
    );
  return (
    <div class="state" role="status">
      <span>{s.progress}</span>
      <div class="progress static">
        <i class="any" />
      </div>
      <button type="button" class="btn" onClick={() => void cancelEmulation()}>
        Cancel
      </button>
    </div>
  );
}

/** Why the kernel, or what the user made of it, is not emulated. */
function Problem() {
  const s = state.value;
  if (s.kind !== "error") return null;
  return (
    <div class="state" role="alert">
      <b>{s.error.what}</b>
      <span class="mono">{s.error.where}</span>
      {s.text !== null && <Excerpt text={s.text} line={lineOf(s.error)} />}
      <span>{s.error.hint}</span>
      <button type="button" class="btn" onClick={() => void emulate()}>
        Emulate again
      </button>
    </div>
  );
}

const AROUND = 3;
const LONGEST = 200;

/** The lines of a text around one that is wrong (from 0). */
function Excerpt({ text, line: wrong }: { text: string; line: number | null }) {
  if (wrong === null) return null;
  const from = Math.max(0, wrong - AROUND);
  return (
    <pre class="excerpt mono">
      {text
        .split("\n")
        .slice(from, wrong + AROUND + 1)
        .map((shown, i) => (
          <span key={i} class={from + i === wrong ? "wrong" : undefined}>
            <span class="no num">{from + i + 1}</span>
            {clip(shown, LONGEST).text || " "}
          </span>
        ))}
    </pre>
  );
}

function Found({ of }: { of: Emulation }) {
  return (
    <>
      <Said of={of} />
      <div class="split">
        <div class="epane">
          <Conflicts of={of} />
          <Lines of={of} />
        </div>
        <div class="epane">
          <Lanes of={of} />
          <Banks walk={of.walk} />
        </div>
      </div>
    </>
  );
}

/** What is wrong, or not all of it. */
function Said({ of }: { of: Emulation }) {
  const { walk } = of;
  const [done, all] = of.blocks;
  const fault = of.fault ?? walk.fault;
  const partial = [
    done < all && !of.fault && `counted in ${count(done)} of ${count(all)} blocks: time was up`,
    walk.more && `the warp goes on after the last instruction that is kept`,
  ].filter(Boolean);
  if (!fault && !partial.length && !isOutdated.value) return null;
  return (
    <div class="said">
      {fault && (
        <div role="alert">
          <span class="sig del">!</span> <b>{fault.what}</b> <span class="mono">{fault.where}</span>{" "}
          <span class="t2">{fault.hint}</span>
        </div>
      )}
      {partial.length > 0 && <span class="t2">Not all of it: {partial.join("; ")}.</span>}
      {isOutdated.value && (
        <span class="badge mov">◆ the text has changed since: emulate it again (Ctrl Enter)</span>
      )}
    </div>
  );
}
