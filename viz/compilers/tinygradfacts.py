"""Shapes and bounds of tinygrad's nodes, worked out from what a trace has of them.

As tinygrad 0.11 to 0.14 do it (`UOp._shape`, `UOp._min_max`), each version by its own rules; where
a shape depends on a variable, or a rule is not known here, there is none. Never runs tinygrad.
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from viz.budget import take
from viz.dialect.dialect import NO_FACT, Fact
from viz.dialect.saidfacts import SaidFacts
from viz.format.cells import as_text
from viz.read.tracefile import TraceFile

Shape = tuple[int, ...]
Bounds = tuple[int, int]
_MAX_ARG: Final = 4000
_MAX_AXES: Final = 32
_MAX_BITS: Final = 256
"""Of a bound; larger ones are left out."""
_NODE: Final = 400
_KEPT: Final = 500_000
_VERSION: Final = re.compile(r"tinygrad 0\.(\d{1,4})\b")
_TUPLE: Final = re.compile(r"\((?:(?:-?\d{1,15}|True|False)(?:, |,|(?=\))))*\)")
_PAIRS: Final = re.compile(r"\((?:\(-?\d{1,15}, -?\d{1,15}\)(?:, |,|(?=\))))*\)")
_NUMBER: Final = re.compile(r"-?\d{1,15}")
_VIEW: Final = re.compile(r"View\(shape=(\([\d, ]*\)), strides=")
_VARIABLE: Final = re.compile(r"\('[^']{1,200}', (-?\d{1,30}), (-?\d{1,30})\)")
_PARAMETER: Final = re.compile(r"\bvmin_vmax=\((-?\d{1,30}), (-?\d{1,30})\)")
_AXES: Final = re.compile(r"\(<?Ops\.\w+(?:: \d+>)?, (\((?:\d+,? ?)*\)|\d+)")
_POINTER: Final = re.compile(r"\.ptr\((\d{1,15})")
_VECTOR: Final = re.compile(r"\.vec\((\d{1,6})\)")
_INTEGERS: Final = {
    **{name: (-(1 << bits - 1), (1 << bits - 1) - 1)
       for name, bits in (("char", 8), ("short", 16), ("int", 32), ("long", 64))},
    **{name: (0, (1 << bits) - 1)
       for name, bits in (("uchar", 8), ("ushort", 16), ("uint", 32), ("ulong", 64))},
    "bool": (0, 1),
}  # fmt: skip
_SIZES: Final = {
    **dict.fromkeys(("bool", "char", "uchar", "fp8e4m3", "fp8e5m2"), 1),
    **dict.fromkeys(("short", "ushort", "half", "bfloat16"), 2),
    **dict.fromkeys(("int", "uint", "float"), 4),
    **dict.fromkeys(("long", "ulong", "double"), 8),
}
_WHOLE: Final = ("index", "weakint")
"""Integers without a width."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SHAPELESS: Final = _names(
    "IF ENDIF BARRIER SINK GROUP REWRITE_ERROR LINEAR PROGRAM SOURCE TUPLE FUNCTION UNIQUE "
    "LUNIQUE DEVICE CUSTOM_FUNCTION PYLITERAL PTRCAT CALL INS CUSTOM CUSTOMI BLOCK BLOCKSTART "
    "BLOCKEND BLOCKFINAL KERNEL CUSTOM_KERNEL NOOP CHILD CHILDREN GETTUPLE BINARY"
)
_PASSED: Final = _names(
    "MSTACK MSELECT DETACH CONTIGUOUS CONTIGUOUS_BACKWARD AFTER COPY ALLREDUCE FUSE PRECAST"
)
_ELEMENTS: Final = _names(
    "CAST EXP2 LOG2 SIN SQRT RECIP RECIPROCAL NEG TRUNC ADD MUL SHL SHR IDIV CDIV FLOORDIV MAX MOD "
    "CMOD FLOORMOD CMPLT CMPNE CMPEQ XOR OR AND THREEFRY SUB FDIV POW WHERE MULACC ASSIGN"
)


