"""What is missing is said in one sentence, with what to do."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import DeviceError
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
    (said,) = [f for f in findings() if (f.device, f.looked_for) == ("WEBGPU", "adapter")]
    assert said.why == "wgpu finds none"


def test_the_adapter_is_named() -> None:
    said = [f for f in findings() if f.device == "WEBGPU"]
    assert [f.looked_for for f in said][:2] == ["wgpu", "adapter"]
    assert "Vulkan" in said[1].found
