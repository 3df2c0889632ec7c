"""Memory shared with NumPy and pointers, copies and pickles."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core import Tensor, TinyJit, dtypes, nn
from core.errors import DeviceError, DTypeError, ShapeError, UopvizError
from core.runtime.buffer import buffer_of

A = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
VIEWS = {
    "whole": A, "transposed": A.T, "reversed": A[:, ::-1], "part": A[:, 1:, ::2],
    "reversed part": A[::-1, :, ::-2], "repeated": np.broadcast_to(A[0], (5, 3, 4)),
    "permuted part": A.transpose(1, 0, 2)[:, 1:], "column": A[..., 2], "one": A[0, 0, :1],
    "number": A[1, 1, 1:2].reshape(()), "new axes": A[:, None, ::2, None],
    "diagonal": np.diagonal(A[0]),
    "every seventh": A.reshape(-1)[3::7], "nothing": A[:0], "reversed columns": A[0].T[::-1],
}  # fmt: skip


@pytest.mark.parametrize("device", ["CPU", "REFERENCE"])
@pytest.mark.parametrize("name", VIEWS)
def test_arrays_enter_as_views(name: str, device: str) -> None:
    array = VIEWS[name]
    x = Tensor.from_numpy(array, device)
    assert (x.shape, x.dtype, x.device) == (array.shape, dtypes.float32, device)
    np.testing.assert_array_equal(x.numpy(), array)
    assert len((x + 1).schedule()) == (1 if array.size else 0), "nothing is copied first"
    if array.size:
        shared = buffer_of(x.uop.base).host_view()
        assert shared is not None
        assert np.shares_memory(np.frombuffer(shared, np.uint8), A)


@pytest.mark.parametrize("name", VIEWS)
def test_what_is_assigned_is_in_the_array(name: str) -> None:
    memory = A.copy()
    array: Any = np.lib.stride_tricks.as_strided(memory)
    whole, part = VIEWS["whole"], VIEWS[name]
    offset = part.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    array = np.ndarray(part.shape, part.dtype, memory, offset, part.strides)
    x = Tensor.from_numpy(array)
    if name == "repeated":
        with pytest.raises(ShapeError, match="several values in one element"):
            x.assign(x + 100)
        return
    wanted = memory.copy()
    np.ndarray(part.shape, part.dtype, wanted, offset, part.strides)[...] += 100
    x += 100
    np.testing.assert_array_equal(memory, A)
    x.realize()
    np.testing.assert_array_equal(memory, wanted)
    np.testing.assert_array_equal(x.numpy(), array)
    memory[...] = -1
    assert (x.numpy() == -1).all(), "one memory"


def test_a_read_only_array_is_never_written() -> None:
    array = A[0].copy()
    array.flags.writeable = False
    x = Tensor.from_numpy(array)
    y = Tensor.from_numpy(array)
    y += 1
    assert np.array_equal(y.realize().numpy(), A[0] + 1)

    @TinyJit
    def more(x: Tensor) -> Tensor:
        x += 1
        return x.realize()

    for _ in range(4):
        more(x)
    np.testing.assert_array_equal(x.numpy(), A[0] + 4)
    np.testing.assert_array_equal(array, A[0])


def test_a_copied_array_is_apart() -> None:
    array = A.copy()
    x = Tensor(array)
    array[...] = 0
    np.testing.assert_array_equal(x.numpy(), A)
    x += 1
    x.realize()
    assert (array == 0).all()


def test_the_array_lives_as_long_as_the_tensor() -> None:
    x = Tensor.from_numpy(np.full(1 << 16, 7, np.int32))[5:10]
    junk = [np.zeros(1 << 16, np.int32) for _ in range(4)]
    assert x.tolist() == [7] * 5
    assert len(junk) == 4


FIELDS = np.zeros(3, dtype=[("a", "i1"), ("b", "f4")])["b"]


@pytest.mark.parametrize(("array", "error", "text"), [
    (A.astype(">f4"), DTypeError, "byte order of another machine"),
    (np.array([object()]), DTypeError, "elements of object"),
    (np.zeros(2, "c8"), DTypeError, "elements of complex64"),
    (np.lib.stride_tricks.sliding_window_view(A.reshape(-1), 3), ShapeError, "overlap"),
    (np.frombuffer(b"\0" * 9, np.uint8)[1:].view("f4"), DTypeError, "not aligned"),
    (FIELDS, DTypeError, "strides of .* not aligned|not aligned"),
    ([1, 2], DTypeError, "array takes a NumPy array"),
], ids=range(7))  # fmt: skip
def test_arrays_that_cannot_be_shared(array: Any, error: type[UopvizError], text: str) -> None:
    with pytest.raises(error, match=text) as raised:
        Tensor.from_numpy(array)
    assert "hint" in str(raised.value)
    assert "test_exchange.py" in str(raised.value)
    if isinstance(array, np.ndarray) and array.dtype.kind == "f":
        np.testing.assert_array_equal(Tensor(array).numpy(), array)


def test_a_device_without_host_memory_gets_a_copy() -> None:
    x = Tensor.from_numpy(A.T, "PTX:EMU")
    assert x.device.startswith("PTX")
    np.testing.assert_array_equal(x.to("CPU").numpy(), A.T)


def test_memory_at_an_address() -> None:
    memory = np.arange(6, dtype=np.int32)
    x = Tensor.from_blob(memory.ctypes.data, (2, 3), dtype="int32")
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    x += 1
    x.realize()
    assert memory.tolist() == [1, 2, 3, 4, 5, 6]
    assert Tensor.from_blob(8, (0, 3)).tolist() == []
    for ptr, shape in ((0, (1,)), (3, (1,)), (8, (-1,)), (8, (1 << 62,)), (1 << 70, (1,))):
        with pytest.raises(ShapeError, match=r"memory of shape (.|\n)*hint"):
            Tensor.from_blob(ptr, shape)
    with pytest.raises(DeviceError, match="takes no memory by its address"):
        Tensor.from_blob(memory.ctypes.data, (1,), device="NULL")


def test_deep_copies() -> None:
    layer = nn.Linear(2, 3)
    other = copy.deepcopy(layer)
    other.weight += 1
    np.testing.assert_allclose(other.weight.numpy(), layer.weight.numpy() + 1, rtol=1e-6)
    x = Tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    y = copy.deepcopy(x)
    (y * 3).sum().backward()
    assert x.grad is not None
    assert y.grad is not None
    assert (x.grad.tolist(), y.grad.tolist()) == ([2, 4], [5, 7])
    pair = copy.deepcopy([x, x])
    assert pair[0] is pair[1] is not x
    constant = copy.deepcopy(Tensor.ones(2))
    constant[0] = 5
    assert constant.tolist() == [5, 1]


def test_shallow_copies_share() -> None:
    x = Tensor([1, 2])
    y = copy.copy(x)
    y += 1
    assert x.tolist() == [2, 3]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(protocol: int) -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    x.square().sum().backward()
    for value in (x, x.T[1:], Tensor.zeros(0, 3), Tensor(7), Tensor([1.5]).cast("bfloat16"),
                  Tensor([True], device="REFERENCE")):  # fmt: skip
        got = pickle.loads(pickle.dumps(value, protocol))
        assert (got.shape, got.dtype, got.device) == (value.shape, value.dtype, value.device)
        assert got.tolist() == value.tolist()
        assert got.requires_grad == value.requires_grad
    got = pickle.loads(pickle.dumps(x, protocol))
    assert got.grad.tolist() == [[2, 4], [6, 8]]
    with Tensor.no_grad():
        got += 1
    assert got.tolist() == [[2, 3], [4, 5]]


def test_values_out_of_band() -> None:
    x = Tensor.ones(1000).contiguous().realize()
    buffers: list[pickle.PickleBuffer] = []
    text = pickle.dumps(x, 5, buffer_callback=buffers.append)
    assert (len(buffers), len(text) < 300) == (1, True)
    assert pickle.loads(text, buffers=buffers).tolist() == [1] * 1000


def test_a_pickle_in_another_process(tmp_path: Path) -> None:
    """On a device that is not there, the default device takes its place."""
    layer = nn.Linear(2, 3)
    text = pickle.dumps({"layer": layer, "x": Tensor([1.0, 2.0])})
    (tmp_path / "model.pkl").write_bytes(text.replace(b"\x03CPU", b"\x03AMD"))
    program = (
        "import pickle, sys\n"
        "state = pickle.load(open(sys.argv[1], 'rb'))\n"
        "print(state['layer'](state['x']).tolist(), state['x'].device)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "model.pkl")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ran.stdout.split("] ") == [str(layer(Tensor([1.0, 2.0])).tolist())[:-1], "CPU\n"]
