"""Values on several devices: in types, spec, properties and files."""

from __future__ import annotations

import pytest

from core.dtype import dtypes
from core.errors import DeviceError, FormatError, SpecError
from core.helpers import prod
from core.passes.schedule import create_schedule
from core.uop import Ops, UOp
from core.uop.call.parts import parts_of, whole_of
from core.uop.data.serial import from_data, to_data
from core.uop.node import DeviceName
from core.uop.spec.spec import tensor_spec, verify

TWO = ("CPU", "CPU:1")


def buffer(device: DeviceName) -> UOp:
    return UOp.new_buffer(device, 4, dtypes.float32)


def test_the_devices_of_a_value_are_those_of_its_memory() -> None:
    x = buffer(TWO)
    assert x.device == TWO
    assert (x.reshape((2, 2)) * 2.0).exp2().device == TWO
    assert (x + x.const_like(1.0)).device == TWO
    assert x.copy_to_device("CPU").device == "CPU"
    assert buffer("CPU").copy_to_device(TWO).device == TWO
    assert UOp.sink(x, buffer("CPU")).device == TWO  # outputs need not be in one place
    verify(UOp.sink(x + x), tensor_spec, "test")


def test_one_device_where_one_is_needed() -> None:
    assert buffer("CPU").one_device == "CPU"
    assert UOp.const(dtypes.int32, 1).one_device is None
    with pytest.raises(DeviceError, match="BUFFER is on CPU and CPU:1, where one device"):
        _ = buffer(TWO).one_device


@pytest.mark.parametrize("other", ["CPU", ("CPU:1", "CPU"), ("CPU", "CPU:1", "CPU:2")])
def test_operands_on_other_devices_are_an_error(other: DeviceName) -> None:
    for a, b in ((TWO, other), (other, TWO)):
        value = buffer(a).alu(Ops.ADD, buffer(b))
        with pytest.raises(DeviceError, match="ADD of values on CPU"):
            _ = value.device
        with pytest.raises(DeviceError, match="ADD of values on CPU"):
            _ = (value * 2.0).device


@pytest.mark.parametrize("names", [("CPU",), (), ("CPU", "CPU"), ("CPU", 1), 3, None])
def test_what_does_not_name_devices(names: object) -> None:
    device = UOp(Ops.DEVICE, arg=names)
    with pytest.raises(SpecError, match="at least two different names"):
        verify(UOp.sink(device), tensor_spec, "test")
    data = {"version": 1, "nodes": [["DEVICE", "void", [], names]], "roots": [0]}
    if isinstance(names, tuple):
        data["nodes"] = [["DEVICE", "void", [], [*names]]]
    with pytest.raises(FormatError):
        from_data(data)


def test_they_survive_a_file() -> None:
    device = UOp(Ops.DEVICE, arg=TWO)
    assert from_data(to_data([device])) == [device]


def test_a_kernel_is_made_for_each_device() -> None:
    x = buffer(TWO) + buffer(TWO)
    items, realized = create_schedule(UOp.sink(x))
    assert [item.bufs[0].device for item in items] == ["CPU", "CPU:1"]
    assert items[0].ast is items[1].ast
    memory = realized[x].base
    assert memory.device == TWO
    assert parts_of(memory) == tuple(item.bufs[0] for item in items)
    assert {whole_of(part) for part in parts_of(memory)} == {memory}


def parts(axis: int | None, *shapes: tuple[int, ...]) -> UOp:
    made = [
        UOp.new_buffer(f"CPU:{i}" if i else "CPU", prod(shape), dtypes.float32).reshape(shape)
        for i, shape in enumerate(shapes)
    ]
    return UOp(Ops.MULTI, dtypes.float32, tuple(made), axis)


def test_the_shape_of_a_value_in_parts() -> None:
    assert parts(0, (2, 3), (2, 3)).shape == (4, 3)
    assert parts(1, (2, 3), (2, 3), (2, 3)).shape == (2, 9)
    assert parts(None, (2, 3), (2, 3)).shape == (2, 3)
    whole = parts(1, (2, 3), (2, 3))
    assert whole.device == TWO
    assert whole.axis == 1
    for number, device in enumerate(TWO):
        part = UOp(Ops.MSELECT, dtypes.float32, (whole,), (number, 0))
        assert (part.device, part.shape, part.axis) == (device, (1, 6), None)
    everything = UOp.sink(whole, UOp(Ops.ALLREDUCE, dtypes.float32, whole.src, Ops.MAX))
    verify(everything, tensor_spec, "test")
    assert from_data(to_data([everything])) == [everything]


def malformed() -> dict[str, UOp]:
    two, half = parts(0, (2, 3), (2, 3)), buffer("CPU").reshape((2, 2))
    f = dtypes.float32
    return {
        "other shapes": parts(0, (2, 3), (3, 2)),
        "one part": parts(0, (2, 3)),
        "the same device": UOp(Ops.MULTI, f, (half, half), 0),
        "an axis too many": parts(2, (2, 3), (2, 3)),
        "a negative axis": parts(-1, (2, 3), (2, 3)),
        "another dtype": two.replace(dtype=dtypes.int32),
        "a part on two devices": UOp(Ops.MULTI, f, (two, two), None),
        "a part without a device": UOp(Ops.MULTI, f, (UOp.const(f, 1.0), UOp.const(f, 2.0)), None),
        "select of one device": UOp(Ops.MSELECT, f, (half,), (0, None)),
        "select of a third": UOp(Ops.MSELECT, f, (two,), (2, 0)),
        "select by an axis of 3": UOp(Ops.MSELECT, f, (two,), (0, 1)),
        "select as another dtype": UOp(Ops.MSELECT, dtypes.int32, (two,), (0, 0)),
        "no op": UOp(Ops.ALLREDUCE, f, two.src, None),
        "no reducing op": UOp(Ops.ALLREDUCE, f, two.src, Ops.SUB),
        "columns for one": UOp.new_buffer("CPU", (2, 4), f),
        "columns of 3": UOp.new_buffer(TWO, (2, 3), f),
    }


@pytest.mark.parametrize("case", malformed())
def test_the_spec_refuses(case: str) -> None:
    with pytest.raises(SpecError):
        verify(UOp.sink(malformed()[case]), tensor_spec, "test")
