"""Lists, tuples, ranges and Tensors between brackets; Tensors where Python wants a number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core import Tensor
from core.capture.jit import TinyJit
from core.errors import DTypeError, RunError, ShapeError, UopvizError

ARRAY = np.arange(24).reshape(2, 3, 4)
KEYS: list[tuple[Any, Any]] = [
    (((0, 1), (1, 2)), ((0, 1), (1, 2))),
    (([(0, 1), (1, 0)],), ([(0, 1), (1, 0)],)),
    ((range(2),), (list(range(2)),)),
    ((..., (0, -1)), (..., (0, -1))),
    (([Tensor(1), 0],), ([1, 0],)),
    (([Tensor([0, 1]), Tensor([1, -1])],), ([[0, 1], [1, -1]],)),
    (([[Tensor(1), 0], (0, Tensor(1))], 2), ([[1, 0], [0, 1]], 2)),
    ((slice(None), (Tensor(2), 0), slice(1, 3)), (slice(None), (2, 0), slice(1, 3))),
    ((slice(Tensor(1), None),), (slice(1, None),)),
    ((Tensor(1), [True, False, True]), (1, [True, False, True])),
    (((),), ([],)),
]


@pytest.mark.parametrize(("ours", "theirs"), KEYS, ids=range(len(KEYS)))
def test_what_stands_for_positions(ours: Any, theirs: Any) -> None:
    theirs = tuple(
        np.array(k, dtype=int) if isinstance(k, tuple | list) and not k else k for k in theirs
    )
    np.testing.assert_array_equal(Tensor(ARRAY)[ours].numpy(), ARRAY[theirs])
    changed, copy = Tensor(ARRAY), ARRAY.copy()
    changed[ours] = -1
    copy[theirs] = -1
    np.testing.assert_array_equal(changed.numpy(), copy)
    changed[ours] += Tensor(5)
    copy[theirs] += 5
    np.testing.assert_array_equal(changed.numpy(), copy)


@pytest.mark.parametrize(("key", "error", "text"), [
    ([Tensor(1.5)], DTypeError, "an index of float32"),
    ((0, (5, 1)), ShapeError, "index 5 is out of range on axis 1"),
    ([[0, 1], [2]], ShapeError, "rows of different lengths"),
    ([Tensor([0, 1]), Tensor([1])], ShapeError, "cannot stack"),
    (slice(Tensor(1.5), None), DTypeError, "a slice from|no integer"),
    ("a", DTypeError, "not indexed by str"),
    ([["a"]], DTypeError, "value of type str"),
])  # fmt: skip
def test_refused(key: Any, error: type[UopvizError], text: str) -> None:
    with pytest.raises(error, match=text) as raised:
        Tensor(ARRAY)[key]
    assert "hint" in str(raised.value)
    assert "test_indices.py" in str(raised.value)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int64"])
def test_an_index_may_be_narrower_than_what_it_counts(dtype: str) -> None:
    x, last = Tensor.arange(300), Tensor([-1, -128, 7], dtype=dtype)
    assert x[last].tolist() == x.gather(0, last).tolist() == [299, 172, 7]
    x[last] = 0
    assert x.numpy().nonzero()[0].size == 300 - 4


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_an_index_beyond_32_bits_is_out_of_range(dtype: str) -> None:
    x, far = Tensor([1, 2]), Tensor([1 << 32, (1 << 32) + 1, 1], dtype=dtype)
    assert x[far].tolist() == x.gather(0, far).tolist() == [0, 0, 2]
    x[far] = 9
    assert x.tolist() == [1, 9]


def test_gradient_through_a_list_of_tensors() -> None:
    x = Tensor([1.0, 2.0, 3.0], requires_grad=True)
    (x[[Tensor(2), 0, Tensor(2)]] * Tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [10, 0, 101]


def test_a_tensor_where_python_wants_a_number() -> None:
    assert [5, 6, 7][Tensor(1)] == 6
    assert list(range(Tensor([3]))) == [0, 1, 2]
    assert f"{Tensor(1.5):.2f}, {Tensor([2])}".startswith("1.50, <Tensor (1,)")
    assert abs(Tensor(-2)).item() == 2
    assert (+Tensor(-2)).item() == -2
    with pytest.raises(DTypeError, match="is no integer"):
        [5, 6][Tensor(1.0)]
    with pytest.raises(DTypeError, match="is no integer"):
        [5, 6][Tensor([0, 1])]

    @TinyJit
    def looks(x: Tensor) -> Tensor:
        return (x + [5, 6][Tensor(1)]).realize()

    looks(Tensor([1]))
    with pytest.raises(RunError, match="looks at a value"):
        looks(Tensor([1]))


def test_numpy_takes_tensors() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    array = np.asarray(x)
    assert array.dtype == np.float32
    array[0, 0] = 9  # a copy
    assert x.tolist() == [[1, 2], [3, 4]]
    assert np.array(x, dtype=np.int64).tolist() == [[1, 2], [3, 4]]
    assert np.add(np.ones(2), x[0]).tolist() == [2, 3]
