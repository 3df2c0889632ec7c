"""Options of tests: how many random cases each fuzz test tries, whether tests that run a sample of
their cases run them all, and whether golden files are written anew."""

from __future__ import annotations

import gc
import os
import signal
import sys
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, settings

from tests.in_turn import resting
from tests.thorough import CASES, left_out, spread

# thousands of processes are started: what one has compiled of Python the next ones read, whatever
# the environment says
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# opts, and so texts, are those of a usual processor, whatever this one is
os.environ.setdefault("CPU_MACHINE", "usual")
# how long an example takes says how busy the machine is
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

CACHES = (
    ("core.compile", "_kept"),
    ("core.launch.run", "_kept"),
    ("core.toolchain.llvm_compiler", "load"),
)
"""Module and function: what keeps programs for as long as the process lives."""


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
        help=f"at most {CASES} cases of a test, and none of those in tests/thorough.txt",
    )
    parser.addoption(
        "--in-turn",
        action="store_true",
        help="of the tests in tests/in_turn.txt those that have their turn at this commit",
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
    config.addinivalue_line("markers", "nightly: only with --all, or by its name")
    config.addinivalue_line(
        "markers", "sampled(n): every nth of the test's cases; with --all, or by its name, each"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what `sampled` tests do not run, what has no turn, and what a quick run does not
    have. Where n has no factor in common with how many values a parameter has, each value is still
    tried."""
    if any("[" in argument for argument in config.args):
        return
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0].partition("@")[0], []).append(item)
    is_night = config.getoption("--all")
    is_named = any("::" in argument for argument in config.args)
    is_quick = config.getoption("--quick")
    in_turn = config.getoption("--in-turn") and not is_night
    absent = left_out() if is_quick else resting() if in_turn else ()
    chosen: set[pytest.Item] = set()
    for name, some in cases.items():
        marker = some[0].get_closest_marker("sampled")
        kept = some if marker is None or is_night else some[:: marker.args[0]]
        if some[0].get_closest_marker("nightly") is not None and not (is_night or is_named):
            continue
        if name not in absent:
            chosen.update(spread(kept) if is_quick else kept)
    others = [item for item in items if item not in chosen]
    if others:
        items[:] = [item for item in items if item in chosen]
        config.hook.pytest_deselected(items=others)


def pytest_collection_finish(session: pytest.Session) -> None:
    _settle()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Lets go of the programs of a file's tests."""
    if nextitem is None or nextitem.path != item.path:
        for module, name in CACHES:
            if module in sys.modules:
                getattr(sys.modules[module], name).cache_clear()
        _settle()


def _settle() -> None:
    """What is alive now stays, the tests themselves above all: no later search for garbage looks at
    it. Of a process that holds thousands of tests, searches take a third of the time otherwise."""
    gc.collect()
    gc.freeze()
