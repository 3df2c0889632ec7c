/** Below the graphs: the kernel's sources side by side, and the problems of the run. */
import { useEffect } from "preact/hooks";
import { count, plural } from "../../state/format";
import { drawerOpen, shownSources } from "../../state/prefs";
import { drawerTab, ownProblems, run, view, windowWidth } from "../../state/state";
import { data } from "../../state/actions";
import type { Artifact } from "../../data/types";
import { Divider } from "../../ui/Divider";
import { Icon } from "../../ui/Icon";
import { Menu, MenuItem } from "../../ui/Menu";
import { TabText } from "../../ui/TabText";
import { slotName } from "../navigator/FilterChips";
import { Problems } from "../problems/Problems";
import { columnKey, kindName, kindOf, possibleColumns, targetOf } from "../../parts/kernel/columns";
import { columnsShown, complete, kernel, kernelArtifacts, progress, shownColumns } from "../../parts/kernel/kernel";
import { linkedLines, pointedNode } from "../../parts/kernel/link";
import { RunBox } from "./RunBox";
import { Pager, Sources } from "./Sources";

/** Open by choice, or by default where the window has room for it. */
export function isDrawerOpen(): boolean {
  return drawerOpen.value ?? windowWidth.value >= 1440;
}

export function toggleDrawer(tab?: "source" | "problems"): void {
  const same = tab === undefined || drawerTab.peek() === tab;
  if (tab) drawerTab.value = tab;
  drawerOpen.value = same ? !isDrawerOpen() : true;
}

/** Opens the drawer with the column of an artifact, where the marked lines are. */
export function showLines(artifact: Pick<Artifact, "kind" | "target">): void {
  const key = columnKey(artifact);
  if (!shownColumns.peek().includes(key)) shownSources.value = [...shownColumns.peek(), key];
  drawerTab.value = "source";
  drawerOpen.value = true;
}

export function Drawer() {
  const open = isDrawerOpen();
  const tab = drawerTab.value;
  useEffect(() => {
    columnsShown.value = open && tab === "source";
  }, [open, tab]);
  const problems = (run.value?.problems.length ?? 0) + ownProblems.value.length;
  const pick = (to: "source" | "problems"): void => {
    if (tab === to) toggleDrawer();
    else {
      drawerTab.value = to;
      drawerOpen.value = true;
    }
  };
  return (
    <section class="drawer" data-region="Sources and problems" aria-label="Sources and problems">
      {open && (
        <Divider
          part="drawer"
          label="Height of the source drawer"
          class="top-edge"
          axis="y"
          grows={-1}
          min={120}
          max={900}
        />
      )}
      <div class="ph">
        <div class="tabs" role="tablist" aria-label="Drawer">
          <button
            type="button"
            class="tab"
            role="tab"
            aria-selected={open && tab === "source"}
            aria-expanded={open && tab === "source"}
            onClick={() => pick("source")}
          >
            <TabText text="Source" />
          </button>
          <button
            type="button"
            class="tab"
            role="tab"
            aria-selected={open && tab === "problems"}
            aria-expanded={open && tab === "problems"}
            onClick={() => pick("problems")}
          >
            <TabText text="Problems" />
            {problems > 0 && <span class="badge del num">{problems}</span>}
          </button>
        </div>
        <Linked />
        <span class="sp" />
        {open && tab === "source" && (
          <>
            <Pager />
            <Chooser />
          </>
        )}
        <RunBox />
        <button
          type="button"
          class="btn sm ico quiet"
          aria-label={open ? "Close the drawer" : "Open the drawer"}
          title={`${open ? "Close" : "Open"} the drawer (S)`}
          onClick={() => toggleDrawer()}
        >
          <span class={open ? "" : "flip"}>
            <Icon name="down" />
          </span>
        </button>
      </div>
      {open && (tab === "source" ? <Sources /> : <Problems />)}
    </section>
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
              Let the page choose
            </MenuItem>
          )}
        </>
      )}
    </Menu>
  );
}
