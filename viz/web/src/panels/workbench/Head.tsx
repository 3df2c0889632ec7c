/** The kernel, where it is run, for which target its texts are, and the button that runs both. */
import { openWorkbench } from "../../state/actions";
import { bytes, short } from "../../state/format";
import { kernelAt } from "../../state/link/links";
import { currentKernel, rows, run } from "../../state/state";
import { Go } from "../../parts/Go";
import { kernel } from "../../parts/kernel/kernel";
import { asksConsent } from "../../parts/run/here";
import { Consent } from "../../parts/run/Consent";
import { scaled } from "../../parts/speed";
import { Icon } from "../../ui/Icon";
import { Menu, MenuItem } from "../../ui/over/Menu";
import { cancelBench, canRunBoth, runBoth, state } from "./data/bench";
import { benchInputs, chooseInputs, inputKinds } from "./data/inputs";
import { benchDevice, benchTarget, chooseDevice, chooseTarget, devices, whyNot } from "./data/where";

const MOST = 200;

export function Head() {
  const k = kernel.value;
  const row = currentKernel.value;
  const calls = [...new Set((k?.tensorCalls ?? []).map((call) => call.replace(/^.*:\d+ ?/, "")))];
  const what = calls.filter(Boolean).slice(0, 3).join(" + ");
  return (
    <header class="ph wb-head" data-region="Workbench">
      <Kernels />
      {what && <span class="badge el xwide">{short(what, 60)}</span>}
      {k && k.flops > 0 && <span class="badge mid">{scaled(k.flops)}FLOP</span>}
      {k && k.bytes > 0 && <span class="badge xwide">{bytes(k.bytes)} moved</span>}
      {row && (
        <Go to={kernelAt(row.id)} class="link nw wide">
          Kernel page
        </Go>
      )}
      <span class="sp" />
      <Device />
      <Target />
      <Inputs />
      <span class="vr" />
      <Run />
    </header>
  );
}

/** The kernel's name; a choice of the others. */
function Kernels() {
  const row = currentKernel.value;
  const all = rows.value.filter((r) => r.kind === "context" && r.label === "kernel" && !r.target);
  if (!row) return <h2 class="h el">Workbench</h2>;
  return (
    <Menu
      label={`Kernel ${row.name}: choose another`}
      class="btn sm quiet wb-name"
      button={
        <>
          <h2 class="h el">{short(row.name, 80)}</h2>
          <Icon name="down" />
        </>
      }
    >
      {(close) => (
        <>
          {all.slice(0, MOST).map((r) => (
            <MenuItem
              key={r.id}
              ticked={r.id === row.id}
              onClick={() => {
                close();
                openWorkbench(r.id);
              }}
            >
              <span class="mono">{short(r.name, 80)}</span>
            </MenuItem>
          ))}
          {all.length > MOST && (
            <div class="note">{all.length - MOST} more: choose them in the navigator.</div>
          )}
        </>
      )}
    </Menu>
  );
}

function Device() {
  const now = benchDevice.value;
  if (!devices.value.length) return null;
  return (
    <>
      <span class="t3 mid">Device</span>
      <Menu
        label="Device to run on"
        class="btn sm"
        button={
          <>
            {now?.device ?? "none"}
            <Icon name="down" />
          </>
        }
      >
        {(close) => (
          <>
            {devices.value.map(({ device, target }) => (
              <MenuItem
                key={device}
                ticked={device === now?.device}
                hint={target}
                onClick={() => {
                  close();
                  chooseDevice(device);
                }}
              >
                {device}
              </MenuItem>
            ))}
          </>
        )}
      </Menu>
    </>
  );
}

function Target() {
  const now = benchTarget.value;
  const all = [...new Set([now, ...(run.value?.targets ?? [])])].filter(Boolean);
  if (!now) return null;
  return (
    <>
      <span class="t3 mid">Target</span>
      <Menu
        label="Target whose texts are shown"
        class="btn sm"
        button={
          <>
            <span class="mono">{short(now, 30)}</span>
            <Icon name="down" />
          </>
        }
      >
        {(close) => (
          <>
            {all.map((target) => (
              <MenuItem
                key={target}
                ticked={target === now}
                hint={devices.value.find((d) => d.target === target)?.device ?? ""}
                onClick={() => {
                  close();
                  chooseTarget(target);
                }}
              >
                <span class="mono">{short(target, 60)}</span>
              </MenuItem>
            ))}
          </>
        )}
      </Menu>
    </>
  );
}

/** What both are timed on; values of the run say how to get them where the trace has none. */
function Inputs() {
  const now = benchInputs.value;
  if (!now) return null;
  return (
    <>
      <span class="t3 xwide">Inputs</span>
      <Menu
        label="Inputs that both are timed on"
        class="btn sm"
        button={
          <>
            {now.title}
            <Icon name="down" />
          </>
        }
      >
        {(close) => (
          <>
            {inputKinds.value.map(({ kind, title, hint, why }) => (
              <MenuItem
                key={kind}
                ticked={kind === now.kind}
                disabled={why !== ""}
                hint={hint}
                onClick={() => {
                  close();
                  chooseInputs(kind);
                }}
              >
                {title}
              </MenuItem>
            ))}
            {inputKinds.value
              .filter((one) => one.why)
              .map(({ kind, why }) => (
                <div key={kind} class="note wb-why">
                  {short(why, 400)}
                </div>
              ))}
          </>
        )}
      </Menu>
    </>
  );
}

function Run() {
  if (state.value.kind === "running" && asksConsent.value) return <Consent />;
  if (state.value.kind === "running")
    return (
      <button type="button" class="btn sm wb-run" onClick={() => void cancelBench()}>
        Cancel
      </button>
    );
  return (
    <button
      type="button"
      class="btn sm pri wb-run"
      title={whyNot.value || "Run the original and the edited kernel in turn (Ctrl Enter)"}
      disabled={!canRunBoth()}
      onClick={() => void runBoth()}
    >
      <Icon name="play" fill />
      Run both
      <span class="wb-key wide">Ctrl ↵</span>
    </button>
  );
}
