"""`UOp`: the one kind of node that every program is made of, from Tensor graph to machine code.

Nodes are immutable and interned: the same fields give the same object, so equality is `is`. This
module builds nodes and answers what follows from a node's sources; it never rewrites a graph.
"""

from __future__ import annotations

import itertools
import operator
import threading
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Self

from core.dtype import ConstType, DType, dtypes, truncate
from core.errors import DeviceError, DTypeError
from core.helpers import prod
from core.uop.arithmetic import Arithmetic
from core.uop.facts.bounds import bounds
from core.uop.facts.derive import derive
from core.uop.facts.lengths import Lengths, lengths_of
from core.uop.facts.ranges import ranges_of
from core.uop.facts.shapes import device_of, shape_of, shown
from core.uop.facts.shards import axis_of, rows_and_columns
from core.uop.facts.users import Users
from core.uop.facts.uses import Nobody, Program, Uses
from core.uop.interned import Interned, arg_key, forget, nodes
from core.uop.kernelinfo import AxisType, KernelInfo
from core.uop.late import Late
from core.uop.movement import Movement
from core.uop.node import DeviceName, Shape
from core.uop.ops import OP_BITS, GroupOp, Ops
from core.uop.variables import Variables

program: Program[UOp] = Program()
nobody: Nobody[UOp] = Nobody()
_keeping_uses = False
"""Whether the lines that ask for nodes are recorded; only while an observer is attached."""


class Creating(threading.local):
    """What this thread's new nodes are marked with: where the user asked for them, as
    `core/uop/engine/origin.py` describes it, or None."""

    origin: str | None = None
    find: Callable[[], str | None] | None = None
    """Finds the line for a node where `origin` is None; None for nodes without one."""
    uses: Uses[UOp] = program
    """Receives which line asks for which node, new or not, while that is recorded."""


creating = Creating()


_IN_FORCE = "in force"
"""As an origin: that of `creating`."""


def keep_uses(wanted: bool) -> None:
    """Turns on, or off, the record of which lines ask for nodes."""
    global _keeping_uses
    _keeping_uses = wanted


def keeps_uses() -> bool:
    """Whether the lines that ask for nodes are recorded."""
    return _keeping_uses


def line_of(u: UOp) -> str | None:
    """The user's lines that ask for a node in the present work, a line of text each; while these
    are not recorded, the one that asked first."""
    return creating.uses.line(u) if _keeping_uses else u.origin


def _asked(u: UOp, origin: str | None, uses: Uses[UOp]) -> None:
    """Notes that a line asks for a node which exists already."""
    line = creating.origin if origin is _IN_FORCE else origin
    if line is None and creating.find is not None:
        line = creating.find()
    if line is not None:
        uses.asked(u, line)


def _made(u: UOp, uses: Uses[UOp]) -> None:
    """Notes the lines for which a node was made. Of several, `origin` is the first."""
    if (lines := u.origin) is not None:
        u.origin = lines.partition("\n")[0]
        if uses is not program or lines is not u.origin:
            uses.asked(u, lines)


_unique = itertools.count(1)
late: Late[UOp] = Late()
_SAME: Any = object()
"""Default of a field of `replace`: keeps that of the node."""


@cache
def _one(lane: int) -> tuple[int]:
    """The argument of the GEP of one lane. There are very many: one object is looked up faster."""
    return (lane,)


