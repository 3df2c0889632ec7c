"""`rearrange` by its formula, against NumPy: axes split, ordered, merged, and formulas refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import Tensor
from core.errors import ShapeError

X = np.arange(2 * 6 * 4).reshape(2, 6, 4)
FORMULAS: dict[str, tuple[str, dict[str, int], np.ndarray]] = {
    "order": ("a b c -> c a b", {}, X.transpose(2, 0, 1)),
    "merge": ("a b c -> (b a) c", {}, X.transpose(1, 0, 2).reshape(12, 4)),
    "split": ("a (b k) c -> a b c k", {"k": 3}, X.reshape(2, 2, 3, 4).transpose(0, 1, 3, 2)),
    "both": ("n (h w) c -> (n h) (c w)", {"h": 2},
             X.reshape(2, 2, 3, 4).transpose(0, 1, 3, 2).reshape(4, 12)),
    "dots": ("... c -> c ...", {}, X.transpose(2, 0, 1)),
    "dots merged": ("a ... -> (...) a", {}, X.transpose(1, 2, 0).reshape(24, 2)),
    "dots of none": ("a b c ... -> ... a (b c)", {}, X.reshape(2, 24)),
    "ones": ("a b c -> a 1 b () c", {}, X.reshape(2, 1, 6, 1, 4)),
    "names": ("batch_1 Row _x->_x(batch_1 Row)", {}, X.transpose(2, 0, 1).reshape(4, 12)),
    "all given": ("a (b k) c -> (a b) k c", {"k": 3, "b": 2}, X.reshape(4, 3, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas(name: str) -> None:
    formula, sizes, wanted = FORMULAS[name]
    found = Tensor(X).rearrange(formula, **sizes)
    assert found.shape == wanted.shape
    np.testing.assert_array_equal(found.numpy(), wanted)


def test_axes_of_length_one_are_taken_away() -> None:
    assert Tensor(X).reshape(2, 1, 24).rearrange("a 1 b -> (b a)").shape == (48,)
    assert Tensor(3).rearrange("-> 1 1").shape == (1, 1)
    assert Tensor.zeros(0, 4).rearrange("(a b) c -> a b c", b=2).shape == (0, 2, 4)


@pytest.mark.parametrize(("formula", "sizes", "said"), [
    ("a b c", {}, "no '->'"),
    ("a b -> b a", {}, "left side has 2 axes, the Tensor 3"),
    ("a b c d ... -> a b c d ...", {}, "left side has 5 axes"),
    ("a b c -> a b", {}, "'c' has to be on both sides"),
    ("a b c -> a b c d", {}, "'d' has to be on both sides"),
    ("a b c -> a b c", {"k": 2}, "'k' has to be on both sides"),
    ("a b c -> a b b", {}, "names an axis twice"),
    ("a b a -> a b", {}, "names an axis twice"),
    ("a (b k) c -> a b k c", {}, "length of 'b' has to be given: b=2"),
    ("a (b k) c -> a b k c", {"k": 4}, "b=1, k=4 for an axis of length 6|k=4, b=1 for an axis"),
    ("a (b k) c -> a b k c", {"k": 0}, "for an axis of length 6"),
    ("a (b k) c -> a b k c", {"k": -3}, "for an axis of length 6"),
    ("a b c -> a b c", {"c": 5}, "c=5 for an axis of length 4"),
    ("a 1 c -> a c", {}, "an axis of length 1 for an axis of length 6"),
    ("a (b (c)) d -> a b c d", {}, "parentheses do not match"),
    ("a (b c -> a b c", {}, "parentheses do not match"),
    ("a b) c -> a b c", {}, "parentheses do not match"),
    ("a b+c d -> a b c d", {}, r"not understood from '\+c d'"),
    ("... a ... -> a ...", {}, "left side has 3 axes|names an axis twice"),
    ("a b c -> ...", {}, "has to be on both sides"),
])  # fmt: skip
def test_formulas_that_do_not_fit(formula: str, sizes: dict[str, int], said: str) -> None:
    with pytest.raises(ShapeError, match=said):
        Tensor(X).rearrange(formula, **sizes)


@given(data=st.data())
def test_there_and_back(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    names = [f"x{i}" for i in range(len(shape))]
    moved = data.draw(st.permutations(names))
    cut = data.draw(st.integers(0, len(shape)))
    other = f"{' '.join(moved[:cut])} ({' '.join(moved[cut:])})"
    x = Tensor.arange(int(np.prod(shape))).reshape(shape)
    there = x.rearrange(f"{' '.join(names)} -> {other}")
    back = there.rearrange(f"{other} -> {' '.join(names)}", **dict(zip(names, shape, strict=True)))
    assert back.tolist() == x.tolist()


@pytest.mark.parametrize("shift", [-7, -1, 0, 1, 3, 6, 11])
def test_roll_without_axes_is_of_the_flattened_tensor(shift: int) -> None:
    values = np.arange(6).reshape(2, 3)
    for by in (shift, (shift,)):
        assert Tensor(values).roll(by).tolist() == np.roll(values, shift).tolist()
    with pytest.raises(ShapeError, match="give one shift per axis"):
        Tensor(values).roll((1, 2))
