"""Two stages of one compilation as programs whose results are compared.

A stage may have other inputs than the one before it: AOTAutograd gives the inputs of Dynamo's graph
names of its own, in their order; what it cuts in two has inputs that are values of the whole, by
their names. Never executes anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from viz.foreign.fxtext import CannotError, Program, Statement, program

_PRIMAL: Final = re.compile(r"(primals_\d+|arg\d+_1)$")
_TANGENT: Final = re.compile(r"tangents_\d+$")


@dataclass
class Pair:
    """Two programs, one behind the other: their statements, and the last of each, which is its
    results. `note`: what is not compared, "" where all is."""

    statements: list[Statement]
    roots: tuple[int, int]
    note: str = ""


def pair(before: str, after: str, others: Sequence[str] = ()) -> Pair:
    """The texts of two stages as programs. `others`: what else came of the first one, such as the
    forward half of what `after` is the backward half of. Raises CannotError."""
    old, new = program(before), program(after)
    if has_tangents(old) and not has_tangents(new):
        return _forward(old, new)
    if has_tangents(old) and len(old.outputs) != len(new.outputs):
        return _backward(old, after, others)
    if _is_lifted(new) and not _is_lifted(old):
        return _lifted(old, new)
    common = old.inputs.keys() & new.inputs.keys()
    for name in sorted(common):
        one, other = old.inputs[name], new.inputs[name]
        if (one.dtype, one.sizes) != (other.dtype, other.sizes):
            raise CannotError(f"the input {name} has another type")
    if len(common) < min(len(old.inputs), len(new.inputs)):
        raise CannotError("the graphs have inputs of other names")
    written = [(old.inputs[name].at, new.inputs[name].at) for name in sorted(common)]
    return _pair(
        old,
        [*old.outputs, *(one for one, _ in written)],
        new,
        [*new.outputs, *(other for _, other in written)],
    )


def has_tangents(made: Program) -> bool:
    """Whether it has the gradients of results among its inputs."""
    return any(_TANGENT.match(name) for name in made.inputs)


def _is_lifted(made: Program) -> bool:
    return bool(made.inputs) and all(
        _PRIMAL.match(name) or _TANGENT.match(name) for name in made.inputs
    )


def _lifted(old: Program, new: Program) -> Pair:
    """Dynamo's graph, and what AOTAutograd made of it."""
    names = [name for name in new.inputs if _PRIMAL.match(name)]
    if len(names) != len(old.inputs):
        raise CannotError(f"the graph has {len(old.inputs)} inputs, its successor {len(names)}")
    for one, other in zip(old.inputs.values(), (new.inputs[name] for name in names), strict=True):
        if (one.dtype, one.sizes) != (other.dtype, other.sizes):
            raise CannotError("an input has another type")
    renamed = Program([*old.statements], old.inputs, old.names, old.outputs)
    for one, name in zip(old.inputs.values(), names, strict=True):
        renamed.statements[one.at] = new.statements[new.inputs[name].at]
    if not has_tangents(new):
        if len(new.outputs) != len(old.outputs):
            raise CannotError("the graph also returns what it writes to its inputs")
        written = [new.inputs[name].at for name in names]
        ends = [one.at for one in old.inputs.values()]
        return _pair(renamed, [*old.outputs, *ends], new, [*new.outputs, *written])
    results = new.outputs[: len(new.outputs) - len(names)]
    if len(results) != len(old.outputs):
        raise CannotError("the graph also returns what it writes to its inputs")
    return _pair(renamed, old.outputs, new, results, "gradients are not compared")


def _forward(whole: Program, half: Program) -> Pair:
    """The graph with its gradients, and the forward half: its results, and what it keeps for the
    other half, by name."""
    primals = [name for name in whole.inputs if _PRIMAL.match(name)]
    count = len(whole.outputs) - len(primals)
    if count <= 0 or count > len(half.outputs):
        raise CannotError("the halves of the graph have other results than the whole")
    by_number = {at: name for name, at in half.names.items()}
    kept: list[tuple[int, int]] = []
    for at in half.outputs[count:]:
        known = whole.names.get(by_number.get(at, "")) if at is not None else None
        if at is not None and known is not None:
            kept.append((known, at))
    left = sum(at is not None for at in half.outputs[count:]) - len(kept)
    return _pair(
        whole,
        [*whole.outputs[:count], *(one for one, _ in kept)],
        half,
        [*half.outputs[:count], *(other for _, other in kept)],
        f"without {left:,} values kept for the backward graph" if left else "",
    )


def _backward(whole: Program, text: str, others: Sequence[str]) -> Pair:
    """The graph with its gradients, and the backward half, given values of the forward one; where
    that is not known, of the whole."""
    forward = next((made for made in map(program, others) if not has_tangents(made)), whole)
    half = program(text, forward, whole.inputs)
    count = len(half.outputs)
    return _pair(whole, whole.outputs[-count:], half, half.outputs)


def _pair(
    old: Program,
    results: list[int | None],
    new: Program,
    new_results: list[int | None],
    note: str = "",
) -> Pair:
    statements = [*old.statements, _results(results, 0)]
    shift = len(statements)
    for op, dtype, arguments, shape, sources in new.statements:
        statements.append((op, dtype, arguments, shape, tuple(s + shift for s in sources)))
    statements.append(_results(new_results, shift))
    return Pair(statements, (shift - 1, len(statements) - 1), note)


def _results(outputs: list[int | None], shift: int) -> Statement:
    """A constant has no part in it: None, where a result needs no gradient."""
    sources = tuple(at + shift for at in outputs if at is not None)
    arguments = json.dumps([f"${at}" for at in range(len(sources))])
    return "results", "", arguments, "", sources