class _Known(NamedTuple):
    """What is known of a node. `numbers`: its elements, where each is one number."""

    shape: Shape | None = None
    bounds: Bounds | None = None
    numbers: Shape | None = None


class _Node(NamedTuple):
    op: str
    dtype: str
    """Without "dtypes."."""
    arg: str
    src: tuple[_Known, ...]
    kinds: tuple[str, ...]
    """The dtypes of its sources."""


class TinygradFacts:
    """The facts of the nodes of one file, each worked out once."""

    def __init__(self, file: TraceFile) -> None:
        self._file = file
        self._stated = SaidFacts(file)
        self._known: dict[int, _Known] = {}
        self._lock = threading.Lock()
        found = _VERSION.match(as_text(file.meta.get("compiler")))
        self._version = int(found[1]) if found else 0

    def of(self, nodes: Sequence[int]) -> list[Fact]:
        """Facts of nodes: those that the trace states, else those that follow from their ops."""
        extra = self._file.nodes.field("extra")
        with self._lock:
            if len(self._known) > _KEPT:
                self._known.clear()
            return [
                self._stated.said(int(extra[node])) if extra[node] else self._fact(node)
                for node in nodes
            ]

    def left_out(self, nodes: Sequence[int]) -> list[str]:
        """Nothing is left out."""
        return []

    def _fact(self, node: int) -> Fact:
        known = self._of(node)
        if known.shape is None and known.bounds is None:
            return NO_FACT
        shape = "" if known.shape is None else "x".join(map(str, known.shape))
        low, high = ("", "") if known.bounds is None else map(str, known.bounds)
        return Fact(shape, low, high)

    def shape(self, node: int) -> Shape | None:
        """The shape of a node; None where it has none, or it is not known."""
        with self._lock:
            return self._of(node).shape

    def bounds(self, node: int) -> Bounds | None:
        """The bounds of a node of whole numbers; None where they are not known."""
        with self._lock:
            return self._of(node).bounds

    def _of(self, node: int) -> _Known:
        stack = [node]
        while stack:
            at = stack[-1]
            sources = self._file.nodes.sources(at)
            missing = [s for s in sources if s not in self._known]
            if missing:
                stack += missing
                continue
            stack.pop()
            if at not in self._known:
                take(6 + len(sources), _NODE)
                self._known[at] = self._work_out(at, sources)
        return self._known[node]

    def _work_out(self, node: int, sources: Sequence[int]) -> _Known:
        field, text = self._file.nodes.field, self._file.text
        op, dtype, arg = (text(int(field(name)[node])) for name in ("op", "dtype", "arg"))
        kinds = tuple(text(int(field("dtype")[s])).removeprefix("dtypes.") for s in sources)
        src = tuple(self._known[s] for s in sources)
        made = _Node(op, dtype.removeprefix("dtypes."), _plain(arg), src, kinds)
        if not 11 <= self._version <= 14:
            return _Known()
        bounds = _bounds(made, self._version)
        if bounds is not None and max(b.bit_length() for b in bounds) > _MAX_BITS:
            bounds = None
        shape = _shape(made, self._version)
        if shape is not None and (len(shape) > _MAX_AXES or min(shape, default=0) < 0):
            shape = None
        return _Known(shape, bounds, _numbers(made, bounds))


def _plain(arg: str) -> str:
    """An argument as tinygrad writes it."""
    if not arg or len(arg) > _MAX_ARG:
        return ""
    try:
        found: Any = json.loads(arg)
    except (ValueError, RecursionError):
        return arg
    return found if isinstance(found, str) else str(found)


def _tuple(text: str) -> Shape | None:
    """The numbers of "(4, 10)"; None for any other text."""
    if not _TUPLE.fullmatch(text):
        return None
    return tuple(map(int, _NUMBER.findall(text.replace("True", "1").replace("False", "0"))))


def _pairs(text: str) -> list[tuple[int, int]] | None:
    if not _PAIRS.fullmatch(text):
        return None
    numbers = [*map(int, _NUMBER.findall(text))]
    return [*zip(numbers[::2], numbers[1::2], strict=True)]


