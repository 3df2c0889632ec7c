"""Steps of tinygrad on numbers, judged by the meaning that their ops have in `core`.

Where an op is the same in both, its node becomes one of `core`; any other node is a value that may
be anything between its bounds, the same on both sides. A difference is believed only where
arithmetic became an expression of the same values, and these are loops, variables or memory that is
given. Floats are compared on samples; tinygrad's rules hold for finite ones, whatever the sign of a
zero. Steps on vectors and effects are not judged.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from core.dtype import DType, dtypes
from core.errors import UopvizError
from core.prove.decide import Checker
from core.prove.verdict import Verdict
from core.uop import Ops, UOp
from core.uop.patterns.rule import Assumes
from viz.compilers.tinygradfacts import TinygradFacts
from viz.foreign.reads import VIEWS, Reads
from viz.format.cells import parse_json
from viz.read.records import Rewrite
from viz.read.steps import read_steps
from viz.read.tracefile import TraceFile

SECONDS: Final = 300.0
"""For the steps of one pass."""
_DEEPEST: Final = 400
"""Nodes of one side that become nodes of `core`; what is below them is a value."""
_DTYPES: Final = {
    "dtypes.char": dtypes.int8,
    "dtypes.uchar": dtypes.uint8,
    "dtypes.short": dtypes.int16,
    "dtypes.ushort": dtypes.uint16,
    "dtypes.int": dtypes.int32,
    "dtypes.uint": dtypes.uint32,
    "dtypes.long": dtypes.int64,
    "dtypes.ulong": dtypes.uint64,
    "dtypes.bool": dtypes.bool,
    **dict.fromkeys(("dtypes.index", "dtypes.weakint"), dtypes.int64),
    "dtypes.half": dtypes.float16,
    "dtypes.bfloat16": dtypes.bfloat16,
    "dtypes.float": dtypes.float32,
    **dict.fromkeys(("dtypes.double", "dtypes.weakfloat"), dtypes.float64),
}
_SAME: Final = {
    **{name: getattr(Ops, name) for name in ("ADD", "SUB", "MUL", "MAX", "NEG", "WHERE")},
    **{name: getattr(Ops, name) for name in ("AND", "OR", "XOR", "CMPLT", "CMPNE", "CMPEQ")},
    **{name: getattr(Ops, name) for name in ("SHL", "SHR")},
    "IDIV": Ops.IDIV,
    "CDIV": Ops.IDIV,
    "MOD": Ops.MOD,
    "CMOD": Ops.MOD,
    "RECIPROCAL": Ops.RECIPROCAL,
    "FDIV": Ops.FDIV,
    "SQRT": Ops.SQRT,
    "TRUNC": Ops.TRUNC,
    "MULACC": Ops.MULACC,
    "EXP2": Ops.EXP2,
    "LOG2": Ops.LOG2,
    "SIN": Ops.SIN,
}
_APPROXIMATED: Final = frozenset(("EXP2", "LOG2", "SIN"))
"""Functions that become polynomials: how exact these have to be is the compiler's affair."""
_NEAR: Final = 1e-3
_FINITE: Final = (Assumes.NO_NAN, Assumes.FINITE, Assumes.EITHER_ZERO)
_FLOORED: Final = ("FLOORDIV", "FLOORMOD")
_ANYTHING: Final = frozenset(("RANGE", "SPECIAL", "DEFINE_VAR"))
"""What may have any value between its bounds."""
_READS: Final = frozenset(("LOAD", "INDEX"))
_GIVEN: Final = frozenset(("PARAM", "DEFINE_GLOBAL"))
"""Memory whose contents are the caller's."""


def judge(file: TraceFile, rewrite: Rewrite, steps: int) -> Sequence[Verdict]:
    """A verdict for each step of a pass. Raises BudgetError."""
    until = time.monotonic() + SECONDS
    made: list[Verdict] = []
    for match, _ in read_steps(file, rewrite, steps).steps:
        if time.monotonic() > until:
            made.append(Verdict("unchecked", "time limit reached"))
        else:
            made.append(_Pair(file).verdict(match.before, match.after))
    return made


@lru_cache(maxsize=4)
def _facts(file: TraceFile) -> TinygradFacts:
    return TinygradFacts(file)


@lru_cache(maxsize=1)
def _checker() -> Checker:
    return Checker()


