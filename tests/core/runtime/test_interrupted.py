"""A long kernel of the CPU: who waits for it can be interrupted, and what comes next is right."""

from __future__ import annotations

import signal
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from types import FrameType

import numpy as np
import pytest

from core import Tensor
from core.errors import RunError
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
