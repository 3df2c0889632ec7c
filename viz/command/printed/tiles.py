"""The tiles of a kernel in `uopviz show`: what each is, who holds its elements, and what its banks
make of the last pass.

Makes data and lines; never prints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from core.errors import UopvizError
from viz.command.columns import Column, plural, table
from viz.command.line.names import Row
from viz.replay.graphtext import states
from viz.terminal import Line, Styled
from viz.views.answers import TILES
from viz.views.runs.run import Run

_COLUMNS: Final = (
    Column("tile", style="name"),
    Column("shape", True),
    Column("dtype"),
    Column("memory"),
    Column("layout"),
    Column("owners"),
    Column("conflicts", True),
    Column("if plain", True),
)


def tile_rows(store: Run, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The tiles of the kernel that is the first of these rows, shared ones first; none where it has
    none, and where that is not known. Conflicts are those of one warp at all loads and stores of
    the graph after its last pass."""
    kernel = rows[0] if rows else None
    if kernel is None or kernel["label"] != "kernel":
        return []
    try:
        said = store.ask(TILES, kernel["id"])
    except UopvizError:  # left out of an exported file, or too large
        return []
    if not said or not said["tiles"]:
        return []
    last = _last_nodes(store, rows)
    counts = dict.fromkeys(range(len(said["tiles"])), (0, 0))
    for access in said["accesses"]:
        if access["node"] in last:
            conflicts, plain = counts[access["tile"]]
            counts[access["tile"]] = conflicts + access["conflicts"], plain + access["plain"]
    found = [_tile(one, *counts[at]) for at, one in enumerate(said["tiles"])]
    return sorted(found, key=lambda one: (one["space"] != "shared", one["kind"], one["number"]))


def _tile(one: Mapping[str, Any], conflicts: int, plain: int) -> dict[str, Any]:
    shared = one["space"] == "shared"
    base = None if shared else one["base"]
    elements = base["rows"] * base["columns"] if base else 0
    return {
        "kind": one["kind"],
        "number": one["number"],
        "rows": one["rows"],
        "columns": one["columns"],
        "dtype": one["dtype"],
        "space": one["space"],
        "stages": one["stages"] if shared else 1,
        "warps": 1 if shared else one["warps"],
        "layout": None if shared else one["layout"],
        "swizzle": one["keys"] if shared else None,
        "owners": len(base["copies"]) if base else None,
        "registers": one["rows"] * one["columns"] // elements * base["count"] if base else None,
        "conflicts": conflicts if shared else None,
        "plain": plain if shared else None,
    }


def _last_nodes(store: Run, rows: Sequence[Row]) -> set[int]:
    """The nodes of the graph after the last pass of a kernel."""
    passes = [r for r in rows if r["kind"] == "rewrite" and r["parent"] == rows[0]["row"]]
    bundle = store.bundle(passes[-1]["id"]) if passes else None
    if bundle is None:
        return set()
    _, after = states(bundle, len(bundle["steps"]))
    return {bundle["nodes"]["id"][node] for node, _ in after.values()}


def tile_lines(tiles: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    """A table of the tiles; nothing where there are none."""
    if not tiles:
        return
    yield Styled("Tiles", "heading")
    yield from table(_COLUMNS, (_row(one) for one in tiles))
    yield ""


def _row(one: Mapping[str, Any]) -> tuple[str, ...]:
    stages = f" x {one['stages']}" if one["stages"] > 1 else ""
    name, shape = f"{one['kind']} {one['number']}", f"{one['rows']} x {one['columns']}{stages}"
    if one["space"] == "shared":
        swizzled = f"swizzled, {one['swizzle']} keys" if one["swizzle"] > 1 else "as it is"
        counts = f"{one['conflicts']:,}", f"{one['plain']:,}"
        return name, shape, one["dtype"], "shared", swizzled, "work group", *counts
    owners = f"{plural(one['owners'], 'lane')}, {one['registers']:,} in each"
    warps = f", {one['warps']} warps" if one["warps"] > 1 else ""
    return name, shape, one["dtype"], f"registers{warps}", one["layout"] or "", owners, "", ""