class _UnknownError(Exception):
    """A node has no meaning here; its text says why."""


class _Pair:
    """Both sides of one step."""

    def __init__(self, file: TraceFile) -> None:
        self._file = file
        self._made: dict[int, UOp] = {}
        self._leaves: dict[str, str] = {}
        """By name, the op of what may not have any value."""
        self._has_floats = False
        self._names: set[str] = set()
        """Of all that are values of one side."""

    def verdict(self, before: int, after: int) -> Verdict:
        """What is known of `after` in place of `before`."""
        if before == after:
            return Verdict("proved", "the same node")
        if self._text(before, "op") in VIEWS:
            return self._read(before, after)
        try:
            old = self._core(before)
            known = {*self._names}
            new = self._core(after)
            if old.dtype != new.dtype:
                new = new.cast(old.dtype)
        except _UnknownError as error:
            return Verdict("unchecked", str(error))
        except (UopvizError, ArithmeticError, ValueError) as error:
            return Verdict("unchecked", f"its nodes cannot be made: {str(error)[:200]}")
        found = _checker().check(old, new)
        if found.kind == "differs" and self._has_floats:
            found = _checker().check(old, new, _FINITE)
            if found.kind == "differs" and self._text(before, "op") in _APPROXIMATED:
                return Verdict("unchecked", "how exact an approximation has to be is not known")
            if found.kind == "differs" and _is_near(found):
                return Verdict("unchecked", "it differs by no more than roundings may come to")
        if found.kind != "differs":
            return found
        if self._names - known or not self._is_arithmetic(before):
            return Verdict("unchecked", "it stands for a node that is another one in its pass")
        opaque = [self._leaves[name] for name, _ in found.values if name in self._leaves]
        if opaque or not found.values:
            named = ", ".join(dict.fromkeys(opaque)) or "what it is made of"
            return Verdict("unchecked", f"it depends on what {named} may be")
        return found

    def _read(self, before: int, after: int) -> Verdict:
        """What is known of a view in place of another: both read the same element, or are not
        compared."""
        reads = Reads(self._file, _facts(self._file), self._core)
        axes = reads.axes(before)
        if axes is None or axes != reads.axes(after):
            return Verdict("unchecked", f"the shape of {self._text(before, 'op')} is not known")
        try:
            old = reads.element(before, axes)
            known = {*self._names}
            new = reads.element(after, axes)
        except _UnknownError as error:
            return Verdict("unchecked", str(error))
        if old.node != new.node or len(old.at) != len(new.at):
            op = self._text(old.node, "op")
            return Verdict("unchecked", f"it reads {op}, and is another node in its pass")
        found = [_checker().check(a, b) for a, b in zip(old.at, new.at, strict=True)]
        worst = next((one for one in found if one.kind == "differs"), None)
        opaque = worst is not None and any(name in self._leaves for name, _ in worst.values)
        if opaque or (worst is not None and self._names - known):
            return Verdict("unchecked", "it depends on what an index may be")
        if worst is not None and self._text(before, "op") != "INDEX":  # its users may have changed
            return Verdict("unchecked", "it stands for a node that is another one in its pass")
        if worst is None:
            worst = next((one for one in found if one.kind != "proved"), None)
        return worst or Verdict("proved", "it reads the same element")

    def _is_arithmetic(self, node: int) -> bool:
        op = self._text(node, "op")
        return op in _SAME or op in _FLOORED or op == "CAST"

    def _core(self, root: int) -> UOp:
        stack = [root]
        while stack:
            node = stack[-1]
            if node in self._made:
                stack.pop()
                continue
            op, sources = self._text(node, "op"), self._file.nodes.sources(node)
            known = self._is_arithmetic(node)
            deep = len(self._made) > _DEEPEST
            if not known or deep or any(not self._is_number(n) for n in (node, *sources)):
                stack.pop()
                self._made[node] = self._leaf(node, op, node == root)
                continue
            missing = [s for s in sources if s not in self._made]
            if missing:
                stack += missing
                continue
            stack.pop()
            self._made[node] = self._node(node, op, [self._made[s] for s in sources])
        return self._made[root]

    def _node(self, node: int, op: str, src: list[UOp]) -> UOp:
        dtype = self._dtype(node)
        if op == "CAST":
            return src[0].cast(dtype)
        if op in _FLOORED:
            a, b = (one.cast(dtype) for one in src)
            rest = a.alu(Ops.MOD, b)
            off = rest.ne(0) & (rest < 0).ne(b < 0)
            if op == "FLOORMOD":
                return rest + off.where(b, b.const_like(0))
            return a.alu(Ops.IDIV, b) - off.cast(dtype)
        if op == "WHERE":
            return src[0].where(src[1].cast(dtype), src[2].cast(dtype))
        if op in ("CMPLT", "CMPNE", "CMPEQ") and src[0].dtype != src[1].dtype:
            wide = max(src[0].dtype, src[1].dtype, key=lambda d: d.itemsize)
            src = [one.cast(wide) for one in src]
        elif op not in ("CMPLT", "CMPNE", "CMPEQ"):
            src = [one.cast(dtype) for one in src]
        return src[0].alu(_SAME[op], *src[1:])

    def _leaf(self, node: int, op: str, is_root: bool) -> UOp:
        if not self._is_number(node):
            kind = self._text(node, "dtype") or "void"
            raise _UnknownError(f"values of {kind} are not compared")
        dtype = self._dtype(node)
        is_float = dtypes.is_float(dtype)
        self._has_floats |= is_float
        if op == "CONST":
            value = _number(parse_json(self._text(node, "arg")))
            if value is None or (isinstance(value, float) and not is_float):
                raise _UnknownError(f"CONST {self._text(node, 'arg')[:40]} is no {dtype.name}")
            if is_float:
                return UOp.const(dtype, float(value))
            return UOp.const(dtype, bool(value) if dtype is dtypes.bool else value)
        if is_root and op not in _ANYTHING:
            raise _UnknownError(f"{op} has no meaning here")
        is_free = op in _ANYTHING or (op in _READS and self._reads_given(node))
        name = self._named(node, op)
        self._names.add(name)
        if not is_free:
            self._leaves[name] = op
        if is_float:
            return UOp.variable(name, 0, 1, dtype)  # bounds of floats are not looked at
        low, high = _facts(self._file).bounds(node) or (dtype.min, dtype.max)
        low, high = max(int(low), int(dtype.min)), min(int(high), int(dtype.max))
        if low > high:
            raise _UnknownError(f"the bounds of {op} are not those of its dtype")
        if dtype is dtypes.bool:
            return UOp.variable(name, low, high, dtypes.int32).ne(0)
        if op == "RANGE":
            return UOp.variable(name, low, high, dtypes.int64).cast(dtype)
        return UOp.variable(name, low, high, dtype)

    def _named(self, node: int, op: str) -> str:
        """The name of a value: what an INDEX stands for is what its LOAD reads; a loop is the same
        in every dtype."""
        if op == "RANGE" and (bounds := _facts(self._file).bounds(node)) is not None:
            return f"range {self._text(node, 'arg')} {bounds[1]}"
        sources = self._file.nodes.sources(node)
        if op == "LOAD" and len(sources) == 1 and self._text(sources[0], "op") == "INDEX":
            return f"index{sources[0]}"
        return f"{op.lower()}{node}"

    def _reads_given(self, node: int) -> bool:
        """Whether it reads memory whose contents are the caller's, as nothing wrote it before."""
        while sources := self._file.nodes.sources(node):
            node = sources[0]
            op = self._text(node, "op")
            if op not in _READS:
                return op in _GIVEN
        return False

    def _is_number(self, node: int) -> bool:
        return self._text(node, "dtype") in _DTYPES

    def _dtype(self, node: int) -> DType:
        return _DTYPES[self._text(node, "dtype")]

    def _text(self, node: int, name: str) -> str:
        return self._file.text(int(self._file.nodes.field(name)[node]))


def _is_near(found: Verdict) -> bool:
    """Whether floats that differ may do so by their roundings."""
    try:
        before, after = float(found.before), float(found.after)
    except ValueError:
        return False
    return abs(before - after) <= _NEAR * max(abs(before), abs(after))


def _number(value: object) -> int | float | None:
    """A number as typed JSON has it; None for anything else."""
    match value:
        case bool() | int() | float():
            return value
        case {"float": (int() | float() | str()) as said}:
            try:
                return float(said)
            except ValueError:
                return None
        case _:
            return None
