/** What the sources put into the head of the drawer: what is linked, the choice of columns, Run. */
import { count, plural } from "../../state/format";
import { shownSources } from "../../state/prefs";
import { run, view } from "../../state/state";
import { data } from "../../state/actions";
import { Icon } from "../../ui/Icon";
import { Menu, MenuItem } from "../../ui/Menu";
import { slotName } from "../../parts/slotName";
import { columnKey, kindName, kindOf, possibleColumns, targetOf } from "../../parts/kernel/columns";
import {
  complete,
  kernel,
  kernelArtifacts,
  progress,
  shownColumns,
} from "../../parts/kernel/kernel";
import { linkedLines, pointedNode } from "../../parts/kernel/link";
import { RunBox } from "../../parts/run/RunBox";
import { Pager } from "./Sources";

export function SourceTools({ open }: { open: boolean }) {
  return (
    <>
      <Linked />
      <span class="sp" />
      {open && (
        <>
          <Pager />
          <Chooser />
        </>
      )}
      <RunBox />
    </>
  );
}

/** "u124 MUL -> 8 lines in 4 sources" */
function Linked() {
  const slot = view.value.slot;
  const { id } = pointedNode.value;
  if (slot === null || id < 0 || !kernel.value) return null;
  const n = linkedLines.value(id);
  const lines = n.cut
    ? `${count(n.lines)} of ${plural(n.lines + n.cut, "line")}`
    : n.lines
      ? plural(n.lines, "line")
      : "no line";
  return (
    <>
      <span class="vr wide" />
      <span class="t2 el">
        <span class="mono acc">{slotName(slot)}</span>
        <span class="wide">
          {" "}
          → {lines}
          {n.sources > 0 && ` in ${plural(n.sources, "source")}`}
        </span>
        <span class="narrow">&ensp;{lines}</span>
      </span>
    </>
  );
}

function Chooser() {
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
