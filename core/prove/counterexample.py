"""`Counterexample`: the values of all inputs and of memory for which two graphs differ.

They can be run: `value` is that of a variable, a loop or any node that was an input, `element` that
of memory, `undefined` what is left where an op is undefined. Never decides.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from core.dtype import DType, dtypes, truncate
from core.prove.samples.sample import Samples
from core.prove.terms.axes import UnknownMeaningError
from core.prove.terms.node import Kind
from core.prove.terms.term import Term, Terms
from core.uop import UOp


@dataclass(frozen=True)
class Counterexample:
    """One row of some samples, and the two terms that differ there."""

    samples: Samples
    row: int
    pair: tuple[Term, Term]

    def holds(self, condition: Term) -> bool:
        """Whether a condition is met."""
        try:
            return bool(self._values((condition,))[0])
        except UnknownMeaningError:
            return False

    def value(self, u: UOp, lane: int = 0) -> Any:
        """The value of a node that was an input."""
        whole = (0.0, 0.0) if dtypes.is_float(u.dtype.scalar()) else u.bounds
        terms = Terms()
        return self._of(terms.input((u, lane), u.dtype.scalar(), *whole), ())

    def element(self, memory: Hashable, dtype: DType, at: int) -> Any:
        """The value of an element of memory, before anything is written."""
        terms = Terms()
        return self._of(terms.read(memory, dtype, terms.const(dtypes.int64, at)), (at,))

    def undefined(self, key: Hashable, dtype: DType, args: Sequence[tuple[DType, Any]]) -> Any:
        """What is left where an op is undefined."""
        terms = Terms()
        made = [terms.const(d, value) for d, value in args]
        nothing, false = terms.const(dtype, 0), terms.const(dtypes.bool, False)
        values = tuple(value for _, value in args)
        return self._of(terms.undefined(key, false, nothing, made), values)

    def _of(self, t: Term, at: tuple[Any, ...]) -> Any:
        fixed = [f for f in self.samples.fixed if f.data == t.data and f.dtype == t.dtype]
        for f in fixed:
            if f.op is Kind.INPUT or self._values(f.args) == at:
                return truncate(int(self.samples.fixed[f]), t.dtype)
        for g, values in self.samples.given.items():
            same = g.data == t.data and g.dtype == t.dtype
            if same and (g.op is Kind.INPUT or self._values(g.args) == at):
                return values[self.row].item()
        return self._values((t,))[0]

    def _values(self, roots: Sequence[Term]) -> tuple[Any, ...]:
        return tuple(found[self.row].item() for found in self.samples.run(list(roots)))
