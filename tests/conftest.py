"""Options of tests: how many random cases each fuzz test tries, whether every state of the page is
looked at, and whether golden files are written anew."""

from __future__ import annotations

import signal

import pytest
from hypothesis import HealthCheck, settings

# how long an example takes says how busy the machine is
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


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
