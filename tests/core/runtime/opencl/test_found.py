"""Which devices are found, and what is said of one that has too little."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from core.errors import DeviceError
from core.runtime.discover import findings
from core.runtime.opencl import platform


class Error(Exception):
    """What the package raises."""


def _platform(*names: str, error: str = "") -> Any:
    """A platform with devices of these names, or one that fails."""

    def get_devices() -> list[Any]:
        if error:
            raise Error(error)
        return [SimpleNamespace(name=name, type=1) for name in names]

    return SimpleNamespace(get_devices=get_devices)


def _names(monkeypatch: pytest.MonkeyPatch, get_platforms: Any) -> list[str]:
    """The names of the devices that are found."""
    kinds = SimpleNamespace(GPU=4, ACCELERATOR=8, CPU=2)
    fake = SimpleNamespace(Error=Error, get_platforms=get_platforms, device_type=kinds)
    monkeypatch.setattr(platform, "package", lambda: fake)
    return [device.name for device in platform.devices()]


def test_a_loader_without_platforms_has_no_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing() -> Any:
        raise Error("PLATFORM_NOT_FOUND_KHR")

    assert _names(monkeypatch, failing) == []


def test_a_platform_that_fails_does_not_hide_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    some = [_platform("a"), _platform(error="DEVICE_NOT_FOUND"), _platform("b", "c")]
    assert _names(monkeypatch, lambda: some) == ["a", "b", "c"]


def test_the_device_is_named() -> None:
    said = [f for f in findings() if f.device == "OPENCL"]
    assert [f.looked_for for f in said][:2] == ["pyopencl", "device"]
    assert "target opencl" in said[1].found


@pytest.mark.parametrize(
    ("field", "value", "lack"),
    [
        ("local_mem_size", 1024, "1,024 bytes of shared memory, and 32,768 are needed"),
        ("max_work_group_size", 64, "64 threads in a group, and 256 are needed"),
        ("compiler_available", False, "no compiler"),
        ("endian_little", False, "big ends"),
    ],
)
def test_a_device_with_less_is_refused(field: str, value: object, lack: str) -> None:
    fields: dict[str, Any] = {
        "extensions": "cl_khr_fp64", "max_work_item_sizes": [256, 256, 64],
        "compiler_available": True, "local_mem_size": 32768, "max_work_group_size": 256,
        "endian_little": True, "image_support": True, "image2d_max_width": 8192,
        "image2d_max_height": 32768, "max_read_image_args": 128, "max_write_image_args": 8,
        "name": "small", "platform": SimpleNamespace(name="one"),
    }  # fmt: skip
    usual = platform.target_of(SimpleNamespace(**fields))
    assert (usual.name, usual.image_side) == ("opencl", 8192)
    assert (usual.images_read, usual.images_written) == (128, 8)
    assert platform.image_side(SimpleNamespace(**{**fields, "image_support": False})) == 0
    without = SimpleNamespace(**{**fields, "extensions": ""})
    assert platform.target_of(without).name == "opencl-f32"
    with pytest.raises(DeviceError, match=lack):
        platform.target_of(SimpleNamespace(**{**fields, field: value}))
