"""Options of tests: how many random cases each fuzz test tries, whether tests that run a sample of
their cases run them all, and whether golden files are written anew."""

from __future__ import annotations

import signal
import sys
from importlib.util import find_spec

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
QUICK = 4
"""Cases of a test that a quick run tries."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fuzz", type=int, default=0, help="cases that each fuzz test tries (0: a few)"
    )
    parser.addoption(
        "--all", action="store_true", help="every case of tests that run a sample, as each night"
    )
    parser.addoption(
        "--quick",
        action="store_true",
        help=f"at most {QUICK} cases of a test, and no test that is marked thorough",
    )
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files")


def pytest_configure(config: pytest.Config) -> None:
    """Tests that are started in the background begin with Ctrl-C ignored, under nohup with SIGHUP
    ignored, and the processes that they start would inherit that: some of these are ended by it."""
    for number, handler in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGHUP, signal.SIG_DFL),
    ):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
    if find_spec("playwright"):  # the environment of the conformance tests has no browser
        config.pluginmanager.import_plugin("tests.browser.fixtures")
    config.addinivalue_line(
        "markers", "thorough: what a quick run leaves out; others show the property, or less of it"
    )
    config.addinivalue_line(
        "markers", "sampled(n): every nth of the test's cases; with --all, or by its name, each"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what `sampled` tests do not run, and what a quick run does not. Where n has no
    factor in common with how many values a parameter has, each value is still tried."""
    if any("[" in argument for argument in config.args):
        return
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    chosen: set[pytest.Item] = set()
    for some in cases.values():
        marker = some[0].get_closest_marker("sampled")
        kept = some if marker is None or config.getoption("--all") else some[:: marker.args[0]]
        chosen.update(_quick(kept) if config.getoption("--quick") else kept)
    left_out = [item for item in items if item not in chosen]
    if left_out:
        items[:] = [item for item in items if item in chosen]
        config.hook.pytest_deselected(items=left_out)


def _quick(cases: list[pytest.Item]) -> list[pytest.Item]:
    """The cases of a test that a quick run tries: some from the first to the last."""
    kept = [case for case in cases if case.get_closest_marker("thorough") is None]
    step = max(1, len(kept) - 1) / (QUICK - 1)
    return kept if len(kept) <= QUICK else [kept[round(at * step)] for at in range(QUICK)]


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Lets go of the programs of a file's tests: a process that kept those of thousands of tests
    would look through gigabytes whenever it collects garbage."""
    if nextitem is None or nextitem.path != item.path:
        for module, name in CACHES:
            if module in sys.modules:
                getattr(sys.modules[module], name).cache_clear()
