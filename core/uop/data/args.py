"""Node arguments as typed JSON, and back.

None, bool, str and small int are themselves; a tuple is a list; everything else is an object with
one key, its tag: `{"float": 0.5}`, `{"int": "36893488147419103232"}`, `{"dtype": "int8.vec(4)"}`,
`{"view": {...}}`; the call of a kernel that is one operation is that. Decoding believes nothing:
unknown tags, wrong types, deep nesting and sizes out of bounds raise FormatError. Never pickles,
never evaluates text, never looks at nodes.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, TypeVar, cast

from core.dtype import TEXEL, AddrSpace, DType, ImageDType, PtrDType, dtypes, image_dtype
from core.errors import DTypeError, FormatError, UopvizError
from core.shape import ShapeTracker, View
from core.tensor_cores import TensorCore
from core.uop.call.kernelcall import KernelCall
from core.uop.call.scatter import Scatter
from core.uop.data.argparts import (
    MAX_RANK,
    Json,
    bad,
    fields_of,
    integer,
    integers,
    layout_of,
    text_of,
)
from core.uop.data.tiledata import decode_tiles, encode_tile
from core.uop.kernelinfo import AxisType, KernelInfo, Opt, OptOps
from core.uop.ops import Ops

E = TypeVar("E", Ops, AxisType, OptOps, AddrSpace)

MAX_DEPTH: Final = 24
MAX_ITEMS: Final = 1 << 20
MAX_LANES: Final = 1 << 16
_EXACT: Final = 1 << 53
"""Larger integers travel as text, since a JSON number in a browser is a float64."""

_SPACES: Final = {"": AddrSpace.GLOBAL, " local": AddrSpace.LOCAL, " reg": AddrSpace.REG}
_DTYPE: Final = re.compile(
    r"(\w+)(?:\.vec\((\d{1,5})\))?(?:(\*)( local| reg)?(?: \[(\d{1,15})\])?)?"
)

_IMAGE: Final = re.compile(rf"image([fh])\(([1-9]\d{{0,8}}), ([1-9]\d{{0,8}}), {TEXEL}\)(\*)?")


def encode_dtype(dtype: DType) -> str:
    """The text form of a dtype; `decode_dtype` reads it."""
    return str(dtype)


@lru_cache(maxsize=4096)
def decode_dtype(text: str) -> DType:
    """The dtype with this text form. Raises FormatError for any other text."""
    if (image := _IMAGE.fullmatch(text)) is not None:
        kind, height, width, star = image.groups()
        made = image_dtype(16 if kind == "h" else 32, int(height), int(width))
        return made.ptr() if star else made
    found = _DTYPE.fullmatch(text) if len(text) < 64 else None
    if found is None:
        raise bad("a dtype", text)
    name, count, star, space, size = found.groups()
    scalar = _dtypes_by_name.get(name)
    if scalar is None or not 1 <= int(count or 1) <= MAX_LANES:
        raise bad("a dtype", text)
    try:
        dtype = scalar.vec(int(count or 1))
    except UopvizError as error:
        raise bad("a dtype", text) from error
    if star is None:
        return dtype
    return dtype.ptr(int(size) if size is not None else -1, _SPACES[space or ""])


def encode_arg(arg: object) -> Json:
    """A node's argument as typed JSON. Raises FormatError for a type that has no tag."""
    if arg is None or isinstance(arg, bool | str):
        return arg
    encoder = _encoders.get(type(arg))
    if encoder is not None:
        return encoder(arg)
    if isinstance(arg, DType):
        return {"dtype": encode_dtype(arg)}
    raise FormatError(
        f"an argument of type {type(arg).__name__} cannot be written",
        hint="arguments are numbers, text, tuples and the types listed in core/uop/data/args.py",
    )


def decode_arg(data: Json, depth: int = 0) -> object:
    """The argument that `encode_arg` wrote. Raises FormatError for anything else."""
    if depth > MAX_DEPTH:
        raise bad("an argument of bounded depth", "(nested too deep)")
    if data is None or isinstance(data, bool):
        return data
    if isinstance(data, str):
        return text_of(data)
    if isinstance(data, int):
        return integer(data)
    if isinstance(data, list):
        if len(data) > MAX_ITEMS:
            raise bad("an argument of bounded size", f"({len(data)} items)")
        return tuple(decode_arg(item, depth + 1) for item in data)
    if isinstance(data, dict) and len(data) == 1:
        tag, body = next(iter(data.items()))
        decoder = _decoders.get(tag)
        if decoder is not None:
            return decoder(body, depth)
    raise bad("an argument", data)