class UOp(Arithmetic, Movement, Variables):
    """A node: what it does (`op`), the dtype of its value, its sources, an argument and a tag.

    `arg` depends on the op (see `Ops`); `tag` is free for passes to mark nodes with; `origin` is
    the user's line and call that asked for it ("file:line call") and takes no part in identity.
    Neither do `serial`, with which observers that number nodes count them from 1, and `users`: the
    nodes with this one among their sources, as far as an index of graphs has noted them. `below`
    has the bit of each op in the graph of the node. `terms` are those of a sum, once a rule has
    asked for them.
    """

    __slots__ = (
        "__weakref__",
        "_axis",
        "_bounds",
        "_device",
        "_lengths",
        "_ranges",
        "_shape",
        "arg",
        "below",
        "dtype",
        "op",
        "origin",
        "serial",
        "src",
        "tag",
        "terms",
        "users",
    )
    op: Ops
    dtype: DType
    arg: Any
    tag: Any
    origin: str | None
    serial: int
    below: int
    terms: tuple[list[tuple[UOp, int]], int] | None
    users: Users[UOp]
    _shape: Shape | None
    _device: DeviceName | None
    _axis: int | None
    _lengths: Lengths[UOp]
    _bounds: tuple[ConstType, ConstType]
    _ranges: frozenset[UOp]

    def __new__(
        cls,
        op: Ops,
        dtype: DType = dtypes.void,
        src: tuple[Self, ...] = (),
        arg: Any = None,
        tag: Any = None,
        origin: str | None = _IN_FORCE,
    ) -> UOp:
        kind = arg.__class__
        plain = kind is not float and kind is not tuple and kind is not bool
        key = (op, dtype, src, arg if plain else arg_key(arg), tag)
        ref = nodes.get(key)
        if ref is not None and (found := ref()) is not None:
            if _keeping_uses and (uses := creating.uses) is not nobody:
                _asked(found, origin, uses)
            return found
        self = object.__new__(cls)
        self.op, self.dtype, self.src, self.arg, self.tag = op, dtype, src, arg, tag
        self.origin = creating.origin if origin is _IN_FORCE else origin
        if self.origin is None and creating.find is not None:
            self.origin = creating.find()
        self.serial = 0
        try:
            below = OP_BITS[op]
            for s in src:
                below |= s.below
        except (AttributeError, TypeError, IndexError):  # malformed: reported by what reads it
            below = -1
        self.below = below
        ref = Interned(self, forget)
        ref.key = key
        first = nodes.setdefault(key, ref)
        if first is not ref:  # another thread, or a dead node not yet forgotten
            if (found := first()) is not None:
                return found
            nodes[key] = ref
        if _keeping_uses and (uses := creating.uses) is not nobody:
            _made(self, uses)
        return self

    def __repr__(self) -> str:
        arg = "" if self.arg is None else f", arg={self.arg!r}"
        tag = "" if self.tag is None else f", tag={self.tag!r}"
        return f"UOp({self.op.name}, {self.dtype}, {len(self.src)} src{arg}{tag})"

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a UOp is not pickled: core/uop/data/serial.py writes graphs as typed data")

    # what follows from the sources, computed once

    @property
    def shape(self) -> Shape | None:
        """The shape of the value; None for nodes without one. Raises ShapeError."""
        try:
            return self._shape
        except AttributeError:
            return derive(self, "_shape", shape_of)

    @property
    def size(self) -> int:
        """Number of elements. Raises DTypeError where there is no shape."""
        return prod(self.shaped)

    @property
    def shaped(self) -> Shape:
        """The shape, of a node that has one. Raises DTypeError where there is none."""
        if (shape := self.shape) is None:
            raise DTypeError(f"{self.op.name} has no shape")
        return shape

    @property
    def device(self) -> DeviceName | None:
        """The device that holds the value, or the names of several that each hold a part or a copy;
        None where any will do. Raises DeviceError where several meet others."""
        try:
            return self._device
        except AttributeError:
            return derive(self, "_device", device_of)

    @property
    def one_device(self) -> str | None:
        """The device, where there is one only; None where any will do. Raises DeviceError where
        there are several."""
        device = self.device
        if isinstance(device, tuple):
            raise DeviceError(
                f"{self.op.name} is on {shown(device)}, where one device is needed",
                where=self.origin or "",
                hint="copy it to one device with .to(device)",
            )
        return device

    @property
    def axis(self) -> int | None:
        """The axis along which a value on several devices is cut into parts; None where each of
        them has all of it, and for a value on one device."""
        try:
            return self._axis
        except AttributeError:
            return derive(self, "_axis", axis_of)

    @property
    def lengths(self) -> Lengths[UOp]:
        """(axis, length) for each axis whose length is a variable. Raises ShapeError."""
        try:
            return self._lengths
        except AttributeError:
            return derive(self, "_lengths", lengths_of)

    @property
    def bounds(self) -> tuple[ConstType, ConstType]:
        """(smallest, largest) value that an element can have."""
        try:
            return self._bounds
        except AttributeError:
            return derive(self, "_bounds", bounds)

    @property
    def vmin(self) -> ConstType:
        """No element is smaller."""
        return self.bounds[0]

    @property
    def vmax(self) -> ConstType:
        """No element is larger."""
        return self.bounds[1]

    @property
    def ranges(self) -> frozenset[UOp]:
        """The loops (RANGE nodes) that the value still depends on."""
        try:
            return self._ranges
        except AttributeError:
            return derive(self, "_ranges", ranges_of)

    @property
    def base(self) -> UOp:
        """The node below all movement."""
        u = self
        while u.op is Ops.VIEW or u.op in GroupOp.Movement:
            u = u.src[0]
        return u

    def toposort(self, gate: Callable[[UOp], bool] | None = None) -> dict[UOp, None]:
        """All nodes that this one needs and itself, sources first; those where `gate` is false, and
        what only they need, are left out."""
        done: dict[UOp, None] = {}
        if gate is not None and not gate(self):
            return done
        stack = [self]
        while stack:
            u = stack.pop()
            if u in done:
                continue
            src = u.src
            if gate is not None:
                src = [s for s in src if s in done or gate(s)]
            for s in src:
                if s not in done:
                    stack.append(u)
                    stack.extend([s for s in reversed(src) if s not in done])
                    break
            else:
                done[u] = None
        return done

    # changed copies

    def replace(
        self,
        *,
        op: Ops | None = None,
        dtype: DType | None = None,
        src: tuple[UOp, ...] | None = None,
        arg: Any = _SAME,
        tag: Any = _SAME,
    ) -> UOp:
        """A node with some of its fields changed."""
        made = UOp(
            self.op if op is None else op,
            self.dtype if dtype is None else dtype,
            self.src if src is None else src,
            self.arg if arg is _SAME else arg,
            self.tag if tag is _SAME else tag,
        )
        if made.origin is None:
            made.origin = self.origin
        if _keeping_uses and creating.origin is None:
            _asked(made, line_of(self), creating.uses)
        return made

    def rebuild(self, src: tuple[UOp, ...]) -> UOp:
        """The same node with other sources; it keeps its origin, whatever is in force."""
        if src == self.src:
            return self
        origin = creating.uses.line(self) if _keeping_uses else self.origin
        made = UOp(self.op, self.dtype, src, self.arg, self.tag, origin)
        if made.origin is None:
            made.origin = self.origin
        return made

    def substitute(self, replacements: Mapping[UOp, UOp]) -> UOp:
        """The graph with nodes replaced. Replacements are not searched again."""
        new: dict[UOp, UOp] = dict(replacements)
        ops = 0
        for u in replacements:
            ops |= OP_BITS[u.op]
        stack = [self]
        while stack:
            u = stack.pop()
            if u in new:
                continue
            if not u.below & ops:
                new[u] = u
                continue
            src = u.src
            for s in src:
                if s not in new:
                    stack.append(u)
                    stack.extend([s for s in reversed(src) if s not in new])
                    break
            else:
                new[u] = u.rebuild(tuple([new[s] for s in src]))
        return new[self]

    def simplify(self) -> UOp:
        """The graph with the symbolic rules applied to a fixed point."""
        return late.simplify(self)

    def render(self) -> str:
        """The graph as one expression, such as "(gidx0*4+lidx0)"."""
        return late.render(self)

    # constants, variables, graph structure

    @staticmethod
    def const(dtype: DType, value: ConstType | tuple[ConstType, ...]) -> UOp:
        """A constant; every element of a vector dtype, or one value each from a tuple."""
        scalar = dtype.scalar()
        if isinstance(value, tuple):
            values = tuple(truncate(v, scalar) for v in value)
            if len({repr(v) for v in values}) > 1:
                return UOp(Ops.VCONST, dtype, (), values)
            value = values[0]
        return UOp(Ops.CONST, dtype, (), truncate(value, scalar))

    def const_like(self, value: ConstType) -> UOp:
        """A constant with the dtype of this node and, at Tensor level, its shape and device."""
        device = self.device
        if device is not None and (shape := self.shape) is not None:
            return UOp.full(shape, value, self.dtype, device)
        return UOp.const(self.dtype.base, value)

    @staticmethod
    def variable(name: str, low: int, high: int, dtype: DType = dtypes.index) -> UOp:
        """An integer given at launch, between `low` and `high`, both included.

        Raises DTypeError where no integer is between them, and for what is no name or no integer.
        """
        try:
            low, high = operator.index(low), operator.index(high)
        except TypeError:
            whole = False
        else:
            whole = low <= high
        if type(name) is not str or not whole:
            raise DTypeError(
                f"a variable {name!r} between {low!r} and {high!r}",
                hint="give a name, the smallest and the largest integer that it may be",
            )
        return UOp(Ops.DEFINE_VAR, dtype, (), (name, low, high))

    def unbound(self) -> UOp:
        """This, with variables in place of what they are bound to."""
        return self.substitute({b: b.src[0] for b in self.vars() if b.op is Ops.BIND})

    def bind(self, value: int) -> UOp:
        """A variable with a value. Raises DTypeError where it is out of the variable's bounds."""
        name, low, high = self.arg
        if not low <= value <= high:
            raise DTypeError(
                f"{name} = {value} is outside {low}..{high}",
                hint="declare the variable with wider bounds",
            )
        return UOp(Ops.BIND, self.dtype, (self, UOp.const(self.dtype, value)))

    @staticmethod
    def sink(*src: UOp, arg: KernelInfo | None = None) -> UOp:
        """The root of several outputs."""
        return UOp(Ops.SINK, dtypes.void, src, arg)

    @staticmethod
    def group(*src: UOp) -> UOp:
        """All of `src` happened; of one, itself."""
        return src[0] if len(src) == 1 else UOp(Ops.GROUP, dtypes.void, src)

    # memory and loops

    @staticmethod
    def range(n: int | UOp, number: int, kind: AxisType = AxisType.LOOP) -> UOp:
        """A loop variable 0..n-1, of 64 bits where a count up to n needs them."""
        bound = n if isinstance(n, UOp) else UOp.const(dtypes.index_up_to(n), n)
        return UOp(Ops.RANGE, bound.dtype, (bound,), (number, kind))

    @staticmethod
    def special(n: int | UOp, name: str) -> UOp:
        """A hardware index 0..n-1, such as gidx0."""
        bound = n.cast(dtypes.index) if isinstance(n, UOp) else UOp.const(dtypes.index, n)
        return UOp(Ops.SPECIAL, dtypes.index, (bound,), name)

    def index(self, *idxs: UOp | int, gate: UOp | None = None) -> UOp:
        """Of a pointer: the address of one element, valid where `gate` holds. Of a shaped value:
        the element at one index per axis."""
        src = tuple(
            i if isinstance(i, UOp) else UOp.const(dtypes.index_up_to(abs(i)), i) for i in idxs
        )
        return UOp(Ops.INDEX, self.dtype, (self, *src) if gate is None else (self, *src, gate))

    def load(self, *alternative: UOp, dtype: DType | None = None) -> UOp:
        """The value at an address; `alternative` where its gate is false."""
        return UOp(Ops.LOAD, dtype or self.dtype.base, (self, *alternative))

    def store(self, value: UOp | ConstType) -> UOp:
        """Writes `value` to an address, or a shaped value to a VIEW of a pointer."""
        if not isinstance(value, UOp):
            value = UOp.const(self.dtype.base, value)
        return UOp(Ops.STORE, dtypes.void, (self, value))

    def end(self, *ranges: UOp) -> UOp:
        """This, done for every iteration of `ranges`; without ranges, itself."""
        return UOp(Ops.END, dtypes.void, (self, *ranges)) if ranges else self

    def after(self, *deps: UOp) -> UOp:
        """This, once `deps` happened; without any, itself."""
        return UOp(Ops.AFTER, self.dtype, (self, *deps)) if deps else self

    def reduce(self, op: Ops, *ranges: UOp) -> UOp:
        """Combines the values of all iterations of `ranges`."""
        return UOp(Ops.REDUCE, self.dtype, (self, *ranges), op) if ranges else self

    # vectors

    @staticmethod
    def vectorize(*elements: UOp) -> UOp:
        """A vector of scalars; of one, itself."""
        if len(elements) == 1:
            return elements[0]
        return UOp(Ops.VECTORIZE, elements[0].dtype.vec(len(elements)), elements)

    def gep(self, which: int | tuple[int, ...]) -> UOp:
        """Elements of a vector, as a scalar or a vector; a scalar is a vector of one element."""
        picks = which if isinstance(which, tuple) else (which,)
        picks = _one(picks[0]) if len(picks) == 1 else picks
        if self.dtype.count == 1 and not any(picks):
            return self.broadcast(len(picks))
        if picks == tuple(range(self.dtype.count)):
            return self
        return UOp(Ops.GEP, self.dtype.scalar().vec(len(picks)), (self,), picks)

    def broadcast(self, count: int) -> UOp:
        """A vector of `count` times this scalar."""
        if count == 1:
            return self
        if self.op is Ops.CONST:
            return UOp.const(self.dtype.vec(count), self.arg)
        return UOp(Ops.VECTORIZE, self.dtype.vec(count), (self,) * count)

    # Tensor level

    @staticmethod
    def new_buffer(device: DeviceName, size: int | tuple[int, int], dtype: DType) -> UOp:
        """Fresh memory of `size` elements, equal to no other buffer. On several devices: as many on
        each; of (rows, columns), each has its share of the columns."""
        unique = UOp(Ops.UNIQUE, dtypes.void, (), next(_unique))
        return UOp(Ops.BUFFER, dtype, (unique, UOp(Ops.DEVICE, arg=device)), size)

    def new_memory(self, device: DeviceName | None = None) -> UOp:
        """Fresh memory for this value, in its shape, cut into parts as it is. `device` is for a
        value that has none. Raises DeviceError where neither names one."""
        where = self.device or device
        if where is None:
            raise DeviceError(f"{self.op.name} has no device", where=self.origin or "")
        size = self.size if self.axis is None else rows_and_columns(self.shaped, self.axis)
        return UOp.new_buffer(where, size, self.dtype).reshape(self.shaped)

    def cut(self, axis: int | None) -> UOp:
        """This value on several devices, cut along `axis`; None: each has all of it. Raises
        ShapeError where they do not divide the axis."""
        devices = self.device
        if not isinstance(devices, tuple) or self.axis == axis:
            return self
        parts = (UOp(Ops.MSELECT, self.dtype, (self,), (i, axis)) for i in range(len(devices)))
        return UOp(Ops.MULTI, self.dtype, tuple(parts), axis).possible()

    @staticmethod
    def iota(n: int, dtype: DType, device: DeviceName) -> UOp:
        """The integers 0..n-1, never stored."""
        return UOp(Ops.IOTA, dtype, (UOp(Ops.DEVICE, arg=device),), n)

    def all_of(self: UOp, axis: int) -> UOp:
        """This with the elements behind the length of an axis, which may be anything."""
        known = dict(self.lengths)
        size = self.shaped[axis]
        return self.length(axis, UOp.const(dtypes.index, size)) if axis in known else self

    def before(self, axis: int, n: UOp) -> UOp:
        """For each element of this, whether its place along `axis` comes before the number `n`."""
        shape = self.shaped
        where = () if self.device is None else (UOp(Ops.DEVICE, arg=self.device),)
        places = UOp(Ops.IOTA, dtypes.index, where, shape[axis])
        alone = tuple(size if k == axis else 1 for k, size in enumerate(shape))
        return places.reshape(alone).expand(shape) < n.cast(dtypes.index)

    @staticmethod
    def full(shape: Shape, value: ConstType, dtype: DType, device: DeviceName) -> UOp:
        """A Tensor-level constant of any shape, never stored."""
        source = (UOp(Ops.DEVICE, arg=device),)
        made = UOp(Ops.CONST, dtype, source, truncate(value, dtype))
        return made.reshape((1,) * len(shape)).expand(shape)
