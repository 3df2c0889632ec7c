"""Tensors from data, constants and sequences: dtypes, shapes, bytes, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from core import Tensor, dtypes
from core.errors import DeviceError, DTypeError, ShapeError
from core.uop.ops import GroupOp, Ops
from tests.core.tensor_eval import value


@pytest.mark.parametrize(("data", "dtype", "shape"), [
    (True, dtypes.bool, ()),
    (3, dtypes.int32, ()),
    (2.5, dtypes.float32, ()),
    ([1, 2], dtypes.int32, (2,)),
    ([1, 2.5], dtypes.float32, (2,)),
    ([True, False], dtypes.bool, (2,)),
    ([True, 2], dtypes.int32, (2,)),
    ([1 << 40], dtypes.int64, (1,)),
    ([], dtypes.float32, (0,)),
    ([[]], dtypes.float32, (1, 0)),
    ([[1], [2]], dtypes.int32, (2, 1)),
    (((1, 2), (3, 4)), dtypes.int32, (2, 2)),
    (range(4), dtypes.int32, (4,)),
    ([np.float64(2), 1], dtypes.float32, (2,)),
    (b"\x01\x02", dtypes.uint8, (2,)),
    (None, dtypes.float32, (0,)),
    (np.int16(7), dtypes.int16, ()),
    (np.zeros((2, 3), np.float64), dtypes.float64, (2, 3)),
    (np.zeros((), np.uint8), dtypes.uint8, ()),
])  # fmt: skip
def test_dtype_and_shape_come_from_the_data(data: Any, dtype: Any, shape: Any) -> None:
    tensor = Tensor(data)
    assert (tensor.dtype, tensor.shape, tensor.device) == (dtype, shape, "CPU")
    if not isinstance(data, bytes) and data is not None:
        np.testing.assert_array_equal(value(tensor), np.array(data))


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_arrays_with_any_strides(data: st.DataObject) -> None:
    shape = data.draw(hnp.array_shapes(max_dims=3, max_side=4))
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    array = array.transpose(data.draw(st.permutations(range(array.ndim))))
    cut = st.sampled_from(
        [slice(None), slice(None, None, -1), slice(None, None, 2), slice(1, None)]
    )
    array = array[tuple(data.draw(cut) for _ in shape)]
    if data.draw(st.booleans()):
        array = np.broadcast_to(array, (3, *array.shape))
    np.testing.assert_array_equal(value(Tensor(array)), array)
    np.testing.assert_array_equal(Tensor(array).numpy(), array)


def test_reordered_arrays_are_views_of_their_memory() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    graph = Tensor(np.broadcast_to(array.T[::-1], (4, 3, 2))).uop.toposort()
    assert {u.op for u in graph} <= GroupOp.Movement | {Ops.BUFFER, Ops.UNIQUE, Ops.DEVICE}
    assert [u.arg for u in graph if u.op is Ops.BUFFER] == [6]


def test_other_byte_orders_are_read_as_numbers() -> None:
    assert Tensor(np.array([1, 256], dtype=">i4")).tolist() == [1, 256]


def test_a_tensor_does_not_share_memory_with_its_array() -> None:
    array = np.ones(3, np.float32)
    tensor = Tensor(array)
    array[:] = 5
    assert tensor.tolist() == [1, 1, 1]


def test_asked_for_dtypes() -> None:
    assert Tensor([1.7, -1.7], dtype="int8").tolist() == [1, -1]
    assert Tensor([300, -1], dtype=dtypes.uint8).tolist() == [44, 255]
    assert Tensor([1, 2], dtype=dtypes.bfloat16).tolist() == [1.0, 2.0]
    assert Tensor(b"\x00\x00\x80\x3f", dtype=dtypes.float32).tolist() == [1.0]
    assert Tensor(np.arange(3), dtype="float16").dtype is dtypes.float16
    assert Tensor(Tensor([1, 2]), dtype="float32").dtype is dtypes.float32


@pytest.mark.parametrize(("data", "error", "words"), [
    ([[1, 2], [3]], ShapeError, "rows of different lengths"),
    ([1, [2]], ShapeError, "different lengths: .* is a number, and"),
    ([[1], 2], ShapeError, "different lengths"),
    (["a"], DTypeError, "type str"),
    (np.array(["a"]), DTypeError, "no Tensor holds"),
    (np.array([1j]), DTypeError, "complex"),
])  # fmt: skip
def test_bad_data_is_refused(data: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        Tensor(data)


def test_bad_bytes_devices_and_dtypes_are_refused() -> None:
    with pytest.raises(DTypeError, match="3 bytes"):
        Tensor(b"abc", dtype="float32")
    with pytest.raises(DeviceError, match="no device"):
        Tensor([1], device="TPU")
    with pytest.raises(DTypeError, match="unknown dtype"):
        Tensor([1], dtype="float33")
    with pytest.raises(DTypeError, match="cannot have a gradient"):
        Tensor([1], requires_grad=True)
    with pytest.raises(ShapeError, match="not negative"):
        Tensor.zeros(-1)


def test_constants_and_sequences_have_no_memory() -> None:
    for made in (Tensor.zeros(2, 3), Tensor.ones((4,)), Tensor.full((2,), 7), Tensor.arange(5),
                 Tensor.eye(3), Tensor.linspace(0, 1, 5), Tensor(3.5)):  # fmt: skip
        assert not any(u.op is Ops.BUFFER for u in made.uop.toposort())
    np.testing.assert_array_equal(value(Tensor.eye(2, 3)), np.eye(2, 3))
    np.testing.assert_allclose(value(Tensor.linspace(0, 1, 5)), np.linspace(0, 1, 5))
    assert value(Tensor.arange(10, 0, -3)).tolist() == [10, 7, 4, 1]


def test_likes() -> None:
    x = Tensor.zeros(2, 3, dtype="int16")
    for like in (x.full_like(4), x.ones_like(), x.zeros_like(), x.empty_like()):
        assert (like.shape, like.dtype, like.device) == (x.shape, x.dtype, x.device)
    assert x.ones_like(dtype="float32").dtype is dtypes.float32


def test_questions() -> None:
    x = Tensor.zeros(2, 3)
    assert (x.ndim, x.numel(), x.element_size(), x.nbytes(), len(x)) == (2, 6, 4, 24, 2)
    assert (x.size(), x.size(-1), x.is_floating_point()) == ((2, 3), 3, True)
    assert "(2, 3) float32" in repr(x)
    with pytest.raises(ShapeError, match="no length"):
        len(Tensor(1))


def test_reading_values() -> None:
    x = Tensor([[1, 2], [3, 4]])
    assert x.tolist() == [[1, 2], [3, 4]]
    assert x.data().tolist() == [[1, 2], [3, 4]]
    assert Tensor(2.5).item() == 2.5
    assert Tensor(2.5).data().tolist() == 2.5
    assert bool(Tensor([0.0])) is False
    assert Tensor.zeros(0, 3).numpy().shape == (0, 3)
    assert [t.item() for t in Tensor([5, 6])] == [5, 6]
    with pytest.raises(ShapeError, match="item of a Tensor with 4"):
        x.item()
    array = x.numpy()
    array[0, 0] = 9
    assert x.tolist() == [[1, 2], [3, 4]]
