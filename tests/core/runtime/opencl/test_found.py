"""What is missing is said in one sentence, with what to do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from core.errors import DeviceError
from core.runtime.discover import findings
from core.runtime.opencl import platform
from core.runtime.opencl.device import OpenClDevice


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(name: str) -> Any:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(platform, "import_module", failing)
    monkeypatch.setattr(platform, "package", platform.package.__wrapped__)
    with pytest.raises(DeviceError, match="the package pyopencl is not installed") as raised:
        OpenClDevice("OPENCL")
    assert raised.value.hint == platform.INSTALL


def test_without_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "devices", list[Any])
    with pytest.raises(DeviceError, match="there is no OPENCL: pyopencl finds no device") as raised:
        OpenClDevice("OPENCL")
    assert "pocl-opencl-icd" in raised.value.hint
    (said,) = [f for f in findings() if (f.device, f.looked_for) == ("OPENCL", "device")]
    assert said.why == "pyopencl finds none"


def test_a_loader_without_platforms_has_no_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    class Error(Exception):
        pass

    def failing() -> Any:
        raise Error("PLATFORM_NOT_FOUND_KHR")

    fake = SimpleNamespace(Error=Error, get_platforms=failing)
    monkeypatch.setattr(platform, "package", lambda: fake)
    assert list(platform.devices()) == []


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
        "endian_little": True, "name": "small", "platform": SimpleNamespace(name="one"),
    }  # fmt: skip
    assert platform.target_of(SimpleNamespace(**fields)).name == "opencl"
    without = SimpleNamespace(**{**fields, "extensions": ""})
    assert platform.target_of(without).name == "opencl-f32"
    with pytest.raises(DeviceError, match=lack):
        platform.target_of(SimpleNamespace(**{**fields, field: value}))