def _encode_int(arg: object) -> Json:
    value = int(cast("int", arg))
    return value if -_EXACT <= value <= _EXACT else {"int": str(value)}


def _decode_big(data: Json, _: int) -> int:
    digits = text_of(data)
    if re.fullmatch(r"-?[0-9]{1,1200}", digits) is None:
        raise bad("an integer as text", digits)
    return integer(int(digits))


def _encode_float(arg: object) -> Json:
    value = float(cast("float", arg))
    return {"float": value if math.isfinite(value) else repr(value)}


def _decode_float(data: Json, _: int) -> float:
    if isinstance(data, float) and math.isfinite(data):
        return data
    if isinstance(data, int) and not isinstance(data, bool) and -_EXACT <= data <= _EXACT:
        return float(data)  # a browser writes 1.0 as 1
    if data in ("nan", "inf", "-inf"):
        return float(cast("str", data))
    raise bad("a float", data)


def _encode_tuple(arg: object) -> Json:
    return [encode_arg(item) for item in cast("tuple[object, ...]", arg)]


def _encode_view(view: View) -> Json:
    mask = None if view.mask is None else [[begin, end] for begin, end in view.mask]
    return {
        "shape": [*view.shape],
        "strides": [*view.strides],
        "offset": view.offset,
        "mask": cast("Json", mask),
    }


def _decode_view(data: Json, _: int = 0) -> View:
    fields = fields_of(data, ("shape", "strides", "offset", "mask"))
    mask = fields["mask"]
    if mask is not None and (not isinstance(mask, list) or len(mask) > MAX_RANK):
        raise bad("a mask", mask)
    pairs = None if mask is None else [_pair(item) for item in mask]
    try:
        return View.create(
            integers(fields["shape"]), integers(fields["strides"]), integer(fields["offset"]), pairs
        )
    except UopvizError as error:
        raise bad("a view", data) from error


def _pair(data: Json) -> tuple[int, int]:
    values = integers(data)
    if len(values) != 2:
        raise bad("a pair", data)
    return values[0], values[1]


def _encode_tracker(arg: object) -> Json:
    return {"shapetracker": [_encode_view(v) for v in cast("ShapeTracker", arg).views]}


def _decode_tracker(data: Json, _: int) -> ShapeTracker:
    if not isinstance(data, list) or not 1 <= len(data) <= MAX_RANK:
        raise bad("a list of views", data)
    views = tuple(_decode_view(item) for item in data)
    for inner, outer in itertools.pairwise(views):
        if outer.real_size > inner.size:
            raise bad("views that fit into each other", data)
    return ShapeTracker(views)


def _encode_opt(arg: object) -> Json:
    opt = cast("Opt", arg)
    return {"opt": {"op": opt.op.name, "axis": opt.axis, "arg": encode_arg(opt.arg)}}


def _decode_opt(data: Json, _: int) -> Opt:
    fields = fields_of(data, ("op", "axis", "arg"))
    axis, arg = fields["axis"], fields["arg"]
    return Opt(
        _member(OptOps, fields["op"]),
        None if axis is None else integer(axis),
        integers(arg) if isinstance(arg, list) else None if arg is None else integer(arg),
    )


def _encode_info(arg: object) -> Json:
    info = cast("KernelInfo", arg)
    fields: dict[str, Json] = {"name": info.name, "opts": encode_arg(info.opts)}
    if info.tiles:
        fields["tiles"] = [encode_tile(tile) for tile in info.tiles]
    if info.found_for:
        fields["found_for"] = info.found_for
    return {"kernelinfo": fields}


def _decode_info(data: Json, depth: int) -> KernelInfo:
    more = [key for key in ("tiles", "found_for") if isinstance(data, dict) and key in data]
    fields = fields_of(data, ("name", "opts", *more))
    found_for = text_of(fields.get("found_for", ""))
    tiles = decode_tiles(fields.get("tiles", []))
    opts = decode_arg(fields["opts"], depth + 1)
    if opts is None:
        return KernelInfo(text_of(fields["name"]), None, tiles, found_for)
    if not isinstance(opts, tuple):
        raise bad("a list of optimisations", opts)
    items = cast("tuple[object, ...]", opts)
    kept = tuple(item for item in items if isinstance(item, Opt))
    if len(kept) != len(items):
        raise bad("a list of optimisations", opts)
    return KernelInfo(text_of(fields["name"]), kept, tiles, found_for)


