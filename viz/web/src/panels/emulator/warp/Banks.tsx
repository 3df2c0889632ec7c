/** What memory makes of the access: which lanes each bank answers in which wavefront; the sectors. */
import type { Served, Walk } from "../../../data/messages/emulation";
import {
  access,
  accesses,
  chosenAccess,
  litLanes,
  litPlaces,
  pointed,
  press,
  pressed,
} from "../../../parts/emulation/lit";
import { line } from "../../../parts/emulation/stepping";
import type { Access } from "../../../parts/emulation/walk";
import { count, plural } from "../../../state/format";

const BANKS = 32;

export function Banks({ walk }: { walk: Walk }) {
  const all = accesses.value;
  const now = access.value;
  return (
    <div class="banks" data-space={now?.space}>
      <div class="eh">
        {now ? <Title of={now} /> : <b>Memory</b>}
        {all.length > 1 && (
          <span class="seg sm" role="group" aria-label="Access">
            {all.map((one, i) => (
              <button
                type="button"
                key={i}
                aria-pressed={one === now}
                onClick={() => (chosenAccess.value = i)}
              >
                {one.stores ? "store to" : "load from"} {one.argument || one.space}
              </button>
            ))}
          </span>
        )}
        <span class="el">{now ? said(now) : nothing(walk)}</span>
      </div>
      {now?.served && <Picture of={now.served} space={now.space} />}
    </div>
  );
}

const nothing = (walk: Walk): string =>
  walk.accesses.length || !walk.line.length
    ? `Line ${count(line.value)} accesses no memory beyond parameters.`
    : "This warp accesses no memory beyond parameters.";

function Title({ of: { space, served } }: { of: Access }) {
  const at = count(line.value);
  if (space === "global") return <b>Sectors of line {at}</b>;
  if (space !== "shared" || !served) return <b>Memory of line {at}</b>;
  return (
    <>
      <b>Banks of line {at}</b>
      {served.extra ? (
        <b class="cdel nw">
          <span class="sig del">≠</span> {served.ways}-way
        </b>
      ) : (
        <span class="nw t2">no conflict</span>
      )}
    </>
  );
}

/** "4 of 32 banks answer 32 lanes; the rest idle" */
function said({ space, served, at, bytes, stores }: Access): string {
  const lanes = plural(at.size, "lane");
  if (!served) return `${lanes} ${stores ? "store" : "load"} ${plural(bytes, "byte")} each`;
  const places = new Set(served.hits.map(([place]) => place)).size;
  if (space === "global")
    return `${plural(places, "sector")} of 32 bytes for ${lanes} of ${plural(bytes, "byte")}; ${
      places > served.least ? `${count(served.least)} could hold as much` : "no fewer could"
    }`;
  const phases = served.first.length;
  const extra = served.extra ? `, ${plural(served.extra, "extra wavefront")}` : "";
  return `${count(places)} of ${BANKS} banks answer ${lanes}${
    phases > 1 ? ` in ${phases} phases` : ""
  }${extra}${places < BANKS ? "; the rest idle" : ""}`;
}

interface Cell {
  wavefront: number;
  lanes: readonly number[];
}

function Picture({ of, space }: { of: Served; space: string }) {
  const shared = space === "shared";
  const cells = new Map<number, Cell[]>();
  for (const [place, wavefront, lanes] of of.hits) {
    const own = cells.get(place) ?? [];
    own.push(...(shared ? [{ wavefront, lanes }] : lanes.map((lane) => ({ wavefront, lanes: [lane] }))));
    cells.set(place, own);
  }
  const places = shared ? Array.from({ length: BANKS }, (_, i) => i) : [...cells.keys()];
  const first = new Set(of.first);
  const hit = places.filter((place) => cells.has(place));
  return (
    <div
      class="bank-picture"
      role="region"
      aria-label={shared ? "Banks" : "Sectors"}
      tabIndex={0}
      onKeyDown={(e) => movePlace(e, hit)}
      onPointerLeave={() => (pointed.value = null)}
    >
      <div class="bk" style={{ "--places": `${places.length}` }}>
        {places.map((place) => (
          <Column
            key={place}
            name={shared ? "bank" : "sector"}
            place={place}
            cells={cells.get(place) ?? []}
            first={first}
          />
        ))}
      </div>
    </div>
  );
}

interface ColumnProps {
  name: string;
  place: number;
  cells: readonly Cell[];
  /** The first wavefronts of phases: the others are extra. */
  first: ReadonlySet<number>;
}

function Column({ name, place, cells, first }: ColumnProps) {
  const sorted = [...cells].sort((a, b) => a.wavefront - b.wavefront);
  const isExtra = (cell: Cell): boolean => name === "bank" && !first.has(cell.wavefront);
  const conflict = sorted.some(isExtra);
  const lanes = sorted.flatMap((cell) => cell.lanes);
  const lit = litPlaces.value.has(place);
  return (
    <div
      class={lit ? "bcol lit" : "bcol"}
      data-place={place}
      onPointerEnter={() => (pointed.value = { kind: "place", place })}
    >
      <div class="cells">
        {sorted.map((cell, i) => (
          <i
            key={i}
            class={cellClass(cell, isExtra(cell))}
            title={titleOf(name, place, cell, isExtra(cell))}
            onPointerEnter={(e) => {
              e.stopPropagation();
              if (cell.lanes.length === 1) pointed.value = { kind: "lane", lane: cell.lanes[0]! };
            }}
            onClick={() =>
              press(
                cell.lanes.length === 1
                  ? { kind: "lane", lane: cell.lanes[0]! }
                  : { kind: "place", place },
              )
            }
          >
            {cell.lanes[0]}
            {cell.lanes.length > 1 && "+"}
          </i>
        ))}
      </div>
      <button
        type="button"
        tabIndex={-1}
        class={conflict ? "bl conflict num" : "bl num"}
        aria-label={`${name} ${place}: ${lanes.length ? `lanes ${lanes.join(", ")}` : "idle"}`}
        aria-pressed={lit}
        disabled={!cells.length}
        onClick={() => press({ kind: "place", place })}
      >
        {place}
      </button>
    </div>
  );
}

function cellClass({ lanes }: Cell, extra: boolean): string | undefined {
  const lit = lanes.some((lane) => litLanes.value.has(lane));
  return [extra && "extra", lit && "lit"].filter(Boolean).join(" ") || undefined;
}

/** "bank 8, lanes 1 and 33: wavefront 3, which is extra" */
function titleOf(name: string, place: number, { wavefront, lanes }: Cell, extra: boolean): string {
  const who = lanes.length > 1 ? `lanes ${lanes.join(", ")} of one word` : `lane ${lanes[0]}`;
  if (name !== "bank") return `${name} ${place}: ${who}`;
  return `${name} ${place}: ${who}, in wavefront ${wavefront + 1}${extra ? ", which is extra" : ""}`;
}

/** Up and down light one bank or sector after another. */
function movePlace(e: KeyboardEvent, all: readonly number[]): void {
  const way = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
  if (!way || e.ctrlKey || e.metaKey || e.altKey) return;
  e.preventDefault();
  e.stopPropagation();
  const now = pressed.peek();
  const from = now?.kind === "place" ? all.indexOf(now.place) : way > 0 ? -1 : all.length;
  const place = all[Math.max(0, Math.min(all.length - 1, from + way))];
  if (place !== undefined) pressed.value = { kind: "place", place };
}
