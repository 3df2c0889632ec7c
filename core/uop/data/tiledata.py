"""What is said of the tiles of a kernel, as typed JSON, and back. Never looks at nodes."""

from __future__ import annotations

from typing import Final, cast, get_args

from core.errors import DTypeError
from core.tensor_cores import COPY, Fragment
from core.uop.data.argparts import Json, bad, fields_of, integer, integers, layout_of, text_of
from core.uop.kernelinfo import TileInfo, TileKind

MAX_TILES: Final = 1 << 10
"""Tiles of one kernel."""
MAX_SIDE: Final = 1 << 24
"""Rows, columns, stages and warps of a tile."""
MAX_LAYOUT: Final = 10, 8
"""Bits of the number of a lane and of a register in the layout of a tile."""
_LAYOUT_NAME: Final = 32
"""Characters of the name of a layout."""


def encode_tile(tile: TileInfo) -> Json:
    """A tile as typed JSON; `decode_tiles` reads it."""
    base = tile.base
    return {
        "kind": tile.kind,
        "number": tile.number,
        "shape": [tile.rows, tile.columns],
        "warps": tile.warps,
        "layout": tile.layout,
        "base": None if base is None else [" ".join(base.lanes), " ".join(base.elements)],
        "swizzled": tile.swizzled,
        "stages": tile.stages,
    }


def decode_tiles(data: Json) -> tuple[TileInfo, ...]:
    """The tiles that a list of `encode_tile` is of. Raises FormatError for anything else."""
    if not isinstance(data, list) or len(data) > MAX_TILES:
        raise bad("a list of tiles", data)
    return tuple(_decode_tile(item) for item in data)


def _decode_tile(data: Json) -> TileInfo:
    names = ("kind", "number", "shape", "warps", "layout", "base", "swizzled", "stages")
    fields = fields_of(data, names)
    kind, swizzled, name = fields["kind"], fields["swizzled"], text_of(fields["layout"])
    shape, warps, stages = (
        integers(fields["shape"]),
        integer(fields["warps"]),
        integer(fields["stages"]),
    )
    number, base = integer(fields["number"]), fields["base"]
    sized = len(shape) == 2 and all(1 <= n <= MAX_SIDE for n in (*shape, warps, stages))
    if kind not in get_args(TileKind) or not isinstance(swizzled, bool) or not sized or number < 0:
        raise bad("a tile", data)
    if len(name) > _LAYOUT_NAME or (base is not None) is not (kind in ("RT", "RV")):
        raise bad("a tile", data)
    lies = None if base is None else _decode_base(base, shape)
    return TileInfo(
        cast("TileKind", kind), number, shape[0], shape[1], warps, name, lies, swizzled, stages
    )


def _decode_base(data: Json, shape: tuple[int, ...]) -> Fragment:
    """The layout of a base tile that a tile of this shape is made of."""
    try:
        base = layout_of(data)
    except DTypeError as error:
        raise bad("the layout of a tile", data) from error
    small = len(base.lanes) <= MAX_LAYOUT[0] and len(base.elements) <= MAX_LAYOUT[1]
    sizes = [base.size("m"), base.size("n")]
    full = {bit for n, letter in zip(sizes, "mn", strict=True) for bit in _bits(letter, n)}
    named = {bit for bit in (*base.lanes, *base.elements) if bit != COPY}
    if not small or named != full or any(a % b for a, b in zip(shape, sizes, strict=True)):
        raise bad("the layout of a tile", data)
    return base


def _bits(letter: str, size: int) -> list[str]:
    return [f"{letter}{i}" for i in range(size.bit_length() - 1)]
