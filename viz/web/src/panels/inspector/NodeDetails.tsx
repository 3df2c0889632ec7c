/** One slot: what it holds at this step, its neighbours, and what happened to it in the pass. */
import { computed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { go, goStep, select, toggleNodeFilter } from "../../state/actions";
import { count, place, places, plural, short } from "../../state/format";
import { bundle, currentStep, ruleName, sides, step, view } from "../../state/state";
import { lit, stage, stats } from "../../state/stage";
import type { Bundle } from "../../data/messages/bundle";
import {
  argOf,
  deviceOf,
  dtypeOf,
  opOf,
  rangesOf,
  roleOf,
  shapeOf,
  tagOf,
  uidOf,
} from "../../model/content";
import { groupAt } from "../../model/ops";
import { movedSources } from "../../model/replay";
import { walkButtons } from "../../parts/walkButtons";
import { Clipped, Place, Places } from "../../ui/code/Text";
import { slotName } from "../../parts/slotName";
import { Disclosure } from "../../ui/over/Disclosure";
import { linkedLines } from "../../parts/kernel/link";
import { TileSection } from "./tile/TileSection";

const MOST_USERS = 24;
const MOST_HISTORY = 200;
/** What the model says of a node that only got new ids below it. */
const REBUILT = "rebuilt";

export function NodeDetails({ slot }: { slot: number }) {
  const b = bundle.value;
  const both = sides.value;
  if (!b || !both) return null;
  const now = both.after.nodeOf(slot);
  const was = both.before.nodeOf(slot);
  const c = now >= 0 ? now : was;
  if (c < 0)
    return (
      <div class="sec">
        <h3>Selected node</h3>
        <p class="t2">The node is not in the graph at this step.</p>
        <div class="hist-head">
          <History slot={slot} />
        </div>
      </div>
    );
  const change = changeOf(slot, was, now);
  return (
    <>
      <div class="sec">
        <h3>
          Node <span class="mono">{uidOf(b, c)}</span>
          <span class="sp" />
          {change && <span class={`badge ${change.kind}`}>{change.text}</span>}
        </h3>
        <Facts slot={slot} b={b} c={c} />
        <div class="row wrap g4 actions">
          <button
            type="button"
            class="btn sm"
            title="F"
            aria-pressed={view.value.node === slot}
            onClick={() => toggleNodeFilter(slot)}
          >
            Only steps of this node
          </button>
          <button type="button" class="btn sm quiet" onClick={() => go({ op: opOf(b, c) })}>
            Only {opOf(b, c)}
          </button>
        </div>
      </div>
      <TileSection node={b.nodes.id[c] ?? -1} op={opOf(b, c)} />
      <div class="sec">
        <History slot={slot} />
      </div>
    </>
  );
}

/** What the step did to the slot, as a badge; null if nothing. */
function changeOf(slot: number, was: number, now: number): { kind: string; text: string } | null {
  const b = bundle.value!;
  const { before, after } = sides.value!;
  if (now < 0) return { kind: "del", text: "− removed" };
  if (was < 0) return { kind: "add", text: "+ added" };
  if (was === now) return null;
  const moved = movedSources(before.srcOf(slot), after.srcOf(slot));
  if (b.nodes.op[was] !== b.nodes.op[now] || currentStep.value?.slot === slot)
    return { kind: "mov", text: `◆ was ${uidOf(b, was)} ${opOf(b, was)}` };
  if (moved.length) return { kind: "mov", text: `◆ src ${moved.join(", ")} moved` };
  return { kind: "", text: `rebuilt, was ${uidOf(b, was)}` };
}

function Facts({ slot, b, c }: { slot: number; b: Bundle; c: number }) {
  const both = sides.value!;
  const side = both.after.has(slot) ? both.after : both.before;
  const lo = b.nodes.lo[c] ?? "";
  const hi = b.nodes.hi[c] ?? "";
  const users = side.usersOf(slot, MOST_USERS + 1);
  const loc = place(b.locs[b.nodes.loc[c] ?? -1] ?? "");
  const origins = places(b.origins[b.nodes.origin[c] ?? -1] ?? "");
  const shown: [string, ComponentChildren][] = [
    [
      "Op",
      <span class="mono">
        {opOf(b, c)} <span class="t3">{groupAt(b, c)}</span>
      </span>,
    ],
    ["Dtype", <span class="mono">{dtypeOf(b, c) || "none"}</span>],
  ];
  const box = stats.value && stage.value?.boxAt(slot);
  if (box)
    shown.push([
      box.open ? "Opened" : "Folded",
      <span>
        {box.words && <Clipped text={`${box.words} `} />}
        <button
          type="button"
          class="link"
          title="Enter"
          onClick={() => void stage.value?.toggleBox(slot)}
        >
          {box.open ? "Fold again" : "Open"}
        </button>
      </span>,
    ]);
  if (argOf(b, c))
    shown.push([
      "Arg",
      <span class="mono">
        <Clipped text={argOf(b, c)} />
      </span>,
    ]);
  if (shapeOf(b, c))
    shown.push([
      "Shape",
      <span class="mono">
        <Clipped text={shapeOf(b, c)} />
      </span>,
    ]);
  if (deviceOf(b, c)) shown.push(["Device", <Clipped text={deviceOf(b, c)} />]);
  if (lo || hi)
    shown.push([
      "Bounds",
      <span class="mono">
        <Clipped text={lo === hi ? `always ${lo}` : `${lo} .. ${hi}`} />
      </span>,
    ]);
  if (rangesOf(b, c)) shown.push(["Ranges", <Ranges text={rangesOf(b, c)} />]);
  shown.push(["Sources", <Sources slot={slot} />]);
  shown.push([
    "Users",
    users.length ? (
      <Slots slots={users.slice(0, MOST_USERS)} more={users.length > MOST_USERS} />
    ) : (
      <span class="t3">none: the root</span>
    ),
  ]);
  if (origins.length)
    shown.push([origins.length > 1 ? "Your lines" : "Your line", <Places all={origins} />]);
  if (loc.file) shown.push(["Made at", <Place {...loc} />]);
  if (tagOf(b, c))
    shown.push([
      "Tag",
      <span class="mono">
        <Clipped text={tagOf(b, c)} />
      </span>,
    ]);
  return (
    <dl class="kv">
      {shown.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}

/** Range letters: colour class and what runs that way. */
const AXES: Readonly<Partial<Record<string, [string, string]>>> = {
  L: ["t2", "loop"],
  R: ["r0", "reduce"],
  g: ["g", "global"],
  l: ["l", "local"],
  w: ["l", "warp"],
  t: ["g", "thread"],
  G: ["r0", "group reduce"],
  u: ["u", "upcast"],
  U: ["u", "unroll"],
  r: ["r0", "reduce"],
};

function Ranges({ text }: { text: string }) {
  return (
    <span class="row wrap list">
      {short(text, 400)
        .split(" ")
        .map((r, i) => {
          const [name, word] = AXES[r[0] ?? ""] ?? ["", ""];
          return (
            <span key={i} class="nw">
              <span class={`mono ${name}`}>{r}</span> <span class="t3">{word}</span>
            </span>
          );
        })}
    </span>
  );
}

/** Source slots in order; where the step moved one, both ends. */
function Sources({ slot }: { slot: number }) {
  const b = bundle.value!;
  const { before, after } = sides.value!;
  const old = before.has(slot) ? before.srcOf(slot) : [];
  const now = after.has(slot) ? after.srcOf(slot) : old;
  const known = before.has(slot) && after.has(slot);
  const here = (after.has(slot) ? after : before).nodeOf(slot);
  if (!now.length && !old.length) return <span class="t3">none</span>;
  return (
    <span class="row wrap list">
      {now.map((s, i) => (
        <span key={i} class="row g4">
          {roleOf(b, here, i) && <span class="t3">{roleOf(b, here, i)}</span>}
          {known && old[i] !== s && old[i] !== undefined && <SlotLink slot={old[i]} sign="del" />}
          <SlotLink slot={s} sign={known && old[i] !== s ? "add" : null} />
        </span>
      ))}
      {known && old.slice(now.length).map((s, i) => <SlotLink key={`o${i}`} slot={s} sign="del" />)}
    </span>
  );
}

function Slots({ slots, more }: { slots: readonly number[]; more: boolean }) {
  return (
    <span class="row wrap list">
      {slots.map((s) => (
        <SlotLink key={s} slot={s} sign={null} />
      ))}
      {more && <span class="t3">and more</span>}
    </span>
  );
}

function SlotLink({ slot, sign }: { slot: number; sign: "del" | "add" | null }) {
  const b = bundle.value!;
  const { before, after } = sides.value!;
  const c = sign === "del" || !after.has(slot) ? before.nodeOf(slot) : after.nodeOf(slot);
  const name = c >= 0 ? `${uidOf(b, c)} ${opOf(b, c)}` : `slot ${slot}`;
  return (
    <button
      type="button"
      class={`link mono ${sign ? `c${sign}` : "plain"}`}
      onClick={() => select(slot)}
      onPointerEnter={() => (lit.value = [slot])}
      onPointerLeave={() => (lit.value = [])}
      onFocus={() => (lit.value = [slot])}
      onBlur={() => (lit.value = [])}
    >
      {sign === "del" ? "−" : sign === "add" ? "+" : ""}
      {name}
    </button>
  );
}

/** One of the pass, whatever the step. */
const historian = computed(() => sides.value?.after);
/** History does not depend on the step: computed once per pass and slot. */
const historyOf = computed(() => {
  const walker = historian.value;
  const memo = new Map<number, ReturnType<NonNullable<typeof walker>["history"]>>();
  return (slot: number) => {
    let found = memo.get(slot);
    if (!found) memo.set(slot, (found = walker?.history(slot) ?? []));
    return found;
  };
});

/** The same, as a closed row of the rule's tab. */
export function NodeHistory({ slot }: { slot: number }) {
  const told = historyOf.value(slot).filter((h) => h.what !== REBUILT).length;
  return (
    <Disclosure
      id="history"
      title={
        <>
          History of <span class="mono">{slotName(slot).split(" ")[0]}</span>
        </>
      }
      figure={plural(told, "step")}
    >
      {() => <History slot={slot} />}
    </Disclosure>
  );
}

function History({ slot }: { slot: number }) {
  const all = historyOf.value(slot);
  const [unfolded, unfold] = useState(false);
  const told = unfolded ? all : all.filter((h) => h.what !== REBUILT);
  const folded = all.length - told.length;
  const b = bundle.value;
  const c = sides.value?.after.nodeOf(slot) ?? -1;
  const origins = b && c >= 0 ? places(b.origins[b.nodes.origin[c] ?? -1] ?? "") : [];
  const at = told.findLast((h) => h.step <= step.value);
  const lines = b && c >= 0 ? linkedLines.value(b.nodes.id[c] ?? -1).lines : 0;
  return (
    <>
      <h3>
        History in this pass
        <span class="sp" />
        <span class="num">
          {folded > 0 ? `${count(told.length)} of ${count(all.length)}` : count(all.length)}
        </span>
      </h3>
      <ul class="hist" aria-label="History in this pass" onKeyDown={walkButtons}>
        {origins.length > 0 && (
          <li>
            <Places all={origins} />
          </li>
        )}
        {told.slice(0, MOST_HISTORY).map((h) => (
          <li key={h.step} class={h === at ? "on" : undefined}>
            <button
              type="button"
              class="link el"
              title={`${h.what}${h.rule >= 0 ? ` by ${ruleName(h.rule)}` : ""}, step ${count(h.step)}`}
              onClick={() => goStep(h.step)}
            >
              {h.what}
              {h.rule >= 0 && (
                <>
                  {" "}
                  by <b>{ruleName(h.rule)}</b>
                </>
              )}
            </button>
            <span class="t3 num">{count(h.step)}</span>
          </li>
        ))}
        {told.length > MOST_HISTORY && (
          <li>
            <span class="t3">{count(told.length - MOST_HISTORY)} later changes not shown</span>
          </li>
        )}
        {folded > 0 && (
          <li>
            <button type="button" class="link t3" onClick={() => unfold(true)}>
              {plural(folded, "rebuild")} because a source changed
            </button>
          </li>
        )}
        {lines > 0 && (
          <li>
            <span class="t2">{plural(lines, "line")} in the sources below</span>
          </li>
        )}
      </ul>
    </>
  );
}
