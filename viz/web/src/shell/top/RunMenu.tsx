/** Which of several runs is shown, by its letter; opens the list of them. */
import { canClose, closeRun, showRun } from "../../parts/traces/runs";
import type { RunName } from "../../data/messages/run";
import { short } from "../../state/format";
import { openRuns, runName } from "../../state/state";
import { Icon } from "../../ui/Icon";
import { Menu, MenuItem } from "../../ui/over/Menu";

export function RunMenu() {
  const shown = openRuns.value.find((one) => one.name === runName.value);
  return (
    <Menu
      label={`Run ${runName.value}, of ${openRuns.value.length}`}
      class="btn runs"
      title={shown ? shown.title : "Run"}
      button={
        <>
          <b class="run-letter">{runName.value}</b>
          <Icon name="down" />
        </>
      }
    >
      {(close) => openRuns.value.map((one) => <Line key={one.name} one={one} close={close} />)}
    </Menu>
  );
}

function Line({ one, close }: { one: RunName; close: () => void }) {
  return (
    <div class="row run-line">
      <MenuItem
        ticked={one.name === runName.value}
        hint={one.live ? "live" : short(one.file, 40)}
        onClick={() => {
          close();
          showRun(one.name);
        }}
      >
        <b class="run-letter">{one.name}</b> {short(one.title, 60)}
      </MenuItem>
      {canClose(one) && (
        <button
          type="button"
          class="btn ico quiet mi"
          aria-label={`Close run ${one.name}`}
          title={`Close run ${one.name}`}
          onClick={() => {
            close();
            void closeRun(one.name);
          }}
        >
          <Icon name="close" />
        </button>
      )}
    </div>
  );
}
