/** The tile that the selected node is, is a part of or computes with, as a picture. */
import { useMemo, useState } from "preact/hooks";
import { count, plural } from "../../../state/format";
import type { RegisterTile } from "../../../data/messages/tile";
import { Cut } from "./Cut";
import { registerFace, type Shown } from "./faces";
import { Picture } from "./Picture";
import { alone, registersOf } from "./places";
import { Seg } from "./Seg";
import { SharedView } from "./SharedView";
import { drawn, watchedTiles, type Drawn } from "./store";

/** Ops of which a reader expects a picture, also where the answer has failed. */
const EXPECTED = /^(WMMA|DEFINE_REG|DEFINE_LOCAL)$/;

export function TileSection({ node, op }: { node: number; op: string }) {
  const all = drawn.value;
  const [key, choose] = useState<string | null>(null);
  const error = watchedTiles.error.value;
  if (error && EXPECTED.test(op))
    return (
      <div class="sec">
        <h3>Tile</h3>
        <p class="t2">
          {error.what}. {error.hint}
        </p>
      </div>
    );
  const shown = all.find((d) => d.key === key) ?? all[0];
  if (!shown) return null;
  const leftOut = watchedTiles.answer.value?.leftOut;
  return (
    <div class="sec tile">
      <h3>
        {shown.kind === "operand" ? "Matrix instruction" : "Tile"}
        <span class="sp" />
        {all.length > 1 ? (
          <select
            aria-label="Tile to show"
            value={shown.key}
            onChange={(e) => choose(e.currentTarget.value)}
          >
            {all.map((d) => (
              <option key={d.key} value={d.key}>
                {optionOf(d)}
              </option>
            ))}
          </select>
        ) : (
          <span class="mono">{shown.name}</span>
        )}
      </h3>
      {shown.kind === "shared" ? (
        <SharedView
          key={`${node} ${shown.key}`}
          tile={shown.tile}
          index={shown.index}
          name={shown.name}
        />
      ) : (
        <Registers key={`${node} ${shown.key}`} of={shown} />
      )}
      {leftOut && <p class="t2">Left out: {leftOut}.</p>}
    </div>
  );
}

function optionOf(d: Drawn): string {
  if (d.kind === "operand") return `${d.name}: ${d.base.rows} × ${d.base.columns} ${d.dtype}`;
  return `${d.name}: ${d.tile.rows} × ${d.tile.columns} ${d.tile.dtype}`;
}

const LAYOUTS: Readonly<Record<string, string>> = {
  row: "as operand A",
  col: "as operand B",
  acc: "as a product",
};

/** A tile or vector in registers, or a part of a matrix instruction. */
function Registers({ of }: { of: Exclude<Drawn, { kind: "shared" }> }) {
  const [shows, show] = useState<Shown>("lane");
  const [stacked, stack] = useState(false);
  const tile = of.kind === "register" ? of.tile : null;
  const own = of.kind === "register" ? of.own : null;
  const grid = useMemo(
    () => tile ?? { ...alone(of.kind === "operand" ? of.base : EMPTY), shown: shownOf(of) },
    [of],
  );
  const warps = tile?.warps ?? 1;
  const face = useMemo(
    () => registerFace(grid, warps, stacked, shows, own),
    [grid, warps, stacked, shows, own],
  );
  const start = useMemo(() => firstMarked(face), [grid, own]);
  return (
    <>
      <p class="t2">{tile ? sentence(tile) : of.kind === "operand" && operand(of)}</p>
      {of.kind === "operand" && <p class="t2 mono">{breakable(of.of)}</p>}
      <div class="row wrap g4 tools">
        <Seg
          label="Number and color of an element"
          value={shows}
          of={[
            ["lane", "Lanes"],
            ["register", "Registers"],
          ]}
          onChange={show}
        />
        {warps > 1 && (
          <Seg
            label="Warps to show"
            value={stacked ? "all" : "one"}
            of={[
              ["one", "One warp"],
              ["all", `${warps} warps`],
            ]}
            onChange={(to) => stack(to === "all")}
          />
        )}
      </div>
      <Picture face={face} name={`${of.name} in registers`} start={start} />
      {own && (
        <p class="t2">
          Outlined: {own.length === 1 ? `register ${own[0]}` : plural(own.length, "register")} of
          each lane, which the node reads or writes
        </p>
      )}
      {stacked && (
        <p class="t2">
          As a group of all warps holds it. What each warp does for itself has the same rows in
          each.
        </p>
      )}
      {tile && <Cut rows={tile.rows} columns={tile.columns} shown={tile.shown} />}
    </>
  );
}

const EMPTY = { rows: 1, columns: 1, lanes: 1, count: 1, lane: [0], position: [0], copies: [0] };

function shownOf(of: Exclude<Drawn, { kind: "shared" }>): [number, number] {
  if (of.kind === "register") return of.tile.shown;
  return [Math.min(of.base.rows, MOST), Math.min(of.base.columns, MOST)];
}

const MOST = 256;

/** The first element that the node itself is about. */
function firstMarked(face: ReturnType<typeof registerFace>): readonly [number, number] {
  for (let row = 0; row < face.rows; row++)
    for (let column = 0; column < face.columns; column++)
      if (face.marked(row, column)) return [row, column];
  return [0, 0];
}

function sentence(tile: RegisterTile): string {
  const { rows, columns, dtype, layout, warps, base } = tile;
  const kind =
    tile.kind === "RV"
      ? `A vector of ${count(Math.max(rows, columns))} ${dtype}, one for each ${columns === 1 ? "row" : "column"}`
      : `${rows} × ${columns} ${dtype} that lie ${LAYOUTS[layout] ?? `in layout ${layout}`}`;
  const each = warps > 1 ? `in each of ${warps} warps; ` : "in registers; ";
  return `${kind}, ${each}${plural(registersOf(tile), "register")} in each of ${base.lanes} lanes`;
}

/** The name of an instruction, which may go on in the next line after a dot. */
const breakable = (name: string) =>
  name.split(/(?<=\.)/).map((part, i) => [i > 0 && <wbr key={i} />, part]);

function operand(of: Extract<Drawn, { kind: "operand" }>): string {
  const { rows, columns, lanes, count: held } = of.base;
  return `${of.name}: ${rows} × ${columns} ${of.dtype}, ${plural(held, "element")} in each of ${lanes} lanes`;
}
