/** Which run stands on a side: one that is open, or a trace that is opened for it. */
import { ago } from "../../../parts/traces/ago";
import { useRecent, whileOpening } from "../../../parts/traces/recent";
import type { RunName } from "../../../data/messages/run";
import { allData } from "../../../state/actions";
import { refreshRuns } from "../../../state/live";
import { plural, short } from "../../../state/format";
import { openRuns } from "../../../state/state";
import { Icon } from "../../../ui/Icon";
import { Menu, MenuItem } from "../../../ui/over/Menu";
import type { Side } from "../data/ask";
import { compareLink, compareRuns } from "../data/link";

/** Traces of the cache that the menu lists. */
const MOST = 12;

export function RunChooser({ side }: { side: Side }) {
  const name = compareLink.value[side];
  const run = openRuns.value.find((one) => one.name === name);
  const title = run ? titleOf(run) : "choose a run";
  return (
    <span class="row cmp-run">
      <span class="badge b">{side.toUpperCase()}</span>
      <Menu
        label={`Run on side ${side.toUpperCase()}: ${short(title, 80)}`}
        title={run ? `${run.title} · ${run.file} (run ${run.name})` : "Choose a run"}
        class="btn sm"
        button={
          <>
            {run && openRuns.value.length > 2 && <b class="run-letter">{run.name}</b>}
            <span class="el">{short(title, 80)}</span>
            <Icon name="down" />
          </>
        }
      >
        {(close) => (
          <>
            {openRuns.value.map((one) => (
              <MenuItem
                key={one.name}
                ticked={one.name === name}
                hint={one.live ? "live" : short(one.file, 40)}
                onClick={() => {
                  close();
                  putOn(side, one.name);
                }}
              >
                <b class="run-letter">{one.name}</b> {short(one.title, 60)}
              </MenuItem>
            ))}
            {allData().server && <Others side={side} close={close} />}
          </>
        )}
      </Menu>
    </span>
  );
}

/** What a run is called: by its file, too, where another one has the same title. */
function titleOf(run: RunName): string {
  const isTwin = openRuns.value.some((one) => one !== run && one.title === run.title);
  return !run.title ? run.file : isTwin ? `${run.title} · ${run.file}` : run.title;
}

/** Puts a run on a side; the one that is there already changes sides. */
function putOn(side: Side, name: string): void {
  const { a, b } = compareLink.peek();
  if (side === "a") compareRuns(name, name === b ? a : b);
  else compareRuns(name === a ? b : a, name);
}

/** Opens a trace of the cache beside the runs that are open, and compares with it. */
export const compareWith = (side: Side, trace: string): Promise<void> =>
  whileOpening(trace, async () => {
    const name = await allData().server!.openRun(trace);
    await refreshRuns(allData());
    putOn(side, name);
  });

/** Traces of the cache that are not open. */
function Others({ side, close }: { side: Side; close: () => void }) {
  const open = new Set(openRuns.value.map((one) => one.file));
  const traces = useRecent().traces.filter((t) => !open.has(t.name));
  if (!traces.length) return null;
  return (
    <>
      <div class="note">Open a recent trace beside these</div>
      {traces.slice(0, MOST).map((t) => (
        <MenuItem
          key={t.name}
          ticked={false}
          hint={`${plural(t.kernels, "kernel")} · ${ago(t.started)}`}
          onClick={() => {
            close();
            void compareWith(side, t.name);
          }}
        >
          {short(t.program || t.name, 60)}
        </MenuItem>
      ))}
    </>
  );
}
