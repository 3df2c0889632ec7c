"""What source of a node a rule gave which gradient, and what is tried for it: the nodes that may
have any value, values for them, and the answers.

Never compares anything.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np

from core.dtype import dtypes
from core.errors import UopvizError
from core.prove.samples.rounding import units
from core.prove.verdict import Verdict
from core.runtime.numeric import Array
from core.uop import GroupOp, Ops, UOp
from core.uop.facts.meaning_arrays import numpy_dtype
from core.uop.spec.rules import derivative_spec
from viz.check.gradients.wide import ITSELF, NO_VALUE

SAME: Final = "agrees with differences of the operation, in float64"
OTHER: Final = "differences of the operation give another derivative"
FEW: Final = "it has a derivative at too few of the points that were tried"
LEFT_OUT: Final = "but for points where it has none"
POINTS: Final = 512
STEP: Final = 1e-6
"""Between points whose values are compared."""
KINK: Final = 1e-2
"""Derivatives to the left and to the right that are further apart than this are two."""
FAILURES: Final = (UopvizError, ArithmeticError, LookupError, TypeError, ValueError)
"""What comes of graphs that cannot be computed."""
POINTWISE: Final = (GroupOp.Elementwise | ITSELF | {Ops.ASSIGN}) - {Ops.BITCAST}
NONE: Final = np.zeros(0)
"""In place of the value of a source that has none."""
_CLOSE: Final = 1e-5
"""Of a derivative, what differences may be off by."""
_LINEAR: Final = 1e-9
"""The same of operations whose differences are exact."""
_CORNERS: Final = np.asarray([0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0, -3.0, 10.0, 0.01, -0.01])
_OPENED: Final = (
    POINTWISE | GroupOp.Movement | {Ops.REDUCE_AXIS, Ops.LENGTH, Ops.MULTI, Ops.MSELECT}
)
"""Nodes whose values are made of those of their sources."""
_SAID: Final = frozenset({Ops.CONST, Ops.IOTA, Ops.BIND, Ops.DEFINE_VAR, *NO_VALUE})
"""Nodes whose values are known."""


@dataclass(frozen=True)
class Share:
    """What source `at` of `node` gets of `grad`, as a rule gave it: `after`."""

    node: UOp
    grad: UOp
    at: int
    after: UOp

    @property
    def source(self) -> UOp:
        """The source."""
        return self.node.src[self.at]

    @property
    def made_of(self) -> tuple[UOp, ...]:
        """What the node is computed from."""
        return self.node.src[1:] if is_by_function(self.node) else self.node.src

    @property
    def roots(self) -> tuple[UOp, ...]:
        """What has to be computed."""
        return self.after, self.node, self.grad, *self.node.src

    def size(self, inputs: Collection[UOp]) -> int:
        """The number of elements of all values between the roots and the inputs."""
        nodes = UOp.sink(*self.roots).toposort(lambda u: u not in inputs)
        return sum(prod(u.shape or ()) for u in (*nodes, *inputs) if u.op is not Ops.SINK)


def is_by_function(node: UOp) -> bool:
    """Whether a node is a DERIVATIVE whose gradient a function makes: a value, then what it is made
    of. Of a trace, the function is not known."""
    return node.op is Ops.DERIVATIVE and (node.arg is not None or not derivative_spec(node))


def is_input(u: UOp) -> bool:
    """Whether any value may be tried for a node: it does not say its value itself."""
    while u.op in (Ops.RESHAPE, Ops.EXPAND):
        u = u.src[0]
    return u.op not in _SAID


def below(u: UOp, flat: bool) -> list[UOp]:
    """What a node that is an input is made of; itself, where that is not known; nothing, where it
    is a constant."""
    if not is_input(u):
        return []
    if u.op not in (POINTWISE if flat else _OPENED):
        return [u]
    return [s for s in u.src if is_input(s)]


def _walk(share: Share, inputs: Collection[UOp]) -> Collection[UOp]:
    """The nodes between what the rule gave and the inputs."""
    return share.after.toposort(lambda u: u not in inputs)


def is_flat(share: Share, inputs: Collection[UOp]) -> bool:
    """Whether each element of what the rule gave is made of one element of each input."""
    pointwise = all(u.op in POINTWISE or not is_input(u) for u in _walk(share, inputs))
    if is_by_function(share.node):
        return False
    moved = any(u.op is Ops.IOTA for u in _walk(share, inputs))
    return share.node.op in POINTWISE and pointwise and not moved


def tolerance(share: Share, inputs: Collection[UOp], exact: bool) -> float:
    """What constants in narrow dtypes, and differences, may be off by."""
    floats = [u.dtype for u in _walk(share, inputs) if dtypes.is_float(u.dtype)]
    rounding = max((8 * units(dtype)[0] for dtype in floats), default=0.0)
    return _LINEAR if exact else max(_CLOSE, rounding)


def ordered(share: Share, inputs: Collection[UOp]) -> list[UOp]:
    """Inputs in an order that is the same each time."""
    nodes = UOp.sink(*share.roots).toposort(lambda u: u not in inputs)
    return list(dict.fromkeys(s for u in nodes for s in u.src if s in inputs))


def points(u: UOp, random: np.random.Generator) -> Array:
    """Values of an input: corner values and others."""
    if not dtypes.is_float(u.dtype):
        return _integers(u, (POINTS,), random)
    values = 2 * random.standard_normal(POINTS)
    return np.where(random.random(POINTS) < 0.5, random.choice(_CORNERS, POINTS), values)


def array(u: UOp, random: np.random.Generator) -> Array:
    """Values of an input, no two alike, whose products are not too large."""
    if not dtypes.is_float(u.dtype):
        return _integers(u, u.shaped, random)
    return random.uniform(0.5, 1.5, u.shaped) * random.choice([-1.0, 1.0], u.shaped)


def _integers(u: UOp, shape: Sequence[int], random: np.random.Generator) -> Array:
    if dtypes.is_bool(u.dtype):
        return random.integers(0, 2, shape).astype(np.bool_)
    # small ones most: as indices they are to name something, and some of it twice
    few, more = random.integers(0, 3, shape), random.integers(0, 8, shape)
    return np.where(random.random(shape) < 0.75, few, more).astype(numpy_dtype(u.dtype))


def agrees(samples: int, everywhere: bool) -> Verdict:
    return Verdict("sampled", SAME if everywhere else f"{SAME}, {LEFT_OUT}", samples)


def differs(
    values: Sequence[tuple[str, object]], wanted: object, got: object, how: str = OTHER
) -> Verdict:
    shown = tuple((name, _text(value)) for name, value in values)
    return Verdict("differs", how, 1, 0.0, shown, _text(wanted), _text(got))


def differs_at(
    wrong: Array, values: Sequence[tuple[str, Array]], wanted: Array, got: Array, how: str
) -> Verdict:
    """The first of the points where something is wrong."""
    k = int(np.flatnonzero(wrong)[0])
    shown = [(name, np.broadcast_to(v, wrong.shape)[k]) for name, v in values]
    return differs(shown, wanted[k], got[k], how)


def _text(value: object) -> str:
    return f"{float(value):.6g}" if isinstance(value, float | np.floating) else str(value)


def uncomputed(error: Exception) -> Verdict:
    said = error.what if isinstance(error, UopvizError) else type(error).__name__
    return Verdict("unchecked", f"cannot be computed: {said}"[:300])
