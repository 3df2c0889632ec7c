/** All lanes of the warp as rows: where each accesses memory, and its registers. */
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Emulation } from "../../../data/messages/emulation";
import { access, litLanes, pointed, press, pressed } from "../../../parts/emulation/lit";
import { at, line, runToChange } from "../../../parts/emulation/stepping";
import {
  type Memory,
  ranAt,
  type Register,
  registersAt,
  storedAt,
  usedBy,
} from "../../../parts/emulation/walk";
import { count, plural } from "../../../state/format";
import { Choose } from "./Choose";
import { arrange, picked, place, placesOf, shown } from "./shown";

/** Widths of columns, px. */
const LANE = 48;
const ADDRESS = 108;
const BANK = 64;
const REGISTER = 92;
const EDGE = 24;
/** Registers that are named once, at most. */
const MOST_EQUAL = 24;

export function Lanes({ of: { walk } }: { of: Emulation }) {
  const now = at.value;
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const el = box.current!;
    const measure = (): void => setWidth(el.clientWidth);
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(el);
    return () => watch.disconnect();
  }, []);
  const registers = useMemo(() => registersAt(walk, now), [walk, now]);
  const used = useMemo(() => usedBy(walk, line.value), [walk, line.value]);
  const where = access.value;
  const fixed = LANE + ADDRESS + BANK + EDGE;
  const room = Math.max(1, Math.floor((width - fixed) / REGISTER));
  const { columns, equal, rest } = arrange(registers, used, picked.value, room);
  const stored = useMemo(() => storedAt(walk, now), [walk, now]);
  const places = where ? placesOf(where) : null;
  const before = new Map(stored.filter((m) => m.mine).flatMap((m) => [...m.cells]));
  const spare = columns.length < room;
  const lanes = Array.from({ length: walk.width }, (_, i) => i);
  return (
    <div class="lanes-pane">
      <div class="eh">
        <b>Registers</b>
        <span class="nw">
          {plural(walk.width, "lane")}
          {line.value > 0 && `, those of line ${count(line.value)} first`}
        </span>
        <span class="sp" />
        <Equal registers={equal} />
        <Choose registers={registers} rest={rest} />
      </div>
      {stored
        .filter((m) => !m.mine)
        .map((m, i) => (
          <p class="others t2" key={i}>
            <span class="badge mov">◆ stored</span> by other warps: {plural(m.cells.size, "thread")}{" "}
            of them, to <span class="mono">{named(m)}</span>
          </p>
        ))}
      <div
        class="lanes"
        ref={box}
        role="region"
        aria-label="Registers of the warp"
        tabIndex={0}
        onKeyDown={(e) => moveLane(e, walk.width)}
        onPointerLeave={() => (pointed.value = null)}
      >
        <table class="mono num" style={{ "--lanes": `${walk.width}` }}>
          <thead>
            <tr>
              <th scope="col" style={{ width: `${LANE}px` }}>
                lane
              </th>
              <th scope="col" style={{ width: `${ADDRESS}px` }} title={whatAddress(where?.stores)}>
                {where ? (where.stores ? "stores to" : "loads from") : "address"}
              </th>
              <th scope="col" class="bank" style={{ width: `${BANK}px` }}>
                {where?.space === "global" ? "sector" : "bank"}
              </th>
              {columns.map((r) => (
                <th
                  scope="col"
                  key={r.number}
                  class={r.changed ? "changed" : undefined}
                  style={{ width: `${REGISTER}px` }}
                >
                  <button
                    type="button"
                    class="link"
                    title={`${r.name}, ${r.kind}: go on to where it is written next`}
                    onClick={() => runToChange(r.number)}
                  >
                    {r.changed && <span class="sig mov">◆</span>}
                    {r.name}
                  </button>
                </th>
              ))}
              {spare && <td class="spare" />}
            </tr>
          </thead>
          <tbody>
            {lanes.map((lane) => (
              <tr
                key={lane}
                class={rowClass(lane, ranAt(walk, now, lane))}
                onPointerEnter={() => (pointed.value = { kind: "lane", lane })}
                onClick={() => press({ kind: "lane", lane })}
              >
                <th
                  scope="row"
                  title={`thread ${walk.first + lane} of the block${
                    ranAt(walk, now, lane) ? "" : ": did not run this instruction"
                  }`}
                >
                  {lane}
                </th>
                <td title={changeOf(before.get(walk.first + lane))}>
                  {where?.at.has(lane) ? place(where, where.at.get(lane)!) : ""}
                </td>
                <td class="bank">{places?.get(lane) ?? ""}</td>
                {columns.map((r) => (
                  <td
                    key={r.number}
                    class={r.changed ? "changed" : undefined}
                    title={r.values[lane] === null ? "never written" : String(r.values[lane])}
                  >
                    {shown(r.values[lane]!)}
                  </td>
                ))}
                {spare && <td class="spare" />}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

const whatAddress = (stores: boolean | undefined): string =>
  stores === undefined
    ? "This instruction accesses no memory"
    : `Where each lane ${stores ? "stores" : "loads"}: the element, or the byte of shared memory`;

function rowClass(lane: number, ran: boolean): string | undefined {
  const found = [!ran && "off", litLanes.value.has(lane) && "lit"].filter(Boolean).join(" ");
  return found || undefined;
}

/** Up and down light one lane after another. */
function moveLane(e: KeyboardEvent, width: number): void {
  const way = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
  if (!way || e.ctrlKey || e.metaKey || e.altKey) return;
  e.preventDefault();
  e.stopPropagation();
  const now = pressed.peek();
  const from = now?.kind === "lane" ? now.lane : way > 0 ? -1 : width;
  const lane = Math.max(0, Math.min(width - 1, from + way));
  pressed.value = { kind: "lane", lane };
  const rows = (e.currentTarget as HTMLElement).querySelectorAll("tbody tr");
  rows[lane]?.scrollIntoView({ block: "nearest" });
}

/** Registers of which all lanes have the same value. */
function Equal({ registers }: { registers: readonly Register[] }) {
  if (!registers.length) return null;
  const all = registers.slice(0, MOST_EQUAL);
  const more = registers.length - all.length;
  const said = all.map((r) => `${r.name} ${shown(r.values[0]!)}`).join(", ");
  return (
    <span class="equal el" title={`Equal in all lanes: ${said}${more ? `, and ${more} more` : ""}`}>
      <span class="wide">equal in all lanes: </span>
      <span class="narrow">equal: </span>
      {all.map((r) => (
        <span key={r.number} class={r.changed ? "mono changed" : "mono"}>
          {r.changed && <span class="sig mov">◆</span>}
          {r.name} {shown(r.values[0]!)}
        </span>
      ))}
    </span>
  );
}

/** "data0[3]: 0 → 1.5" */
function changeOf(cell: { place: string; values: readonly unknown[]; before: readonly unknown[] } | undefined): string | undefined {
  return cell && `${cell.place}: ${cell.before.join(", ")} → ${cell.values.join(", ")}`;
}

/** "data0[0], data0[1], data0[2] … data0[31]" */
function named({ cells }: Memory): string {
  const found = [...cells.values()].map((cell) => cell.place);
  if (found.length < 5) return found.join(", ");
  return `${found.slice(0, 3).join(", ")} … ${found.at(-1)}`;
}
