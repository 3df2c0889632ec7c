/**
 * Sources side by side, linked line by line: at the foot of the graphs as a strip or over half of the
 * room, on the page of a kernel and in the comparison over what is left of it.
 */
import type { ComponentChildren } from "preact";
import { plural } from "../../state/format";
import { Chips } from "./Chips";
import { Column } from "./Column";
import type { SourcesModel } from "./model";
import { Strip } from "./Strip";

/** "wide": one text that is edited has all of the room. */
export type Size = "strip" | "half" | "wide" | "full";

interface SourcesProps {
  model: SourcesModel;
  size: Size;
  /** At the right end of the head. */
  tools?: ComponentChildren;
  /** On the upper edge. */
  edge?: ComponentChildren;
  /** In place of the columns: why there are none. */
  children?: ComponentChildren;
}

export function SourcesView({ model, size, tools, edge, children }: SourcesProps) {
  const columns = model.columns();
  const Wide = model.wide?.() ?? null;
  return (
    <section class="sources" data-size={size} data-region="Sources" aria-label="Sources">
      {edge}
      <div class="src-head">
        <h2>Sources</h2>
        <Chips model={model} />
        <span class="sp" />
        <Lights model={model} />
        {tools}
      </div>
      {children ??
        (Wide && size !== "strip" ? (
          <Wide />
        ) : size === "strip" ? (
          <Strip model={model} />
        ) : (
          <div class="src-cols">
            {columns.map((id) => (
              <Column key={id} model={model} id={id} />
            ))}
          </div>
        ))}
    </section>
  );
}

/** "u124 MUL 9 lines in 3 sources" */
function Lights({ model }: { model: SourcesModel }) {
  const what = model.lightsWhat();
  if (!what) return null;
  let lines = 0;
  let sources = 0;
  for (const key of model.columns()) {
    const artifact = model.artifact(key);
    const n = artifact ? model.linked.litIn(artifact).lines.length : 0;
    lines += n;
    sources += n ? 1 : 0;
  }
  const nodes = model.nodes?.();
  return (
    <>
      <span class="t2 el num src-lights" role="status">
        <span class="mono acc">{what}</span>{" "}
        {lines ? `${plural(lines, "line")} in ${plural(sources, "source")}` : "no line"}
      </span>
      {nodes && nodes.count > 0 && (
        <button
          type="button"
          class="link num nw"
          title="Show the last pass that has such a node, with the node selected"
          onClick={nodes.show}
        >
          {plural(nodes.count, "node")}: show in Graphs
        </button>
      )}
    </>
  );
}
