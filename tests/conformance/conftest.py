"""The conformance tests on the device that DEV names; a test that needs float64 is skipped on one
that refuses it, and says so."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from core.runtime.device import Device
from tests import opencl_setup, webgpu_setup
from tests.conformance.devices import is_refused
from tests.fuzzing import has_float64

LACKS = {"WEBGPU": webgpu_setup.missing, "OPENCL": opencl_setup.missing}
"""What says what a device lacks on this machine."""


def pytest_configure() -> None:
    """Ends where the driver of the device is missing. Names the one of the tests to Vulkan."""
    name = Device.DEFAULT.partition(":")[0]
    if name in LACKS and (lack := LACKS[name]()):
        raise pytest.UsageError(f"DEV={Device.DEFAULT} needs {lack}")


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, object, object]:
    try:
        return (yield)
    except Exception as error:
        if has_float64() or not is_refused(error):
            raise
        pytest.skip(f"{Device.DEFAULT} has no float64")
