"""The conformance tests on the device that DEV names. A test that needs what the device refuses
counts as refused, once the error has been checked; the last line of a run has the counts."""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

import pytest

from core.runtime.device import Device
from tests import opencl_setup, webgpu_setup
from tests.conformance.devices import refusal, summary

LACKS = {"WEBGPU": webgpu_setup.missing, "OPENCL": opencl_setup.missing}
"""What says what a device lacks on this machine."""
REFUSED: Final = "refused: "
"""What the reason of a test that was skipped begins with, before the error's own sentence."""


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
        if why := refusal(error):
            pytest.skip(REFUSED + why)
        raise


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    stats = terminalreporter.stats
    whys = [str(report.longrepr[2]) for report in stats.get("skipped", ())]
    refused = [why.partition(REFUSED)[2] for why in whys if REFUSED in why]
    terminalreporter.write_line(summary({k: len(v) for k, v in stats.items()}, refused))