def _encode_call(arg: object) -> Json:
    how = cast("KernelCall", arg).does
    if how is None:
        raise FormatError("a kernel by hand is written by its name", hint="its AST is a node")
    return _encode_scatter(how)


def _encode_scatter(arg: object) -> Json:
    how = cast("Scatter", arg)
    op = None if how.op is None else how.op.name
    return {"scatter": {"axis": how.axis, "op": op, "least": how.least, "anew": how.anew}}


def _decode_scatter(data: Json, _: int) -> Scatter:
    fields = fields_of(data, ("axis", "op", "least", "anew"))
    op, least, anew = (fields[name] for name in ("op", "least", "anew"))
    if not isinstance(least, bool) or not isinstance(anew, bool):
        raise bad("how values are written", data)
    axis = integer(fields["axis"])
    if not 0 <= axis < MAX_RANK:
        raise bad("an axis", data)
    return Scatter(axis, None if op is None else _member(Ops, op), least, anew)


def _encode_core(arg: object) -> Json:
    core = cast("TensorCore", arg)
    layouts: Json = [[" ".join(p.lanes), " ".join(p.elements)] for p in core.fragments]
    return {
        "tensorcore": {
            "name": core.name,
            "dims": list(core.dims),
            "dtypes": [encode_dtype(core.dtype_in), encode_dtype(core.dtype_out)],
            "layouts": layouts,
            "bits": core.bits,
        }
    }


def _decode_core(data: Json, _: int) -> TensorCore:
    fields = fields_of(data, ("name", "dims", "dtypes", "layouts", "bits"))
    dims, names, layouts = integers(fields["dims"]), fields["dtypes"], fields["layouts"]
    if not isinstance(names, list) or not isinstance(layouts, list):
        raise bad("a matrix instruction", data)
    if (len(dims), len(names), len(layouts)) != (3, 2, 3) or not all(2 <= n <= 256 for n in dims):
        raise bad("a matrix instruction", data)
    name, bits = text_of(fields["name"]), integer(fields["bits"])
    of, to = (decode_dtype(text_of(text)) for text in names)
    try:
        a, b, c = (layout_of(item) for item in layouts)
        return TensorCore(name, dims[0], dims[1], dims[2], of, to, a, b, c, bits)
    except DTypeError as error:
        raise bad("a matrix instruction", data) from error


def _member(kind: type[E], data: Json) -> E:
    found = kind.__members__.get(text_of(data))
    if found is None:
        raise bad(f"a member of {kind.__name__}", data)
    return found


def _named(tag: str) -> Callable[[object], Json]:
    return lambda arg: {tag: cast("Ops", arg).name}


_dtypes_by_name: Final[Mapping[str, DType]] = {d.name: d for d in (dtypes.void, *dtypes.all)}

_encoders: Final[Mapping[type, Callable[[object], Json]]] = {
    int: _encode_int,
    float: _encode_float,
    tuple: _encode_tuple,
    Ops: _named("op"),
    AxisType: _named("axis"),
    OptOps: _named("optop"),
    AddrSpace: _named("space"),
    View: lambda arg: {"view": _encode_view(cast("View", arg))},
    ShapeTracker: _encode_tracker,
    Opt: _encode_opt,
    KernelInfo: _encode_info,
    TensorCore: _encode_core,
    KernelCall: _encode_call,
    Scatter: _encode_scatter,
    DType: lambda arg: {"dtype": encode_dtype(cast("DType", arg))},
    PtrDType: lambda arg: {"dtype": encode_dtype(cast("DType", arg))},
    ImageDType: lambda arg: {"dtype": encode_dtype(cast("DType", arg))},
}

_decoders: Final[Mapping[str, Callable[[Json, int], object]]] = {
    "int": _decode_big,
    "float": _decode_float,
    "op": lambda data, _: _member(Ops, data),
    "axis": lambda data, _: _member(AxisType, data),
    "optop": lambda data, _: _member(OptOps, data),
    "space": lambda data, _: _member(AddrSpace, data),
    "view": _decode_view,
    "shapetracker": _decode_tracker,
    "opt": _decode_opt,
    "kernelinfo": _decode_info,
    "tensorcore": _decode_core,
    "scatter": _decode_scatter,
    "dtype": lambda data, _: decode_dtype(text_of(data)),
}
