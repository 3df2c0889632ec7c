"""Without the package of WEBGPU or of OPENCL, or without what runs kernels there, the device is one
error that says what to do.

Needs neither.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

from core.errors import DeviceError
from core.runtime import discover
from core.runtime.base import ComputeDevice
from core.runtime.discover import findings
from core.runtime.opencl import platform
from core.runtime.opencl.device import OpenClDevice
from core.runtime.webgpu import adapter
from core.runtime.webgpu.device import WebGpuDevice


@dataclass(frozen=True)
class Absent:
    """A device, its package, the module that looks for it and the function there that lists what
    runs kernels, what these are called, and what to do where there is none."""

    device: Callable[[str], ComputeDevice]
    name: str
    package: str
    module: ModuleType
    listing: str
    runs: str
    install: str
    hint: str

    def __repr__(self) -> str:
        return self.name


ABSENT = (
    Absent(WebGpuDevice, "WEBGPU", "wgpu", adapter, "adapters", "adapter",
           adapter.INSTALL, adapter.NO_ADAPTER),
    Absent(OpenClDevice, "OPENCL", "pyopencl", platform, "devices", "device",
           platform.INSTALL, platform.NO_DEVICE),
)  # fmt: skip


@pytest.mark.parametrize("absent", ABSENT, ids=repr)
def test_without_the_package(absent: Absent, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(name: str) -> Any:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(absent.module, "import_module", failing)
    monkeypatch.setattr(absent.module, "package", absent.module.package.__wrapped__)
    said = f"the package {absent.package} is not installed"
    with pytest.raises(DeviceError, match=said) as raised:
        absent.device(absent.name)
    assert raised.value.hint == absent.install


@pytest.mark.parametrize("absent", ABSENT, ids=repr)
def test_without_what_runs_kernels(absent: Absent, monkeypatch: pytest.MonkeyPatch) -> None:
    def version(package: str) -> str:
        return "1.0" if package == absent.package else ""

    monkeypatch.setattr(discover, "_version", version)
    monkeypatch.setattr(absent.module, absent.listing, list[Any])
    said = f"there is no {absent.name}: {absent.package} finds no {absent.runs}"
    with pytest.raises(DeviceError, match=said) as raised:
        absent.device(absent.name)
    assert raised.value.hint == absent.hint
    rows = [f for f in findings() if (f.device, f.looked_for) == (absent.name, absent.runs)]
    assert [(row.why, row.hint) for row in rows] == [(f"{absent.package} finds none", absent.hint)]
