"""Integers made of variables, once these have values: sizes that are known at a launch.

Never looks at memory: what a kernel computes itself has no value before it runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from core.errors import RunError
from core.uop.facts.meaning import evaluate
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp

_LEAVES: Final = frozenset({Ops.CONST, Ops.DEFINE_VAR})


def known_at_launch(u: UOp) -> bool:
    """Whether a scalar is made of constants and variables."""
    return all(
        n.dtype.count == 1 and (n.op in GroupOp.Elementwise if n.src else n.op in _LEAVES)
        for n in u.toposort()
    )


def value_at_launch(u: UOp, variables: Mapping[str, int]) -> int:
    """What a scalar is with these values. Raises RunError for a variable without a value, for one
    whose value is outside of its bounds, and for a scalar that is not known at launch."""
    values: dict[UOp, int] = {}
    for n in _order(u):
        if n.op is Ops.CONST:
            values[n] = n.arg
        elif n.op is Ops.DEFINE_VAR:
            values[n] = _given(n, variables)
        else:
            values[n] = evaluate(n.op, n.dtype, [values[s] for s in n.src], n.src[-1].dtype)
    return int(values[u])


def bound_value(u: UOp) -> int:
    """What a scalar of bound variables is. Raises RunError for one that is not known at launch."""
    # a variable may be bound to several values in it
    return value_at_launch(u.substitute({b: b.src[1] for b in u.vars() if b.op is Ops.BIND}), {})


@lru_cache(maxsize=1024)
def _order(u: UOp) -> tuple[UOp, ...]:
    if not known_at_launch(u):
        raise RunError(
            f"a launch of size {u.render()}", hint="sizes are made of constants and variables"
        )
    return tuple(u.toposort())


def _given(variable: UOp, variables: Mapping[str, int]) -> int:
    name, low, high = variable.arg
    if name not in variables:
        raise RunError(f"the size of a launch needs a value for {name}", hint="bind it")
    value = variables[name]
    if not low <= value <= high:
        raise RunError(
            f"{name} is {value} at a launch", hint=f"the kernel was made for {low} to {high}"
        )
    return value
