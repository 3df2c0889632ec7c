"""Values on several devices: in types, spec, properties and files; kernels for them are refused."""

from __future__ import annotations

import pytest

from core.dtype import dtypes
from core.errors import DeviceError, FormatError, SpecError
from core.passes.schedule import create_schedule
from core.uop import Ops, UOp
from core.uop.node import DeviceName
from core.uop.serial import from_data, to_data
from core.uop.spec import tensor_spec, verify

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


def test_no_kernel_is_made_for_several_devices() -> None:
    with pytest.raises(DeviceError, match="CPU and CPU:1"):
        create_schedule(UOp.sink(buffer(TWO) + buffer(TWO)))
