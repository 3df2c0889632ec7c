/** One slot: what it holds at this step, its neighbours, and what happened to it in the pass. */
import { computed } from "@preact/signals";
import { go, goStep, select, toggleNodeFilter } from "../../app/actions";
import { count, place } from "../../app/format";
import { bundle, ruleName, sides, step, view } from "../../app/state";
import { lit } from "../../app/stage";
import type { Bundle } from "../../data/types";
import { argOf, dtypeOf, opOf, rangesOf, shapeOf, tagOf, uidOf } from "../../model/content";
import { opGroup } from "../../model/ops";
import { Clipped, Place } from "../../ui/Text";
import { linkedLines } from "../sources/link";

const MOST_USERS = 24;
const MOST_HISTORY = 200;

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
        <span class="t2">It is not in the graph at this step.</span>
        <History slot={slot} />
      </div>
    );
  const change = now < 0 ? "del" : was < 0 ? "add" : was !== now ? "mov" : null;
  const words = { del: "− removed", add: "+ added", mov: `◆ was ${uidOf(b, was)}` };
  return (
    <>
      <div class="sec">
        <h3>
          Node <span class="mono">{uidOf(b, c)}</span>
          <span class="sp" />
          {change && <span class={`badge ${change}`}>{words[change]}</span>}
        </h3>
        <Facts slot={slot} b={b} c={c} />
        <div class="row wrap g4 actions">
          <button
            type="button"
            class="btn sm"
            title="T"
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
      <div class="sec">
        <History slot={slot} />
      </div>
    </>
  );
}

function Facts({ slot, b, c }: { slot: number; b: Bundle; c: number }) {
  const both = sides.value!;
  const side = both.after.has(slot) ? both.after : both.before;
  const lo = b.nodes.lo[c] ?? "";
  const hi = b.nodes.hi[c] ?? "";
  const users = side.usersOf(slot, MOST_USERS + 1);
  const loc = place(b.locs[b.nodes.loc[c] ?? -1] ?? "");
  const origin = place(b.origins[b.nodes.origin[c] ?? -1] ?? "");
  const shown: [string, preact.ComponentChildren][] = [
    ["Op", <span class="mono">{opOf(b, c)} <span class="t3">{opGroup(opOf(b, c))}</span></span>],
    ["Dtype", <span class="mono">{dtypeOf(b, c) || "none"}</span>],
  ];
  if (argOf(b, c)) shown.push(["Arg", <span class="mono"><Clipped text={argOf(b, c)} /></span>]);
  if (shapeOf(b, c)) shown.push(["Shape", <span class="mono"><Clipped text={shapeOf(b, c)} /></span>]);
  if (lo || hi)
    shown.push(["Bounds", <span class="mono"><Clipped text={lo === hi ? `always ${lo}` : `${lo} .. ${hi}`} /></span>]);
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
  if (origin.file) shown.push(["Your line", <Place {...origin} />]);
  if (loc.file) shown.push(["Made at", <Place {...loc} />]);
  if (tagOf(b, c)) shown.push(["Tag", <span class="mono"><Clipped text={tagOf(b, c)} /></span>]);
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

const AXIS_CLASS: Record<string, string> = { g: "g", l: "l", r: "r0", u: "u" };

function Ranges({ text }: { text: string }) {
  return (
    <span class="mono">
      {text.split(" ").map((r, i) => (
        <span key={i} class={AXIS_CLASS[r[0] ?? ""]}>
          {r}{" "}
        </span>
      ))}
    </span>
  );
}

/** Source slots in order; where the step moved one, both ends. */
function Sources({ slot }: { slot: number }) {
  const { before, after } = sides.value!;
  const old = before.has(slot) ? before.srcOf(slot) : [];
  const now = after.has(slot) ? after.srcOf(slot) : old;
  const known = before.has(slot) && after.has(slot);
  if (!now.length && !old.length) return <span class="t3">none</span>;
  return (
    <span class="row wrap g4">
      {now.map((s, i) => (
        <span key={i} class="row g4">
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
    <span class="row wrap g4">
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
    >
      {sign === "del" ? "−" : sign === "add" ? "+" : ""}
      {name}
    </button>
  );
}

/** History does not depend on the step: computed once per pass and slot. */
const historyOf = computed(() => {
  const walker = sides.value?.after;
  const memo = new Map<number, ReturnType<NonNullable<typeof walker>["history"]>>();
  return (slot: number) => {
    let found = memo.get(slot);
    if (!found) memo.set(slot, (found = walker?.history(slot) ?? []));
    return found;
  };
});

function History({ slot }: { slot: number }) {
  const all = historyOf.value(slot);
  const b = bundle.value;
  const c = sides.value?.after.nodeOf(slot) ?? -1;
  const origin = b && c >= 0 ? place(b.origins[b.nodes.origin[c] ?? -1] ?? "") : null;
  const at = all.findLast((h) => h.step <= step.value);
  const lines = b && c >= 0 ? linkedLines.value(b.nodes.id[c] ?? -1) : 0;
  return (
    <>
      <h3>
        History in this pass
        <span class="sp" />
        <span class="num">{count(all.length)}</span>
      </h3>
      <ul class="hist">
        {origin?.file && (
          <li>
            <Place {...origin} />
          </li>
        )}
        {all.slice(0, MOST_HISTORY).map((h) => (
          <li key={h.step} class={h === at ? "on" : undefined}>
            <button type="button" class="link el" onClick={() => goStep(h.step)}>
              {h.what}
              {h.rule >= 0 && (
                <>
                  {" "}
                  by <b>{ruleName(h.rule)}</b>
                </>
              )}
            </button>
            <span class="t3 num">{h.step}</span>
          </li>
        ))}
        {all.length > MOST_HISTORY && (
          <li>
            <span class="t3">{count(all.length - MOST_HISTORY)} later changes; filter by this node to see them</span>
          </li>
        )}
        {lines > 0 && (
          <li>
            <span class="t2">{count(lines)} lines in the sources below</span>
          </li>
        )}
      </ul>
    </>
  );
}
