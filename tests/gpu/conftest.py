"""The device that is checked."""

from __future__ import annotations

import pytest

from core.runtime.base import ComputeDevice
from core.runtime.device import Device


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--device", default="CUDA", help="the device that is checked")


@pytest.fixture(scope="session")
def name(request: pytest.FixtureRequest) -> str:
    return Device.canonicalize(str(request.config.getoption("--device")))


@pytest.fixture(scope="session")
def device(name: str) -> ComputeDevice:
    return Device[name]
