/** Which sources of a kernel are shown. */
import { data } from "../../state/actions";
import { shownSources } from "../../state/prefs";
import { run } from "../../state/state";
import { Icon } from "../../ui/Icon";
import { Menu, MenuItem } from "../../ui/over/Menu";
import { columnKey, kindName, kindOf, possibleColumns, targetOf } from "../kernel/columns";
import { complete, kernel, kernelArtifacts, progress, shownColumns } from "../kernel/kernel";

export function Chooser() {
  const all = possibleColumns(
    kernelArtifacts.value,
    data().server && progress.value === "finished" ? (run.value?.targets ?? []) : [],
    complete.value,
  );
  const shown = shownColumns.value;
  const have = new Set(kernelArtifacts.value.map(columnKey));
  if (!kernel.value) return null;
  const toggle = (key: string): void => {
    shownSources.value = shown.includes(key) ? shown.filter((k) => k !== key) : [...shown, key];
  };
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
              hint={have.has(key) ? "" : data().server ? "compiled on demand" : "not in this file"}
              onClick={() => toggle(key)}
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
