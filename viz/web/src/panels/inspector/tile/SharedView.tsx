/** A tile in shared memory: its banks, with and without a swizzle, and what a warp does with it. */
import { useMemo, useState } from "preact/hooks";
import type { SharedTile } from "../../../data/messages/tile";
import { goTo } from "../../../parts/emulation/stepping";
import { canEmulate, emulate, emulation, openEmulator } from "../../../parts/emulation/store";
import { count, plural } from "../../../state/format";
import { type Face, type Numbered, sharedFace } from "./faces";
import { Picture } from "./Picture";
import { Seg } from "./Seg";
import { accessesOf, countedOf, type Alike } from "./store";
import { Cut } from "./Cut";

export function SharedView({
  tile,
  index,
  name,
}: {
  tile: SharedTile;
  index: number;
  name: string;
}) {
  const [swizzled, swizzle] = useState(true);
  const [numbered, number] = useState<Numbered>("lane");
  const all = accessesOf(index);
  const [key, choose] = useState<string | null>(null);
  const chosen = all.find((a) => a.key === key) ?? null;
  const access = chosen?.access ?? null;
  const face = useMemo(
    () => sharedFace(tile, swizzled, access, numbered),
    [tile, swizzled, access, numbered],
  );
  const start = useMemo(() => firstOf(tile, access), [tile, access]);
  return (
    <>
      <p class="t2">{sentence(tile)}</p>
      <div class="row wrap g4 tools">
        {tile.keys > 1 && (
          <Seg
            label="Places in memory"
            value={swizzled ? "swizzled" : "plain"}
            of={[
              ["swizzled", "Swizzled"],
              ["plain", "Plain"],
            ]}
            onChange={(to) => swizzle(to === "swizzled")}
          />
        )}
        {access ? (
          <Seg
            label="Number and color of an element"
            value={numbered}
            of={[
              ["lane", "Lanes"],
              ["bank", "Banks"],
            ]}
            onChange={number}
          />
        ) : (
          <span class="t2">Numbers are banks</span>
        )}
      </div>
      <Picture key={key ?? ""} face={face} name={`${name} in shared memory`} start={start} />
      {access && (
        <p class="t2">
          {hasMarks(face)
            ? "Outlined: elements whose bank has to serve another word in the same turn"
            : "No bank has to serve two words in one turn"}
        </p>
      )}
      <Cut rows={tile.rows} columns={tile.columns} shown={tile.shown} />
      {all.length > 0 && <Accesses all={all} chosen={key} choose={choose} keys={tile.keys} />}
      <Emulated tile={index} />
    </>
  );
}

function sentence({ rows, columns, dtype, stages, keys, kind }: SharedTile): string {
  const shape =
    kind === "SV" ? `A vector of ${count(columns)} ${dtype}` : `${rows} × ${columns} ${dtype}`;
  const several = stages > 1 ? `, ${plural(stages, "stage")}` : "";
  return `${shape} in shared memory${several}, ${keys > 1 ? "swizzled" : "not swizzled"}`;
}

function hasMarks(face: Face): boolean {
  for (let row = 0; row < face.rows; row++)
    for (let column = 0; column < face.columns; column++) if (face.marked(row, column)) return true;
  return false;
}

/** " of 4 matrices". */
const matricesOf = ({ matrices = 0 }: Alike["access"]): string =>
  matrices > 1 ? ` of ${count(matrices)} matrices` : matrices ? " of a matrix" : "";

/** Where the first lane of an access begins. */
function firstOf(tile: SharedTile, access: Alike["access"] | null): readonly [number, number] {
  const first = access?.first.find((n) => n >= 0) ?? 0;
  return [Math.floor(first / tile.columns), first % tile.columns];
}

function Accesses({
  all,
  chosen,
  choose,
  keys,
}: {
  all: readonly Alike[];
  chosen: string | null;
  choose: (key: string | null) => void;
  keys: number;
}) {
  return (
    <table class="accesses" aria-label="What a warp does with the tile">
      <thead>
        <tr>
          <th>A warp, at this step</th>
          <th class="r">Conflicts</th>
          {keys > 1 && (
            <th class="r" title="Conflicts in a tile that is not swizzled">
              If plain
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {all.map((one) => (
          <tr key={one.key}>
            <td>
              <button
                type="button"
                class="link"
                aria-pressed={one.key === chosen}
                title="Show which lane reads or writes which element"
                onClick={() => choose(one.key === chosen ? null : one.key)}
              >
                {one.mine ? "this node: " : one.count > 1 ? `${count(one.count)} × ` : ""}
                {one.access.stores ? "store" : "load"}
                {matricesOf(one.access)}
              </button>{" "}
              <span class="t2">
                {one.access.times > 1 && `${count(one.access.times)} × `}
                {plural(one.access.width, "byte")} {one.access.matrices ? "from each" : "a"} lane
              </span>
            </td>
            <td class={one.access.conflicts ? "r bad" : "r"}>
              {count(one.access.conflicts * one.count)}
            </td>
            {keys > 1 && <td class="r t2">{count(one.access.plain * one.count)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What the emulator counted, and the way there. */
function Emulated({ tile }: { tile: number }) {
  const counted = countedOf(tile);
  const e = emulation.value;
  if (!counted || !e)
    return canEmulate() && !e ? (
      <p class="t2">
        <button type="button" class="link" onClick={() => void emulate()}>
          Emulate the kernel
        </button>{" "}
        to count the conflicts of each line
      </p>
    ) : null;
  const first = e.walk.line.indexOf(counted.line);
  return (
    <p class="t2">
      Emulated for {e.target}: {plural(counted.conflicts, "conflict")} in{" "}
      {plural(counted.lines, "line")}
      {counted.all && " of all shared memory"}.{" "}
      <button
        type="button"
        class="link"
        onClick={() => {
          openEmulator();
          if (first >= 0) goTo(first);
        }}
      >
        Line {counted.line} in the emulator
      </button>
    </p>
  );
}
