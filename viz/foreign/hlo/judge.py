"""Passes over HLO, judged by executing the module before and after each on random inputs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from core.errors import TraceError
from core.prove.verdict import Verdict
from viz.foreign.hlo.errors import CannotError, InvalidError, NarrowError
from viz.foreign.hlo.run import LimitError, Run, without_meaning
from viz.foreign.hlo.text import Module, parse
from viz.foreign.hlo.types import FLOATS, ArrayType, Type
from viz.foreign.hlo.values import SAMPLES, Value, difference, random
from viz.read.records import Rewrite
from viz.read.tracefile import TraceFile

SECONDS: Final = 60.0
"""After which no further sample of a pass is begun."""
_TIGHT: Final = 2e-6
"""Of the largest value, in float64: a constant of one module may have been rounded to float32."""
_LOOSE: Final = {"f64": 1e-9, "f32": 1e-4, "bf16": 4e-2, "f16": 8e-3}
"""In its own dtypes, by the narrowest: what roundings may come to."""
_HOW: Final = "the whole module, executed in float64, gives the same"
_HOW_LOOSE: Final = "the whole module gives the same within the rounding of its narrowest dtype"
_LARGE: Final = "set --xla_dump_large_constants in XLA_FLAGS to have constants dumped whole"


def judge(file: TraceFile, rewrite: Rewrite, steps: int) -> Sequence[Verdict]:
    """A verdict for each step of a pass. Raises BudgetError."""
    if rewrite.error is not None or not rewrite.result:
        return [Verdict("unchecked", "the pass did not end")] * steps
    texts: list[str] = []
    for one in file.pass_texts.of(rewrite.id):
        if file.name(one.kind) != "hlo":
            return [Verdict("unchecked", "it is not a pass over HLO")] * steps
        if one.left_out:
            return [Verdict("unchecked", "a text of the pass is cut")] * steps
        try:
            texts.append(file.pass_texts.text(one))
        except TraceError as error:
            return [Verdict("unchecked", error.what)] * steps
    if len(texts) != 2:
        return [Verdict("unchecked", "the trace has not both texts of the pass")] * steps
    return [compare(*texts)] * steps


def compare(before: str, after: str) -> Verdict:
    """What is known of a module that became another one."""
    try:
        old, new = _module(before), _module(after)
        if old == new:
            return Verdict("proved", "the modules before and after are the same")
        return _Pair(before, after).verdict()
    except CannotError as error:
        hint = _LARGE if "leaves out" in str(error) else ""
        return Verdict("unchecked", f"cannot be executed: {error}"[:300], hint=hint)


@lru_cache(maxsize=2)
def _parsed(text: str) -> Module | str:
    try:
        return parse(text)
    except CannotError as error:
        return str(error)


def _module(text: str) -> Module:
    made = _parsed(text)
    if isinstance(made, str):
        raise CannotError(made)
    return made


@dataclass
class _Result:
    value: Value
    left_out: set[str]


class _Pair:
    """A module before and after a pass."""

    def __init__(self, before: str, after: str) -> None:
        self._before, self._after = before, after
        self._old, self._new = _module(before), _module(after)

    def verdict(self) -> Verdict:
        """Raises CannotError."""
        for module in (self._old, self._new):
            if module.devices > 1:
                raise CannotError("it is for several devices")
            if missing := without_meaning(module):
                raise CannotError(f"without a meaning here: {missing}")
        given, given_after = _parameters(self._old), _parameters(self._new)
        if given != given_after:
            raise CannotError("the module after the pass has other parameters")
        until = time.monotonic() + SECONDS
        moved = _conversions(self._old) != _conversions(self._new)
        is_narrow, agreed, limit = moved, 0, ""
        for sample in range(SAMPLES):
            if time.monotonic() > until:
                limit = "time limit reached"
                break
            try:
                try:
                    found = self._sample(sample, not is_narrow)
                except NarrowError:
                    is_narrow = True
                    found = self._sample(sample, False)
            except LimitError as error:
                limit = str(error)
                continue
            if found is not None:
                return found
            agreed += 1
        if not agreed:
            raise CannotError(limit)
        return Verdict("sampled", _HOW_LOOSE if is_narrow else _HOW, agreed)

    def _sample(self, sample: int, wide: bool) -> Verdict | None:
        """How it differs on one sample; None where it does not. Raises CannotError, NarrowError."""
        try:
            old = _executed(self._before, sample, wide)
        except InvalidError as error:
            raise CannotError(f"before the pass, {error}") from None
        how = f"executed on random inputs (sample {sample + 1}), the module gives other values"
        kind = _result(self._old)
        if kind != _result(self._new):
            how = "the module has another result"
            return Verdict(
                "differs", how, before=str(kind)[:100], after=str(_result(self._new))[:100]
            )
        try:
            new = _executed(self._after, sample, wide)
        except InvalidError as error:
            how = "the module before can be executed, and the one after contradicts itself"
            return Verdict("differs", how, before="values", after=str(error)[:200])
        if old.left_out != new.left_out:
            raise CannotError("the text leaves out the values of constants")
        share = _TIGHT if wide else _share(self._old, self._new)
        found = difference(old.value, new.value, kind, share)
        if found is None:
            return None
        if wide:  # what only has a meaning in its own dtypes
            try:
                own = self._sample(sample, False)
            except CannotError:
                own = None
            if own is None:
                return None
        return Verdict("differs", how, before=found[0], after=found[1])


@lru_cache(maxsize=2 * SAMPLES)
def _executed(text: str, sample: int, wide: bool) -> _Result:
    """Kept, since what is after one pass is before the next one."""
    module = _module(text)
    given = _parameters(module)
    run = Run(module, wide, sample)
    values = [random(kind, str(at), sample, wide) for at, kind in enumerate(given)]
    return _Result(run.entry(values), run.left_out)


def _parameters(module: Module) -> list[Type]:
    """Their types, without layouts. Raises CannotError."""
    found = module.computations[module.entry].parameters
    if sorted(found) != [*range(len(found))]:
        raise CannotError("a parameter is missing")
    return [_plain(found[at].type) for at in range(len(found))]


def _result(module: Module) -> Type:
    entry = module.computations[module.entry]
    return _plain(entry.instructions[entry.root].type)


def _plain(kind: Type) -> Type:
    if isinstance(kind, ArrayType):
        return ArrayType(kind.dtype, kind.dims)
    return type(kind)(tuple(map(_plain, kind.parts)))


def _conversions(module: Module) -> list[str]:
    """The dtypes of what converts between floats."""
    found: list[str] = []
    for computation in module.reached():
        for one in computation.instructions.values():
            if one.opcode == "reduce-precision":
                found.append(str(one.attributes))
            elif one.opcode == "convert" and isinstance(one.type, ArrayType):
                of = computation.instructions[one.operands[0]].type if one.operands else one.type
                if isinstance(of, ArrayType) and of.kind == one.type.kind == "float":
                    found.append(one.type.dtype)
    return sorted(found)


def _share(*modules: Module) -> float:
    """What roundings of the narrowest dtype may come to."""
    found = {
        one.type.dtype
        for module in modules
        for computation in module.reached()
        for one in computation.instructions.values()
        if isinstance(one.type, ArrayType) and one.type.dtype in FLOATS
    }
    return max([_LOOSE[dtype] for dtype in found], default=1e-4)