def _numbers(node: _Node, bounds: Bounds | None) -> Shape | None:
    """The elements of a node that only holds numbers, such as the new shape of a RESHAPE."""
    if node.op == "VCONST":
        return _tuple(node.arg)
    if node.op in ("VECTORIZE", "STACK"):
        parts = [one.numbers for one in node.src]
        if any(part is None or len(part) != 1 for part in parts) or len(parts) > _MAX_AXES:
            return None
        return tuple(part[0] for part in parts if part)
    if bounds is None or bounds[0] != bounds[1]:
        return None
    vector = _VECTOR.search(node.dtype)
    return (bounds[0],) * min(int(vector[1]), _MAX_AXES) if vector else (bounds[0],)


def _shape(node: _Node, version: int) -> Shape | None:
    op, src = node.op, node.src
    first = src[0].shape if src else None
    if op in _SHAPELESS:
        return None
    if op in ("BUFFER", "PARAM", "DEFINE_GLOBAL", "DEFINE_LOCAL", "DEFINE_REG", "BUFFER_VIEW"):
        return _memory(node, version)
    if op == "VIEW" and version == 11:
        views = _VIEW.findall(node.arg)
        return _tuple(views[-1]) if views else None
    if op in ("CONST", "DEFINE_VAR", "RANGE", "SPECIAL", "BIND", "VCONST"):
        return _constant(node, version)
    if op in ("STACK", "VECTORIZE"):
        if version < 13:
            return None
        if version == 13 and ".ptr" in node.dtype:
            return first
        return () if not src else None if first is None else (len(src), *first)
    if op == "INDEX":
        return _indexed(node, version)
    if op in ("STAGE", "BUFFERIZE"):
        ends = [one.bounds for one in src[1:]]
        front = tuple(end[1] + 1 for end in ends if end)
        if len(front) != len(ends):
            return None
        return front if op == "BUFFERIZE" else None if first is None else (*front, *first)
    if op in _PASSED or (op == "LOAD" and version != 12):
        return first
    if op in ("STORE", "END"):
        return None if version == 13 else first
    if op == "GEP" and version == 13:
        numbers = _tuple(node.arg)
        return None if numbers is None else (len(numbers),) if len(numbers) > 1 else ()
    if op in ("UNROLL", "CONTRACT", "VCAT") and version == 13:
        return _lanes(node)
    if op == "BITCAST":
        return _bitcast(node, first)
    if op in ("RESHAPE", "EXPAND", "PERMUTE", "PAD", "SHRINK", "FLIP", "REDUCE", "REDUCE_AXIS"):
        return _moved(node, first, version)
    if op == "CAST" and version == 13 and (_VECTOR.search(node.dtype) or ".ptr" in node.kinds[0]):
        return None if ".ptr" in node.dtype else _lanes(node)
    if op in _ELEMENTS:
        if version < 13:  # those without one do not count
            shapes = [one.shape for one in src if one.shape is not None]
            return shapes[0] if shapes and all(s == shapes[0] for s in shapes) else None
        return _broadcast([one.shape for one in src])
    return None


def _memory(node: _Node, version: int) -> Shape | None:
    if version == 14:
        return node.src[0].numbers if node.src else () if node.op == "BUFFER" else None
    if node.op == "BUFFER":
        return (int(node.arg),) if node.arg.isdecimal() and len(node.arg) < 16 else None
    if node.op == "BUFFER_VIEW":
        numbers = _tuple(node.arg)
        return numbers[:1] if numbers else None
    pointer = _POINTER.search(node.dtype)
    if pointer is None:
        return node.src[0].numbers if node.op == "PARAM" and node.src else None
    vector = _VECTOR.search(node.dtype)
    if version == 13 and vector and node.op != "PARAM":
        return int(pointer[1]), int(vector[1])
    return (int(pointer[1]),) if int(pointer[1]) > 0 else None


