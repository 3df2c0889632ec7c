"""How far a right result may be off follows from what is computed: no right order of a sum is
blamed, and no wrong term excused. The truth is exact sums of fractions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf

import numpy as np
import numpy.typing as npt
import pytest

from core.dtype import dtypes
from core.prove.samples.magnitudes import DIRECTED, bound_of
from core.prove.samples.rounding import gamma, of_result
from core.tensor import Tensor
from core.uop.uop import UOp
from viz.whatif.results.outcome import Expected

N = 300


def ast_of(values: Tensor) -> UOp:
    return values.schedule()[-1].ast


X, Y = Tensor.empty(4, N), Tensor.empty(4, N)
HALVES = Tensor.empty(4, N, dtype=dtypes.float16)


@dataclass(frozen=True)
class Given:
    """Arguments as they are given, the output first."""

    held: tuple[npt.NDArray[np.float32], ...]
    precise: bool = False
    said: str = "given"

    def variables(self, ast: UOp) -> dict[str, int]:
        return {}

    def memory(self, ast: UOp, most_bytes: int) -> list[npt.NDArray[np.float32]]:
        return [values.reshape(-1).copy() for values in self.held]


def judged(values: Tensor, got: npt.NDArray[np.float32], *held: npt.NDArray[np.float32]) -> bool:
    expected = Expected(ast_of(values), Given((np.zeros_like(got), *held)))
    return expected.compare([got, *(values.reshape(-1) for values in held)]).equal


def test_gamma() -> None:
    assert gamma(0.0) == 0.0
    assert gamma(0.25) == pytest.approx(1 / 3)
    assert gamma(1.0) == inf


def test_a_sum_is_rounded_as_often_as_it_has_terms() -> None:
    found = bound_of(ast_of(X.sum(1)))
    assert found is not None
    assert found.relative == {0: pytest.approx(gamma((N + DIRECTED) * 2.0**-24))}
    halves = bound_of(ast_of(HALVES.sum(1, dtype="float16")))
    assert halves is not None
    assert halves.relative[0] >= gamma(2.0**-11)
    moved = bound_of(ast_of(X.permute(1, 0).contiguous()))
    assert moved is not None
    assert (moved.relative, moved.absolute) == ({0: 0.0}, 0.0)


@pytest.mark.parametrize(
    "values", [X.exp2().sum(1), X / (Y + 1), (X + Y).cast("int32"), (X + Y < 1).where(X, Y)]
)
def test_of_other_functions_nothing_is_said(values: Tensor) -> None:
    assert bound_of(ast_of(values)) is None


@pytest.mark.parametrize("order", ["as they are", "the large ones first", "the small ones first"])
def test_no_order_of_a_sum_is_blamed(order: str) -> None:
    """Large numbers that cancel: what is left is small, and its error is not."""
    x = (np.random.default_rng(1).standard_normal((4, N)) * 1e4).astype(np.float32)
    x[:, -1] = -x[:, :-1].sum(1)
    sizes = np.argsort(np.abs(x), axis=1)
    chosen = {"as they are": np.arange(N)[None], "the large ones first": sizes[:, ::-1],
              "the small ones first": sizes}[order]  # fmt: skip
    ordered, total = np.take_along_axis(x, np.broadcast_to(chosen, x.shape), 1), np.zeros(4, "f4")
    for column in range(N):
        total = (total + ordered[:, column]).astype(np.float32)
    exact = [float(sum(map(Fraction, row.tolist()))) for row in x]
    bound = Expected(ast_of(X.sum(1)), Given((total, x)))
    assert judged(X.sum(1), total, x), bound.results[0]
    assert max(abs(total - exact)) > 0, "there is something to tolerate"


def test_a_wrong_term_is_not_excused() -> None:
    """It is within what fast instructions may make of any result."""
    random = np.random.default_rng(2)
    x, y = (random.uniform(-1, 1, (4, 16)).astype(np.float32) for _ in range(2))
    right = (x.astype(np.float64) * y).sum(1)
    wrong = right.copy()
    wrong[2] += 0.5 * of_result(("float32",), float(np.abs(right).max()))
    for got, is_right in ((right, True), (wrong, False)):
        products = (Tensor.empty(4, 16) * Tensor.empty(4, 16)).sum(1)
        assert judged(products, got.astype(np.float32), x, y) is is_right
