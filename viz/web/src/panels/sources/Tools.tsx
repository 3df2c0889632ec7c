/** What the sources put into the head of the drawer: what is linked, the choice of columns, Run. */
import { count, plural } from "../../state/format";
import { view } from "../../state/state";
import { slotName } from "../../parts/slotName";
import { kernelArtifacts } from "../../parts/kernel/kernel";
import { linkedLines, pointedNode } from "../../parts/kernel/link";
import { RunBox } from "../../parts/run/RunBox";
import { Chooser } from "../../parts/source/Chooser";
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
  if (slot === null || id < 0 || !kernelArtifacts.value.length) return null;
  const n = linkedLines.value(id);
  const lines = n.cut
    ? `${count(n.lines)} of ${plural(n.lines + n.cut, "line")}`
    : n.lines
      ? plural(n.lines, "line")
      : "no line";
  return (
    <>
      <span class="vr wide" />
      <span
        class="t2 el"
        title={`${slotName(slot)} → ${lines}${n.sources > 0 ? ` in ${plural(n.sources, "source")}` : ""}`}
      >
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
