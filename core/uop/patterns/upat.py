"""`UPat`: a pattern of graph, as data. Operators on patterns build patterns.

Says what to look for and binds names to the nodes found; `match_interpreted.py` and
`match_compiled.py` do the looking. Never looks at a graph itself.

Meaning of the fields, each of which may be left out:

- `op`: one op or a set of them.
- `dtype`: one dtype or several. A scalar also stands for vectors of it; pointers match exactly.
- `src`: a tuple wants these sources in order, a list wants them in any order, a single pattern
  wants every source to match it, None takes any sources.
- `arg`: equal. A Python float wants the same float to the sign of zero (NaN equals NaN); any other
  number is compared by value, so that `x + 0` finds the zero of every dtype.
- `name`: binds the node; the same name twice means the same node.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from core.dtype import ConstType, DType, PtrDType, dtypes
from core.errors import PatternError
from core.uop.node import Node
from core.uop.ops import GroupOp, Ops

MAX_VARIANTS = 256
"""A pattern whose any-ofs multiply to more than this is an error."""

_CONSTANTS = (Ops.CONST, Ops.VCONST)


class UPat:
    """A pattern; see the module's docstring for the fields.

    `allow_any_len`: the node may have more sources than `src` says. `early_reject`: ops that must
    be among the node's sources, for patterns that cannot say so otherwise. `custom`: a last test of
    the node itself. Raises PatternError for a pattern that could never match as written.
    """

    __slots__ = (
        "allow_any_len",
        "alternatives",
        "arg",
        "custom",
        "dtype",
        "early_reject",
        "name",
        "op",
        "src",
    )

    def __init__(
        self,
        op: Ops | Iterable[Ops] | None = None,
        dtype: DType | Iterable[DType] | None = None,
        src: tuple[UPat, ...] | list[UPat] | UPat | None = None,
        arg: Any = None,
        name: str | None = None,
        allow_any_len: bool = False,
        early_reject: Iterable[Ops] | None = None,
        custom: Callable[[Any], bool] | None = None,
    ) -> None:
        self.op = None if op is None else frozenset((op,) if isinstance(op, Ops) else op)
        self.dtype = (
            None if dtype is None else (dtype,) if isinstance(dtype, DType) else tuple(dtype)
        )
        self.src = src
        self.arg = arg
        self.name = name
        self.allow_any_len = allow_any_len
        self.early_reject = frozenset(early_reject or ())
        self.custom = custom
        self.alternatives: tuple[UPat, ...] = ()
        if self.op is not None and not self.op:
            raise PatternError("a pattern of no op at all", hint="leave `op` out to match any op")
        if allow_any_len and not isinstance(src, tuple):
            raise PatternError(
                "allow_any_len needs the sources that must be there, in order",
                where=repr(self),
                hint="give `src` as a tuple",
            )
        if name is not None and (not name.isidentifier() or name == "ctx"):
            raise PatternError(
                f"a node cannot be bound as {name!r}",
                where=repr(self),
                hint="names are identifiers; `ctx` is the context object of graph_rewrite",
            )

    # making patterns

    @staticmethod
    def var(name: str | None = None, dtype: DType | Iterable[DType] | None = None) -> UPat:
        """Any node."""
        return UPat(None, dtype, name=name)

    @staticmethod
    def cvar(
        name: str | None = None, dtype: DType | Iterable[DType] | None = None, vec: bool = True
    ) -> UPat:
        """A constant. With `vec` also a VCONST, whose arg is a tuple; a CONST with a vector dtype
        (all elements alike) matches in any case."""
        return UPat(_CONSTANTS if vec else Ops.CONST, dtype, name=name)

    @staticmethod
    def const(dtype: DType | Iterable[DType] | None, value: ConstType) -> UPat:
        """The constant `value`, of any dtype where `dtype` is None."""
        return UPat(Ops.CONST, dtype, arg=value)

    @staticmethod
    def any(*patterns: UPat | Iterable[UPat]) -> UPat:
        """Any of several patterns, tried in order. Raises PatternError for none."""
        flat = [q for p in patterns for q in ((p,) if isinstance(p, UPat) else p)]
        if not flat:
            raise PatternError("any of no patterns", hint="give UPat.any at least one pattern")
        made = UPat()
        made.alternatives = tuple(flat)
        return made

    def named(self, name: str) -> UPat:
        """This pattern, bound as `name`."""
        made = self._copy()
        made.name = name
        if made.alternatives:
            made.alternatives = tuple(p.named(name) for p in made.alternatives)
            made.name = None
        return made

    def or_casted(self, name: str | None = None) -> UPat:
        """This, or a CAST of it (bound as `name`)."""
        return UPat.any(self, UPat(Ops.CAST, src=(self,), name=name))

    def or_after(self, name: str | None = None) -> UPat:
        """This, or an AFTER of it (bound as `name`)."""
        return UPat.any(self, UPat(Ops.AFTER, src=(self,), name=name, allow_any_len=True))

    def or_broadcasted(self, name: str | None = None) -> UPat:
        """This, or a vector (bound as `name`) of nothing but this node."""
        return UPat.any(self, UPat(Ops.VECTORIZE, src=self, name=name))

    def f(self, op: Ops | Iterable[Ops], **fields: Any) -> UPat:
        """A node `op` whose only source is this."""
        return UPat(op, src=(self,), **fields)

    def alu(self, op: Ops, *others: UPat | ConstType) -> UPat:
        """`op` of this and others; in either order where `op` commutes. The dtype wanted of an
        operand is wanted of the result, too, where the op keeps it."""
        operands = [self, *(_pattern(o) for o in others)]
        dtype: Iterable[DType] | None
        if op in GroupOp.Comparison:
            dtype = (dtypes.bool,)
        else:
            values = operands[1:] if op is Ops.WHERE else operands
            dtype = next((p.dtype for p in values if p.dtype is not None), None)
        return UPat(op, dtype, operands if op in GroupOp.Commutative else tuple(operands))

    def cast(self, dtype: DType | Iterable[DType] | None = None, **fields: Any) -> UPat:
        """A CAST of this."""
        return UPat(Ops.CAST, dtype, (self,), **fields)

    def bitcast(self, dtype: DType | Iterable[DType] | None = None, **fields: Any) -> UPat:
        """A BITCAST of this."""
        return UPat(Ops.BITCAST, dtype, (self,), **fields)

    def gep(self, which: tuple[int, ...] | int | None = None, **fields: Any) -> UPat:
        """Elements of this vector."""
        arg = (which,) if isinstance(which, int) else which
        return UPat(Ops.GEP, None, (self,), arg, **fields)

    def index(self, *idx: UPat, **fields: Any) -> UPat:
        """An INDEX into this."""
        return UPat(Ops.INDEX, None, (self, *idx), **fields)

    def load(self, *alternative: UPat, **fields: Any) -> UPat:
        """A LOAD from this."""
        return UPat(Ops.LOAD, None, (self, *alternative), **fields)

    def store(self, *value: UPat, **fields: Any) -> UPat:
        """A STORE to this."""
        return UPat(Ops.STORE, None, (self, *value), **fields)

    def reduce(self, *ranges: UPat, **fields: Any) -> UPat:
        """A REDUCE of this."""
        return UPat(Ops.REDUCE, None, (self, *ranges), **fields)

    def end(self, *ranges: UPat, **fields: Any) -> UPat:
        """An END of this."""
        return UPat(Ops.END, None, (self, *ranges), **fields)

    def after(self, *deps: UPat, **fields: Any) -> UPat:
        """An AFTER of this."""
        return UPat(Ops.AFTER, None, (self, *deps), **fields)

    def view(self, **fields: Any) -> UPat:
        """A VIEW of this."""
        return UPat(Ops.VIEW, None, (self,), **fields)

    def contiguous(self, **fields: Any) -> UPat:
        """A CONTIGUOUS of this."""
        return UPat(Ops.CONTIGUOUS, None, (self,), **fields)

    def where(self, yes: UPat | ConstType, no: UPat | ConstType) -> UPat:
        """A WHERE that this decides."""
        return self.alu(Ops.WHERE, yes, no)

    def maximum(self, other: UPat | ConstType) -> UPat:
        """The larger of two."""
        return self.alu(Ops.MAX, other)

    def logical_not(self) -> UPat:
        """The other truth value."""
        return self.ne(True)

    def neg(self) -> UPat:
        """Minus."""
        return self.alu(Ops.NEG)

    def recip(self) -> UPat:
        """1 / x."""
        return self.alu(Ops.RECIPROCAL)

    def exp2(self) -> UPat:
        """2 ** x."""
        return self.alu(Ops.EXP2)

    def log2(self) -> UPat:
        """Logarithm to base 2."""
        return self.alu(Ops.LOG2)

    def sin(self) -> UPat:
        """Sine."""
        return self.alu(Ops.SIN)

    def cos(self) -> UPat:
        """Cosine."""
        return self.alu(Ops.COS)

    def sqrt(self) -> UPat:
        """Square root."""
        return self.alu(Ops.SQRT)

    def trunc(self) -> UPat:
        """Rounded toward zero."""
        return self.alu(Ops.TRUNC)

    def ne(self, x: UPat | ConstType) -> UPat:
        """Inequality."""
        return self.alu(Ops.CMPNE, x)

    def eq(self, x: UPat | ConstType) -> UPat:
        """Equality."""
        return self.alu(Ops.CMPEQ, x)

    def __add__(self, x: UPat | ConstType) -> UPat:
        return self.alu(Ops.ADD, x)

    def __radd__(self, x: ConstType) -> UPat:
        return _pattern(x).alu(Ops.ADD, self)

    def __sub__(self, x: UPat | ConstType) -> UPat:
        return self.alu(Ops.SUB, x)

    def __rsub__(self, x: ConstType) -> UPat:
        return _pattern(x).alu(Ops.SUB, self)

    def __mul__(self, x: UPat | ConstType) -> UPat:
        return self.alu(Ops.MUL, x)

    def __rmul__(self, x: ConstType) -> UPat:
        return _pattern(x).alu(Ops.MUL, self)

    def __truediv__(self, x: UPat | ConstType) -> UPat:
        return self.alu(Ops.FDIV, x)

    def __floordiv__(self, x: UPat | ConstType) -> UPat:
        return self.alu(Ops.IDIV, x)

    def __mod__(self, x: UPat | ConstType) -> UPat:
        return self.alu(Ops.MOD, x)

    def __and__(self, x: UPat | ConstType) -> UPat:
        return self.alu(Ops.AND, x)

    def __or__(self, x: UPat | ConstType) -> UPat:
        return self.alu(Ops.OR, x)

    def __xor__(self, x: UPat | ConstType) -> UPat:
        return self.alu(Ops.XOR, x)

    def __lshift__(self, x: UPat | ConstType) -> UPat:
        return self.alu(Ops.SHL, x)

    def __rshift__(self, x: UPat | ConstType) -> UPat:
        return self.alu(Ops.SHR, x)

    def __lt__(self, x: UPat | ConstType) -> UPat:
        return self.alu(Ops.CMPLT, x)

    def __gt__(self, x: UPat | ConstType) -> UPat:
        return _pattern(x).alu(Ops.CMPLT, self)

    def __ge__(self, x: UPat | ConstType) -> UPat:
        return (self < x).logical_not()

    def __le__(self, x: UPat | ConstType) -> UPat:
        return (self > x).logical_not()

    def __neg__(self) -> UPat:
        return self.neg()

    # asking about patterns

    def children(self) -> tuple[UPat, ...]:
        """The patterns wanted of the sources, in the order in which they were given."""
        return (
            () if self.src is None else (self.src,) if isinstance(self.src, UPat) else (*self.src,)
        )

    def names(self) -> frozenset[str]:
        """Every name that a match may bind."""
        inner = (p.names() for p in (*self.children(), *self.alternatives))
        return frozenset({self.name} if self.name else ()).union(*inner)

    def accepts(self, node: Node) -> bool:
        """Whether the node itself, not its sources, has the op, dtype, arg and `custom`."""
        return (
            (self.op is None or node.op in self.op)
            and (self.dtype is None or dtype_matches(node.dtype, self.dtype))
            and (self.arg is None or arg_matches(node.arg, self.arg))
            and (self.custom is None or self.custom(node))
        )

    def variants(self) -> Iterator[UPat]:
        """This pattern without any-ofs: one pattern for each way to choose alternatives, the
        outermost choice changing slowest. Under a repeated source an any-of stays, because each
        source may then take another alternative."""
        if self.alternatives:
            for p in self.alternatives:
                yield from p.variants()
        elif isinstance(self.src, tuple | list):
            for chosen in itertools.product(*(tuple(p.variants()) for p in self.src)):
                if all(a is b for a, b in zip(chosen, self.src, strict=True)):
                    yield self
                else:
                    made = self._copy()
                    made.src = chosen if isinstance(self.src, tuple) else list(chosen)
                    yield made
        else:
            yield self

    def _copy(self) -> UPat:
        made = UPat.__new__(UPat)
        for field in UPat.__slots__:
            setattr(made, field, getattr(self, field))
        return made

    def __repr__(self) -> str:
        if self.alternatives:
            return f"UPat.any({', '.join(map(repr, self.alternatives))})"
        parts: list[str] = []
        if self.op is not None:
            parts.append("|".join(o.name for o in sorted(self.op)) if len(self.op) < 5 else "*")
        if self.dtype is not None:
            parts.append("|".join(map(str, self.dtype)))
        if self.arg is not None:
            parts.append(f"arg={self.arg!r}")
        if self.src is not None:
            parts.append(f"src={self.src!r}")
        if self.name is not None:
            parts.append(f"name={self.name!r}")
        if self.allow_any_len:
            parts.append("allow_any_len")
        return f"UPat({', '.join(parts)})"


def dtype_matches(dtype: DType, wanted: Iterable[DType]) -> bool:
    """Whether `dtype` is one of `wanted`, or a vector of a scalar in it."""
    for w in wanted:
        if dtype is w or dtype == w:
            return True
        scalar = w.count == 1 and w.name == dtype.name
        if scalar and not isinstance(dtype, PtrDType) and not isinstance(w, PtrDType):
            return True
    return False


def arg_matches(arg: Any, wanted: Any) -> bool:
    """Whether a node's arg is the one wanted; see `UPat` for numbers."""
    if wanted.__class__ is float and arg.__class__ is float:
        if wanted != wanted:
            return arg != arg
        return arg == wanted and math.copysign(1, arg) == math.copysign(1, wanted)
    return bool(arg == wanted)


def _pattern(x: UPat | ConstType) -> UPat:
    return x if isinstance(x, UPat) else UPat.const(None, x)
