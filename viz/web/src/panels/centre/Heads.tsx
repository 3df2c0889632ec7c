/** The heads of the panes: which state each shows, and at the right end how the graphs are shown. */
import { count, plural } from "../../state/format";
import { foldBlocks, foldConstants, foldIndex } from "../../state/prefs";
import { stage, stats } from "../../state/stage";
import { bundle, currentStep, ruleName, step } from "../../state/state";
import { Icon } from "../../ui/Icon";
import { Menu, MenuItem } from "../../ui/over/Menu";
import { PassTextCounts } from "../../parts/passtext/PassTextPane";
import { graphLink, modes, setMode, setScope, shownMode, type Mode } from "./link";

export function Heads() {
  const k = step.value;
  const before = bundle.value?.steps[k - 2];
  const at = currentStep.value;
  const mode = shownMode.value;
  if (mode === "own")
    return (
      <div class="pts one">
        <div class="pt">
          <b>Compiler's text</b>
          <span class="nw">before and after the pass</span>
          <PassTextCounts />
          <Menus />
        </div>
      </div>
    );
  if (mode !== "side")
    return (
      <div class="pts one">
        <div class="pt">
          <b>{mode === "text" ? "Text" : "Merged"}</b>
          <span class="num nw">{k ? `step ${count(k - 1)} → ${count(k)}` : "input graph"}</span>
          {at && <By word="by" rule={ruleName(at.rule)} />}
          <Menus />
        </div>
      </div>
    );
  return (
    <div class="pts">
      <div class="pt">
        <b>Before</b>
        <span class="num nw">{k > 1 ? `step ${count(k - 1)}` : "input graph"}</span>
        {before && <By word="after" rule={ruleName(before.rule)} />}
      </div>
      <div class="pt">
        <b>After</b>
        <span class="num nw">{k ? `step ${count(k)}` : "input graph"}</span>
        {at && <By word="by" rule={ruleName(at.rule)} />}
        <Menus />
      </div>
    </div>
  );
}

/** In a narrow window the name of the rule alone. */
function By({ word, rule }: { word: string; rule: string }) {
  return (
    <span class="el" title={`${word} ${rule}`}>
      <span class="wide">{word} </span>
      <span class="mono">{rule}</span>
    </span>
  );
}

function Menus() {
  return (
    <>
      <span class="sp" />
      <Scope />
      <Layout />
    </>
  );
}

/** "Near, 19 of 79": how many nodes of the graph after the step are drawn; which, and what is folded. */
function Scope() {
  const s = stats.value;
  const all = graphLink.value.scope === "all";
  const hasGraph = !["text", "own"].includes(shownMode.value);
  if (!bundle.value) return null;
  const counts =
    s && hasGraph
      ? [
          `${count(s.shown)} of ${plural(s.total, "node")} are drawn by themselves`,
          s.folded > 0 && `${count(s.folded)} are folded into boxes`,
          s.hidden > 0 && `${count(s.hidden)} are farther from the change`,
        ]
          .filter(Boolean)
          .join("; ")
      : "";
  return (
    <Menu
      label={`${all ? "All nodes" : "Nodes near the change"}: choose`}
      class="btn sm quiet scope"
      title={`Nodes near the change, or all (A)${counts && `. ${counts}.`}`}
      button={
        <>
          <span>
            {all ? "All" : "Near"}
            {s && hasGraph && (
              <span class="num">
                , {count(s.shown)} of {count(s.total)}
              </span>
            )}
          </span>
          <Icon name="down" />
        </>
      }
    >
      {(close) => (
        <>
          <MenuItem
            ticked={!all}
            onClick={() => {
              setScope("change");
              close();
            }}
          >
            Near the change
          </MenuItem>
          <MenuItem
            ticked={all}
            hint="A"
            onClick={() => {
              setScope("all");
              close();
            }}
          >
            All nodes
          </MenuItem>
          {counts && (
            <>
              <div class="note num">{counts}.</div>
              <Fold title="Fold index expressions" on={foldIndex} />
              <Fold title="Fold repeated blocks" on={foldBlocks} />
              <Fold title="Leave out constants near the change" on={foldConstants} />
              <MenuItem
                onClick={() => {
                  stage.peek()?.openBoxes(true);
                  close();
                }}
              >
                Expand all boxes
              </MenuItem>
              <MenuItem
                onClick={() => {
                  stage.peek()?.openBoxes(false);
                  close();
                }}
              >
                Fold all boxes
              </MenuItem>
            </>
          )}
        </>
      )}
    </Menu>
  );
}

function Fold({ title, on }: { title: string; on: typeof foldIndex }) {
  return (
    <MenuItem ticked={on.value} onClick={() => (on.value = !on.peek())}>
      {title}
    </MenuItem>
  );
}

const MODES: Record<Mode, string> = { side: "Side by side", merged: "Merged", text: "Text", own: "Compiler's text" };

function Layout() {
  const mode = shownMode.value;
  return (
    <Menu
      label={`Layout ${MODES[mode]}: choose`}
      class="btn sm quiet layout"
      title="Side by side, merged into one graph, as text, or the compiler's own text (M)"
      button={
        <>
          <span class="wide">{MODES[mode]}</span>
          <span class="narrow">{MODES[mode].split(" ")[0]}</span>
          <Icon name="down" />
        </>
      }
    >
      {(close) =>
        modes.value.map((one) => (
          <MenuItem
            key={one}
            ticked={one === mode}
            onClick={() => {
              close();
              if (one !== mode) setMode(one);
            }}
          >
            {MODES[one]}
          </MenuItem>
        ))
      }
    </Menu>
  );
}
