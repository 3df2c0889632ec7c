"""Instructions of PTX that threads of a warp run together: shuffles and votes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from core.runtime.emulator.program import Instruction, Warp
from core.runtime.emulator.ptx.forms import Form
from core.runtime.emulator.ptx.text import Name, Pair
from core.runtime.numeric import Array

_LANES: Final = np.arange(32, dtype=np.int64)


def _shuffle(mode: str) -> Callable[..., tuple[Array, Array]]:
    """(values, whether they came from within the segment). Source: PTX ISA, shfl.sync."""

    def shuffle(_: Array, x: Array, b: Array, c: Array) -> tuple[Array, Array]:
        step, clamp = (b & np.uint32(31)).astype(np.int64), (c & np.uint32(31)).astype(np.int64)
        segment = (c >> np.uint32(8) & np.uint32(31)).astype(np.int64)
        last = _LANES & segment | clamp & ~segment
        if mode == "up":
            source = _LANES - step
            inside = source >= last
        elif mode == "idx":
            source = _LANES & segment | step & ~segment
            inside = source <= last
        else:
            source = _LANES + step if mode == "down" else _LANES ^ step
            inside = source <= last
        source = np.where(inside, source, _LANES)
        return np.take_along_axis(x, source, axis=1), inside

    return shuffle


def shuffle(form: Form) -> list[Instruction]:
    """shfl.sync: values of other lanes of the warp."""
    modes = [m for m in form.modifiers if m in ("up", "down", "bfly", "idx")]
    form.only("sync", *modes)
    if len(modes) != 1 or "sync" not in form.modifiers or form.types != ["b32"]:
        raise form.unknown()
    form.count(5)
    target = form.items[0]
    first = target.first if isinstance(target, Pair) else target
    second = target.second if isinstance(target, Pair) else Name("_")
    operands = tuple(
        form.operand(item, kind)
        for item, kind in zip(form.items[1:4], ("b32", "u32", "u32"), strict=True)
    )
    results = (form.reg(first, "b32"), form.reg(second, "pred"))
    return [
        Warp(
            line=form.line,
            name=form.opcode,
            guard=form.guard,
            function=_shuffle(modes[0]),
            operands=operands,
            results=results,
        )
    ]


def _all(active: Array, p: Array) -> Array:
    return np.broadcast_to((p | ~active).all(axis=1, keepdims=True), active.shape)


def _any(active: Array, p: Array) -> Array:
    return np.broadcast_to((p & active).any(axis=1, keepdims=True), active.shape)


def _uniform(active: Array, p: Array) -> Array:
    return _all(active, p) | ~_any(active, p)


def _ballot(active: Array, p: Array) -> Array:
    bits = (p & active).astype(np.uint64) << _LANES.astype(np.uint64)
    words = np.bitwise_or.reduce(bits, axis=1, keepdims=True).astype(np.uint32)
    return np.broadcast_to(words, active.shape)


def _of_negation(function: Callable[..., Any]) -> Callable[..., Any]:
    def negated(active: Array, p: Array) -> Any:
        return function(active, ~p)

    return negated


_votes: Final[dict[str, tuple[Callable[..., Any], str]]] = {
    "all": (_all, "pred"),
    "any": (_any, "pred"),
    "uni": (_uniform, "pred"),
    "ballot": (_ballot, "b32"),
}


def vote(form: Form) -> list[Instruction]:
    """vote.sync: what the predicates of a warp's threads say together."""
    modes = [m for m in form.modifiers if m in _votes]
    form.only("sync", *modes)
    if len(modes) != 1 or "sync" not in form.modifiers:
        raise form.unknown()
    function, kind = _votes[modes[0]]
    if form.types != [kind]:
        raise form.unknown()
    form.count(3)
    source = form.items[1]
    if isinstance(source, Name) and source.negated:
        function = _of_negation(function)
    return [
        Warp(
            line=form.line,
            name=form.opcode,
            guard=form.guard,
            function=function,
            operands=(form.operand(source, "pred"),),
            results=(form.reg(form.items[0], kind),),
        )
    ]
