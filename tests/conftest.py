"""Options of tests: how many random cases each fuzz test tries, whether every state of the page is
looked at, and whether golden files are written anew."""

from __future__ import annotations

import signal
import sys

import pytest
from hypothesis import HealthCheck, settings

# how long an example takes says how busy the machine is
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

CACHES = (
    ("core.compile", "_kept"),
    ("core.runtime.run", "_kept"),
    ("core.toolchain.llvm_compiler", "load"),
)
"""Module and function: what keeps programs for as long as the process lives."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fuzz", type=int, default=0, help="cases that each fuzz test tries (0: a few)"
    )
    parser.addoption("--all-states", action="store_true", help="look at every state of the page")
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files")


def pytest_configure() -> None:
    """Tests that are started in the background begin with Ctrl-C ignored, under nohup with SIGHUP
    ignored, and the processes that they start would inherit that: some of these are ended by it."""
    for number, handler in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGHUP, signal.SIG_DFL),
    ):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Lets go of the programs of a file's tests: a process that kept those of thousands of tests
    would look through gigabytes whenever it collects garbage."""
    if nextitem is None or nextitem.path != item.path:
        for module, name in CACHES:
            if module in sys.modules:
                getattr(sys.modules[module], name).cache_clear()
