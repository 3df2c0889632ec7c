"""Pausing the garbage collector: what the program had chosen is in force afterwards."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest

from core.garbage import collector_paused


@pytest.fixture(autouse=True)
def enabled() -> Iterator[None]:
    gc.enable()
    yield
    gc.enable()


def test_paused_in_the_block_and_after_an_error_enabled() -> None:
    inside: list[bool] = []
    with pytest.raises(ZeroDivisionError), collector_paused(), collector_paused():
        inside.append(gc.isenabled() or 1 // 0 > 0)
    with collector_paused(), collector_paused():
        inside.append(gc.isenabled())
    assert inside == [False] and gc.isenabled()


def test_stays_disabled_for_a_program_that_disabled_it() -> None:
    gc.disable()
    with collector_paused():
        pass
    assert not gc.isenabled()


def test_the_last_of_several_threads_enables_it() -> None:
    entered, leave = threading.Event(), threading.Event()

    def work() -> None:
        with collector_paused():
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=work)
    with collector_paused():
        thread.start()
        entered.wait(10)
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()