def _constant(node: _Node, version: int) -> Shape | None:
    if version < 13:  # of a kernel: none; of a tensor: with a device
        if node.op not in ("CONST", "DEFINE_VAR", "BIND") or not node.src:
            return None
        return () if version == 12 else node.src[0].shape
    return _lanes(node) if node.op in ("CONST", "DEFINE_VAR") else ()


def _lanes(node: _Node) -> Shape:
    """In 0.13: a vector is one axis."""
    vector = _VECTOR.search(node.dtype)
    return (int(vector[1]),) if vector else ()


def _indexed(node: _Node, version: int) -> Shape | None:
    if version < 13 or not node.src or any(one.shape is None for one in node.src):
        return None
    front = tuple(n for one in node.src[1:] for n in one.shape or ())
    return (*front, *(node.src[0].shape or ())[len(node.src) - 1 :])


def _bitcast(node: _Node, first: Shape | None) -> Shape | None:
    new, old = _SIZES.get(node.dtype), _SIZES.get(node.kinds[0]) if node.kinds else None
    if first is None or new is None or old is None:
        return None
    return first if new == old or not first else (*first[:-1], first[-1] * old // new)


def _moved(node: _Node, first: Shape | None, version: int) -> Shape | None:
    op = node.op
    if op in ("RESHAPE", "EXPAND"):
        given = _tuple(node.arg) if version == 11 else _given(node, 1)
        if op == "RESHAPE" and (given is None or first is None):
            return given
        if given is None or first is None:
            return None
        if op == "RESHAPE":
            return given if math.prod(given) == math.prod(first) else None
        return (*given, *first) if version == 14 else given
    if first is None:
        return None
    match op:
        case "PERMUTE":
            order = _tuple(node.arg)
            fits = order is not None and sorted(order) == [*range(len(first))]
            return tuple(first[n] for n in order) if fits and order is not None else None
        case "PAD" | "SHRINK":
            return _cut(node, first, version)
        case "REDUCE" | "REDUCE_AXIS":
            return _reduced(node, first, version)
        case _:
            return first


def _cut(node: _Node, first: Shape, version: int) -> Shape | None:
    if version == 14:
        sizes = _given(node, 2)
        return sizes if sizes is not None and len(sizes) == len(first) else None
    if version == 11:
        pairs = _pairs(node.arg)
    else:
        begins, ends = _given(node, 1), _given(node, 2)
        if begins is None or ends is None or len(begins) != len(ends):
            return None
        pairs = [*zip(begins, ends, strict=True)]
    if pairs is None or len(pairs) != len(first):
        return None
    if node.op == "SHRINK":
        return tuple(end - begin for begin, end in pairs)
    return tuple(n + low + high for n, (low, high) in zip(first, pairs, strict=True))


def _reduced(node: _Node, first: Shape, version: int) -> Shape | None:
    found = _AXES.match(node.arg)
    if node.op == "REDUCE" and version < 13:  # in a kernel
        return first if version == 12 else None
    if found is None:
        return None
    if version == 14:
        count = int(found[1]) if found[1].isdecimal() else -1
        return first[count:] if 0 <= count <= len(first) else None
    axes = _tuple(found[1])
    if axes is None:
        return None
    if not axes and version == 13:
        return _lanes(node)
    return tuple(1 if at in axes else n for at, n in enumerate(first))


def _given(node: _Node, at: int) -> Shape | None:
    return node.src[at].numbers if at < len(node.src) else None


def _broadcast(shapes: Sequence[Shape | None]) -> Shape | None:
    known = [shape for shape in shapes if shape is not None]
    if len(known) != len(shapes) or not known:
        return None
    made: list[int] = []
    for sizes in zip_longest(*(reversed(shape) for shape in known), fillvalue=1):
        wide = {n for n in sizes if n != 1}
        if len(wide) > 1:
            return None
        made.append(wide.pop() if wide else 1)
    return tuple(reversed(made))


def _bounds(node: _Node, version: int) -> Bounds | None:
    """The bounds of whole numbers and booleans."""
    dtype = _VECTOR.sub("", node.dtype)
    if dtype not in _INTEGERS and dtype not in _WHOLE:
        return None
    whole = _INTEGERS.get(dtype)
    found = _worked_out(node, dtype, version)
    return whole if found is None else found


def _worked_out(node: _Node, dtype: str, version: int) -> Bounds | None:
    src = [one.bounds for one in node.src]
    match node.op:
        case "CONST":
            text = {"True": "1", "False": "0"}.get(node.arg, node.arg)
            return (int(text), int(text)) if _NUMBER.fullmatch(text) else None
        case "VCONST":
            numbers = _tuple(node.arg)
            return (min(numbers), max(numbers)) if numbers else None
        case "DEFINE_VAR" if found := _VARIABLE.fullmatch(node.arg):
            return int(found[1]), int(found[2])
        case "PARAM" | "BUFFER" if found := _PARAMETER.search(node.arg):
            return int(found[1]), int(found[2])
        case "RANGE" | "SPECIAL" if src and src[0]:
            return 0, src[0][1] - 1
        case "BIND" | "AFTER" | "INDEX" | "GEP" | "UNROLL" | "CONTRACT" if src:
            if node.op == "INDEX" and version < 14:
                return None
            return src[0]
        case "STACK" | "VECTORIZE" | "CAT" | "VCAT":
            return _joined(src)
        case "WHERE" if len(src) == 3 and dtype != "bool":
            return _joined(src[1:])
        case "CAST" if src and src[0]:
            return _cast(src[0], dtype, version)
        case _:
            pass
    if len(src) == 2 and src[0] and src[1]:
        return _binary(node.op, *src[0], *src[1], dtype)
    return None


def _joined(src: Sequence[Bounds | None]) -> Bounds | None:
    known = [one for one in src if one]
    if not known or len(known) != len(src):
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def _cast(source: Bounds, dtype: str, version: int) -> Bounds | None:
    low, high = source
    limits = _INTEGERS.get(dtype)
    if limits is None:
        return source
    if dtype == "bool" or dtype.startswith("u"):
        return source if version == 14 and limits[0] <= low and high <= limits[1] else None
    return max(low, limits[0]), min(high, limits[1])


def _binary(op: str, a: int, b: int, c: int, d: int, dtype: str) -> Bounds | None:
    """Of a in [a, b] and another one in [c, d]."""
    match op:
        case "ADD":
            return a + c, b + d
        case "SUB":
            return a - d, b - c
        case "MUL":
            ends = (a * c, a * d, b * c, b * d)
            return min(ends), max(ends)
        case "MAX":
            return max(a, c), max(b, d)
        case "CMPLT":
            return int(b < c), int(a < d)
        case "CMPNE":
            return int(b < c or d < a), int(not a == b == c == d)
        case "AND" if dtype != "bool" and c == d >= 0:
            return 0, d if a < 0 else min(b, d)
        case "AND" | "OR" if dtype == "bool":
            return (min(a, c), min(b, d)) if op == "AND" else (max(a, c), max(b, d))
        case "SHL" | "SHR" if c == d and 0 <= c < 64:
            return (a << c, b << c) if op == "SHL" else (a >> c, b >> c)
        case "FLOORDIV" if c * d > 0 and a <= b:
            ends = (a // c, a // d, b // c, b // d)
            return min(ends), max(ends)
        case "IDIV" | "CDIV" if c * d > 0:
            ends = (_cdiv(a, c), _cdiv(a, d), _cdiv(b, c), _cdiv(b, d))
            return min(ends), max(ends)
        case "FLOORMOD" if c == d > 0 and a <= b:
            return (a % c, b % c) if a // c == b // c else (0, c - 1)
        case "CMOD" if c == d > 0:
            low = 0 if a > 0 else a if a > -c else 1 - c
            return low, 0 if b < 0 else b if b < c else c - 1
        case "MOD" | "CMOD" if c > 0:
            return (0, min(b, d - 1)) if a >= 0 else (1 - d, 0 if b <= 0 else d - 1)
        case "XOR" if c == d == -1:
            return ~b, ~a
        case _:
            return None


def _cdiv(a: int, b: int) -> int:
    """Rounded towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
