"""A long kernel of the CPU: who waits for it can be interrupted, and what comes next is right."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from types import FrameType

import numpy as np
import pytest

from core import Tensor, TinyJit
from core.errors import RunError
from core.launch.batch import Batch
from core.runtime.cpu import device as cpu
from core.target import Target
from core.uop import UOp
from core.uop.call.kernelcall import Parameter

STEPS = 1 << 31


class RungError(Exception):
    """What the handler raises."""


def ring(number: int, frame: FrameType | None) -> None:
    raise RungError


def slow(target: Target, out: Parameter, x: Parameter) -> UOp:
    """Each step needs the one before it: x * 0.5 + 1, again and again."""
    i = UOp.range(STEPS, 0)
    start = out[0].store(x[0].load())
    memory = out.pointer.after(start).after(i)
    step = memory.index(0).store(memory.index(0).load() * 0.5 + 1.0)
    return UOp.sink(step.end(i))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs alarms")
def test_an_alarm_ends_the_waiting() -> None:
    y = Tensor.call_kernel(slow, Tensor([8.0]).realize(), outputs=((1,), "float32"))
    saved = signal.signal(signal.SIGALRM, ring)
    before = time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(RungError):
            y.realize()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, saved)
    waited = time.monotonic() - before
    # what comes next waits for the kernel, however long that takes
    assert (Tensor(np.arange(3, dtype=np.float32)) + 1).tolist() == [1, 2, 3]
    assert time.monotonic() - before > waited
    with pytest.raises(RunError, match="RungError"):
        y.tolist()


def test_several_threads_wait_for_an_interrupted_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    together = threading.Barrier(4)

    class Kernel(Future[None]):
        """It ends when all threads wait for it."""

        def result(self, timeout: float | None = None) -> None:
            together.wait(60)

    monkeypatch.setattr(cpu, "_left", [(Kernel(), ())])
    with ThreadPoolExecutor(4) as threads:
        waiting = [threads.submit(cpu.CpuDevice("CPU").synchronize) for _ in range(4)]
        for one in waiting:
            one.result()


def test_what_is_waited_for_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel: Future[None] = Future()
    said: list[str] = []

    def notice(text: str) -> None:
        said.append(text)
        kernel.set_result(None)  # it ends then, and not before

    monkeypatch.setattr(cpu, "_left", [(kernel, ())])
    monkeypatch.setattr(cpu, "PATIENCE", 0.0)
    monkeypatch.setattr(cpu, "notice", notice)
    cpu.CpuDevice("CPU").synchronize()
    assert len(said) == 1
    assert "runs to its end" in said[0]
    assert cpu._left == []


def test_arguments_are_put_in_place_when_an_interrupted_call_has_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @TinyJit
    def plus_one(x: Tensor) -> Tensor:
        x += 1
        return (x * 2).realize()

    first, second = (Tensor([n, n]).realize() for n in (1.0, 2.0))
    for _ in range(4):
        plus_one(first)
    assert plus_one.captured is not None
    (batch,) = plus_one.captured.last.parts
    assert isinstance(batch, Batch) and isinstance(batch._graph, cpu.CpuGraph)
    words = batch._graph._launches.words
    before, seen = list(words), list[list[int]]()
    ended: Future[None] = Future()

    def waiting() -> None:
        seen.append(list(words))
        ended.set_result(None)
        cpu._left.clear()

    monkeypatch.setattr(cpu, "_left", [(ended, ())])
    monkeypatch.setattr(cpu, "_wait_for_left", waiting)
    plus_one(second)
    assert seen == [before] and list(words) != before


def _beside_in_a_fork() -> None:
    cpu._wait_beside(lambda: None, ())
    assert not cpu._left


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_waits_in_a_thread_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu._wait_beside(lambda: None, ())
    monkeypatch.setattr(cpu, "_left", [(Future(), ())])
    child = multiprocessing.get_context("fork").Process(target=_beside_in_a_fork)
    child.start()
    child.join(60)
    if child.exitcode is None:
        child.kill()
    assert child.exitcode == 0
