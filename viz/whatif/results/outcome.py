"""What a kernel computed, held against the reference: the largest error, and where it is wrong.

The reference evaluates the kernel's AST (core/runtime/reference); no pass has any part in it. Never
runs what is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, Final

import numpy as np

from core.dtype import DType, dtypes
from core.errors import AccessError, RunError
from core.helpers import ALLOW_TF32
from core.isolation.safety import BASE, MAX_BYTES, run_bytes
from core.prove.samples.magnitudes import bound_of
from core.prove.samples.rounding import of_result, rounding_of
from core.runtime.numeric import Array, from_memory
from core.runtime.reference.kernel import evaluate_kernel
from core.trial.difference import (
    apart_of,
    coordinates,
    difference,
    first_wrong,
    summed_products,
    ulps_apart,
)
from core.trial.trial import arguments, outputs_of
from core.uop.ops import Ops
from core.uop.patterns.policy import ignoring
from core.uop.uop import UOp
from viz.whatif.results.arguments import RANDOM, ArgumentSet

MEMORY: Final = 4 << 30
"""Bytes that evaluating the reference may take with the arguments."""
APPROXIMATE: Final = frozenset({Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.COS, Ops.POW})
"""Functions that no target has to round correctly."""
LARGEST: Final = 1e308
"""Stands for an infinite error, which JSON does not have."""
Runs = Callable[[list[Array], Mapping[str, int]], None]
"""Runs a kernel on the memory of its arguments, which it changes, and values of variables."""


@dataclass(frozen=True)
class Outcome:
    """How far results are from the reference. `error` and `allowed`: the largest absolute error of
    the output that is furthest off, and what rounding may cause; `ulps`: the same in units in the
    last place of floats, 0 for other dtypes. `output`, `index`, `coordinates`, `got`, `wanted`: the
    first element that is wrong; of an output without a shape, there are no coordinates. `fault`:
    the access outside of memory that ended it; then nothing else is known."""

    equal: bool
    error: float
    allowed: float
    ulps: int
    output: int | None = None
    index: int | None = None
    coordinates: tuple[int, ...] | None = None
    got: float | None = None
    wanted: float | None = None
    fault: str = ""

    def data(self) -> dict[str, Any]:
        """As JSON, which has no infinities and no NaN: these are left out."""
        found = asdict(self)
        for name in ("got", "wanted"):
            if found[name] is not None and not isfinite(found[name]):
                found[name] = None
        return found

    def __str__(self) -> str:
        if self.equal:
            return f"agrees with the reference; largest error {self.error:.3g}, {self.ulps} ulps"
        if self.fault:
            return self.fault
        at = self.index if self.coordinates is None else list(self.coordinates)
        return (
            f"data{self.output} is off by up to {self.error:.3g}, where {self.allowed:.3g} is "
            f"allowed; the first wrong element is {at}: {self.got:.7g} in place of "
            f"{self.wanted:.7g}"
        )


class Expected:
    """A kernel on arguments that are always the same, and what the reference makes of them. Raises
    RunError where it cannot be evaluated."""

    def __init__(self, ast: UOp, given: ArgumentSet = RANDOM) -> None:
        self.ast, self.given = ast, given
        self.arguments = given.memory(ast, MAX_BYTES)
        self.variables = given.variables(ast)
        self.results = [values.copy() for values in self.arguments]
        with np.errstate(all="ignore"):
            evaluate_kernel(ast, self.results, self.variables, MEMORY - BASE - run_bytes(ast))
        self._rounded = summed_products(ast)
        self._rounding = rounding_of(ast)
        self._approximate = any(u.op in APPROXIMATE for u in ast.toposort())
        self._outputs = outputs_of(ast)
        self._bounds: dict[int, Array] | None = None
        """By output, how far each element may be off, as far as that is known."""

    def judge(self, run: Runs) -> Outcome:
        """Runs a kernel on the same arguments. Raises what `run` does, but for accesses outside of
        memory, which are wrong results."""
        got = [values.copy() for values in self.arguments]
        try:
            with np.errstate(all="ignore"):
                run(got, self.variables)
        except AccessError as error:
            return Outcome(False, LARGEST, 0.0, 0, fault=error.what)
        return self.compare(got)

    def compare(self, got: Sequence[Array]) -> Outcome:
        """Results in the memory of the arguments; what the kernel only reads has to be as it
        was."""
        worst: Outcome | None = None
        for number in range(len(got)):
            if number not in self._outputs and (one := self._overwritten(number, got[number])):
                return one
        for number in self._outputs:
            one = self._compare(number, got[number])
            if worst is None or (worst.equal and not one.equal) or one.error > worst.error:
                worst = one
            if not one.equal:
                return one
        if worst is None:
            raise RunError("this kernel stores nothing")
        return worst

    def _overwritten(self, number: int, got: Array) -> Outcome | None:
        """The first element of an input that is not as it was; None where all are."""
        wanted, dtype = self.results[number], arguments(self.ast)[number].dtype.base
        bits = [np.ascontiguousarray(x).view(f"u{wanted.dtype.itemsize}") for x in (got, wanted)]
        changed = np.flatnonzero(bits[0] != bits[1])
        if not len(changed):
            return None
        index = int(changed[0])
        found, right = (float(from_memory(x, dtype).reshape(-1)[index]) for x in (got, wanted))
        error = abs(found - right)
        shown = error if np.isfinite(error) else LARGEST
        return Outcome(False, shown, 0.0, 0, number, index, None, found, right)

    def _compare(self, number: int, got: Array) -> Outcome:
        wanted, dtype = self.results[number], arguments(self.ast)[number].dtype.base
        if self.given.precise and dtypes.is_float(dtype):
            return self._precisely(number, got, wanted, dtype)
        if dtypes.is_float(dtype) and (bound := self._bound(number)) is not None:
            return self._bounded(number, got, wanted, dtype, bound)
        error, allowed = difference(got, wanted, dtype.name, self._rounded)
        if allowed:  # a sum may be rounded as often as it has terms, in the dtype that it adds in
            numbers = np.abs(from_memory(wanted, dtype).astype(np.float64))
            largest = float(numbers[np.isfinite(numbers)].max(initial=1.0))
            allowed = max(allowed, self._rounding * largest)
        shown = error if np.isfinite(error) else LARGEST
        ulps = 0
        if dtypes.is_float(dtype):  # any NaN is any other
            a, b = (from_memory(memory, dtype) for memory in (got, wanted))
            numbers = ~(np.isnan(a) & np.isnan(b))
            ulps = ulps_apart(got[numbers], wanted[numbers])
        if error <= allowed:
            return Outcome(True, shown, allowed, ulps)
        index, found, right = first_wrong(got, wanted, dtype.name, allowed)
        at = coordinates(self.ast, number, index)
        return Outcome(False, shown, allowed, ulps, number, index, at, found, right)

    def _bound(self, number: int) -> Array | None:
        """How far each element of an output may be off: where it is a sum of products, what
        roundings in any order may come to; None elsewhere."""
        if self._bounds is None:
            self._bounds = {}
            with ignoring():
                found = bound_of(self.ast)
            if found is not None and not ALLOW_TF32:
                held = [values.copy() for values in self.arguments]
                for n in found.relative:
                    held[n] = np.zeros(held[n].size, np.float64)
                try:
                    with np.errstate(all="ignore"), ignoring():
                        evaluate_kernel(found.ast, held, self.variables, MEMORY)
                        for n, gamma in found.relative.items():
                            scale = max(1.0, float(held[n][np.isfinite(held[n])].max(initial=0.0)))
                            self._bounds[n] = gamma * held[n] + found.absolute * scale
                except RunError:
                    self._bounds = {}
        return self._bounds.get(number)

    def _bounded(
        self, number: int, got: Array, wanted: Array, dtype: DType, bound: Array
    ) -> Outcome:
        """Each element by its own bound; where that is infinite, by what any result may be off."""
        a, b = (from_memory(values, dtype).astype(np.float64) for values in (got, wanted))
        numbers = ~(np.isnan(a) & np.isnan(b))
        ulps = ulps_apart(got[numbers], wanted[numbers])
        with np.errstate(all="ignore"):
            apart = apart_of(a, b)
            largest = float(np.abs(b[np.isfinite(b)]).max(initial=0.0))
            open_ = of_result((dtype.name, *self._rounded), largest)
            limit = np.where(np.isfinite(bound), bound, open_)
        wrong = np.flatnonzero(apart > limit)
        index = int(wrong[0]) if len(wrong) else int(apart.argmax()) if apart.size else 0
        error = float(apart.max(initial=0.0))
        shown = error if np.isfinite(error) else LARGEST
        allowed = float(limit[index]) if apart.size else 0.0
        if not len(wrong):
            return Outcome(True, shown, allowed, ulps)
        at = coordinates(self.ast, number, index)
        return Outcome(False, shown, allowed, ulps, number, index, at, float(a[index]),
                       float(b[index]))  # fmt: skip

    def _precisely(self, number: int, got: Array, wanted: Array, dtype: DType) -> Outcome:
        """Each element by its own size, and zeros with their signs."""
        a, b = (from_memory(values, dtype).astype(np.float64) for values in (got, wanted))
        numbers = ~(np.isnan(a) & np.isnan(b))
        ulps = ulps_apart(got[numbers], wanted[numbers])
        apart = apart_of(a, b)
        with np.errstate(all="ignore"):
            size = np.where(np.isfinite(b), np.abs(b), 0.0)
            limit = np.zeros_like(size)
            if self._approximate:
                limit = of_result((dtype.name, *self._rounded), 1.0) * size
                limit += dtypes.finfo(dtype).smallest_normal
            turned = (a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))
        wrong = np.flatnonzero((apart > limit) | turned)
        error = float(apart.max(initial=0.0))
        shown = error if np.isfinite(error) else LARGEST
        if not len(wrong):
            return Outcome(True, shown, shown, ulps)
        index = int(wrong[0])
        error, allowed = float(apart[index]), float(limit[index])
        shown = error if np.isfinite(error) else LARGEST
        at = coordinates(self.ast, number, index)
        found, right = float(a[index]), float(b[index])
        return Outcome(False, shown, allowed, ulps, number, index, at, found, right)
