/** Which sources of a kernel are shown. */
import { data } from "../../state/actions";
import { shownSources } from "../../state/prefs";
import { run } from "../../state/state";
import { short } from "../../state/format";
import { compilesUnasked, since } from "../../ui/code/since";
import { Icon } from "../../ui/Icon";
import { Menu, MenuItem } from "../../ui/over/Menu";
import { columnKey, kindName, kindOf, possibleColumns, targetOf } from "../kernel/columns";
import {
  complete,
  kernel,
  kernelArtifacts,
  progress,
  shownColumns,
  toggleColumn,
} from "../kernel/kernel";

export function Chooser() {
  const all = possibleColumns(
    kernelArtifacts.value,
    data().server && progress.value === "finished" ? (run.value?.targets ?? []) : [],
    complete.value,
  );
  const shown = shownColumns.value;
  const have = new Set(kernelArtifacts.value.map(columnKey));
  if (!kernel.value) return null;
  const maker = since.value?.maker;
  const compiled =
    compilesUnasked.value === false && maker
      ? `compiled here, by uopviz ${short(maker.reader, 20)}`
      : "compiled on demand";
  return (
    <Menu
      label="Sources to show"
      class="btn sm quiet"
      button={
        <>
          <Icon name="columns" />
          <span class="xwide">Sources</span>
        </>
      }
    >
      {() => (
        <>
          {[...new Set([...all, ...shown])].map((key) => (
            <MenuItem
              key={key}
              ticked={shown.includes(key)}
              hint={have.has(key) ? "" : data().server ? compiled : "not in this file"}
              onClick={() => toggleColumn(key)}
            >
              {kindName(kindOf(key))} <span class="mono t3">{targetOf(key)}</span>
            </MenuItem>
          ))}
          {shownSources.value !== null && (
            <MenuItem ticked={false} onClick={() => (shownSources.value = null)}>
              Default columns
            </MenuItem>
          )}
        </>
      )}
    </Menu>
  );
}
