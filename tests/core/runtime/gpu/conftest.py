"""A driver without a GPU behind the CUDA devices."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.launch import run
from core.runtime.cuda import api
from core.runtime.device import Device
from tests.core.runtime.gpu.fake_cuda import FakeCuda


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeCuda]:
    """The fake driver of two GPUs; devices that were opened on it are forgotten afterwards."""
    fake = FakeCuda(gpus=2)
    monkeypatch.setitem(sys.modules, api.BINDINGS.module, fake)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(Device, "_open", {})
    forget = (api.api.cache_clear, run._kept.cache_clear)
    for clear in forget:
        clear()
    yield fake
    for clear in forget:
        clear()
