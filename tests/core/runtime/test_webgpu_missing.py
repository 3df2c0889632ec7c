"""Without the package `wgpu`, or without an adapter, WEBGPU is one error that says what to do.

Needs neither.
"""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import DeviceError
from core.runtime import discover
from core.runtime.discover import findings
from core.runtime.webgpu import adapter
from core.runtime.webgpu.device import WebGpuDevice


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(name: str) -> Any:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(adapter, "import_module", failing)
    monkeypatch.setattr(adapter, "package", adapter.package.__wrapped__)
    with pytest.raises(DeviceError, match="the package wgpu is not installed") as raised:
        WebGpuDevice("WEBGPU")
    assert raised.value.hint == adapter.INSTALL


def test_without_an_adapter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "adapters", list[Any])
    with pytest.raises(DeviceError, match="there is no WEBGPU: wgpu finds no adapter") as raised:
        WebGpuDevice("WEBGPU")
    assert "VK_DRIVER_FILES" in raised.value.hint


def test_the_list_of_devices_says_that_there_is_no_adapter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discover, "_version", lambda package: "1.0" if package == "wgpu" else "")
    monkeypatch.setattr(adapter, "adapters", list[Any])
    (row,) = [f for f in findings() if (f.device, f.looked_for) == ("WEBGPU", "adapter")]
    assert (row.why, row.hint) == ("wgpu finds none", adapter.NO_ADAPTER)
