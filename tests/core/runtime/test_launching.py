"""Launches of the CPU: what is captured is one call, and kernels are shared out between threads,
whoever else launches, forks or has other threads at the same time."""

from __future__ import annotations

import ctypes
import multiprocessing
import subprocess
import sys
import threading
from contextlib import nullcontext

import numpy as np
import pytest

from core import Context, Tensor, TinyJit, Variable
from core.errors import RunError
from core.launch import batch
from core.runtime.awaited import awaited
from core.runtime.cpu import native
from core.runtime.cpu.workers import Launches, Workers, shares, workers
from core.toolchain import llvm_compiler
from core.uop import UOp

pytestmark = pytest.mark.skipif(not native.available(), reason="workers need Linux")

TEXT = """define void @counted(ptr %p, i8 %step, i32 %from, i32 %to) {
entry:
  br label %loop
loop:
  %i = phi i32 [ %from, %entry ], [ %next, %loop ]
  %at = getelementptr i32, ptr %p, i32 %i
  %wide = sext i8 %step to i32
  %old = atomicrmw add ptr %at, i32 %wide seq_cst
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %to
  br i1 %more, label %loop, label %end
end:
  ret void
}
"""


def counting(iterations: int, launches: int, threads: int) -> tuple[Launches, np.ndarray]:
    """Launches that each add -3 to every element of an array."""
    kernel = llvm_compiler.load(TEXT, "counted")
    caller = native.calling(1, (8,), True)
    found = np.zeros(iterations, np.int32)
    share = (iterations, *shares(iterations, threads))
    made = Launches(
        [(caller.address, kernel.address)] * launches,
        [(found.ctypes.data, -3)] * launches,
        [share] * launches,
    )
    made.kept = (kernel, caller)  # type: ignore[attr-defined]
    return made, found


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("iterations", [1, 2, 7, 1000])
def test_each_iteration_runs_once(iterations: int, threads: int) -> None:
    run, found = counting(iterations, 50, threads)
    for _ in range(20):
        run()
    assert (found == -3 * 50 * 20).all()


def test_several_threads_launch_at_the_same_time() -> None:
    made = [counting(64, 20, 3) for _ in range(4)]

    def launch(run: Launches) -> None:
        for _ in range(200):
            run()

    threads = [threading.Thread(target=launch, args=(run,)) for run, _ in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for _, found in made:
        assert (found == -3 * 20 * 200).all()


def test_arguments_may_change_between_calls() -> None:
    run, found = counting(16, 3, 2)
    other = np.zeros(16, np.int32)
    run()
    for place in run.places:
        run.words[place] = other.ctypes.data
    run()
    assert (found == -9).all()
    assert (other == -9).all()


def test_workers_end_when_they_are_told() -> None:
    own = Workers()
    own.grow(2)
    assert len(own._threads) == 2
    own.end()
    for thread in own._threads:
        thread.join(60)  # a busy machine may let it run only then
        assert not thread.is_alive()


def _in_a_fork(result: object) -> None:
    run, found = counting(100, 10, 3)
    run()
    result.value = int(found.sum())  # type: ignore[attr-defined]


def test_a_forked_process_has_workers_of_its_own() -> None:
    run, _ = counting(100, 10, 3)
    run()
    context = multiprocessing.get_context("fork")
    result = context.Value(ctypes.c_int64, 0)
    child = context.Process(target=_in_a_fork, args=(result,))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert result.value == -3 * 10 * 100


def _launches_of_the_parent_in_a_fork(run: Launches, result: object) -> None:
    run()
    result.value = int(run._workers is workers())  # type: ignore[attr-defined]


def test_launches_made_before_a_fork_have_the_workers_of_the_new_process() -> None:
    run, _ = counting(100, 10, 3)
    run()
    context = multiprocessing.get_context("fork")
    result = context.Value(ctypes.c_int64, 0)
    child = context.Process(target=_launches_of_the_parent_in_a_fork, args=(run, result))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert result.value == 1


def test_a_process_ends_while_workers_look_for_work() -> None:
    program = (
        "from core import Tensor\n"
        "x = Tensor.rand(512, 512).realize()\n"
        "for _ in range(3): y = (x @ x).realize()\n"
    )
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={"CPU_THREADS": "4", "PATH": ""},
            capture_output=True,
        )
        assert (done.returncode, done.stderr) == (0, b"")


def steps(x: Tensor) -> Tensor:
    for k in range(4):
        x = (x * 0.5 + k).contiguous()
    return x.realize()


def test_memory_of_others_that_is_awaited_disturbs_no_graph(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A schedule that nobody runs leaves memory awaited for as long as its Tensor lives."""
    calls: list[int] = []
    run = native.run()

    def counted(address: int, count: int, state: int) -> None:
        calls.append(count)
        run(address, count, state)

    monkeypatch.setattr(native, "run", lambda: counted)
    other = Tensor([1.0]).realize() + 1
    items = other.schedule()
    assert items and awaited
    jit, x = TinyJit(steps), Tensor([1.0, 2.0, 3.0]).realize()
    expected = steps(x).tolist()
    for _ in range(3):
        jit(x)
    calls.clear()
    assert jit(x).tolist() == expected
    assert calls == [4]
    with pytest.raises(RunError, match="never computed"):
        other.tolist()


def test_a_captured_call_is_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    run = native.run()

    def counted(address: int, count: int, state: int) -> None:
        calls.append(count)
        run(address, count, state)

    monkeypatch.setattr(native, "run", lambda: counted)
    jit, x = TinyJit(steps), Tensor([1.0, 2.0, 3.0]).realize()
    expected = steps(x).tolist()
    for _ in range(3):
        jit(x)
    calls.clear()
    assert jit(x).tolist() == expected
    assert calls == [4]


def test_a_captured_call_heeds_how_many_threads_are_wanted() -> None:
    x = Tensor.rand(256, 256).realize()

    @TinyJit
    def product(x: Tensor) -> Tensor:
        return ((x @ x).contiguous() @ x).realize()

    expected = x.numpy() @ x.numpy() @ x.numpy()
    for threads in (1, 3, 2, 1, 0):
        with Context(CPU_THREADS=threads):
            for _ in range(3):
                np.testing.assert_allclose(product(x).numpy(), expected, rtol=1e-4)


def test_the_same_arguments_again_and_others_between_them() -> None:
    jit = TinyJit(steps)
    a, b = Tensor([1.0, 2.0]).realize(), Tensor([5.0, 7.0]).realize()
    expected = [steps(a).tolist(), steps(b).tolist()]
    for turn in (0, 1, 0, 0, 0, 1, 1, 0, 1):
        assert jit((a, b)[turn]).tolist() == expected[turn]


def test_the_same_argument_with_another_value() -> None:
    jit, a = TinyJit(steps), Tensor([1.0, 2.0]).realize()
    for number in range(6):
        a.assign(Tensor([float(number), 1.0]))
        assert jit(a).tolist() == steps(a).tolist()


def test_a_process_has_one_set_of_workers() -> None:
    assert workers() is workers()


def test_other_inputs_run_the_same_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other memory, parts of it and other values of variables: with no launch from Python."""
    position = Variable("position", 1, 7)

    def part(x: Tensor, n: UOp) -> Tensor:
        y = (x.reshape(2, 8)[:, :n].sum(1) * 2).contiguous()
        return (y + x[:2] * 3).realize()

    jit = TinyJit(part)
    inputs = [Tensor([float(k + i) for i in range(16)]).realize() for k in range(3)]
    expected = {
        (k, n): part(x, position.bind(n)).tolist() for k, x in enumerate(inputs) for n in (1, 4, 7)
    }
    for k, n in ((0, 4), (0, 4), (0, 4), (1, 4)):
        assert jit(inputs[k], position.bind(n)).tolist() == expected[k, n]
    calls: list[object] = []
    monkeypatch.setattr(batch, "run_schedule", lambda items: calls.append(items))
    for k, n in ((1, 7), (2, 1), (0, 1), (0, 7), (2, 4), (2, 4), (1, 1), (0, 4)):
        assert jit(inputs[k], position.bind(n)).tolist() == expected[k, n]
    assert not calls


def test_other_inputs_where_somebody_watches() -> None:
    jit = TinyJit(steps)
    inputs = [Tensor([float(k), 2.0, 3.0]).realize() for k in range(4)]
    expected = [steps(x).tolist() for x in inputs]
    for turn in (0, 1, 2, 3, 1, 0):
        with Context(DEBUG=1) if turn == 3 else nullcontext():
            assert jit(inputs[turn]).tolist() == expected[turn]


def test_how_many_threads_are_wanted_may_change_with_the_inputs() -> None:
    inputs = [Tensor.rand(256, 256).realize() for _ in range(3)]
    jit = TinyJit(lambda x: ((x @ x).contiguous() @ x).realize())
    for turn, threads in ((0, 2), (0, 2), (1, 2), (2, 2), (1, 1), (1, 1), (2, 1), (0, 3)):
        x = inputs[turn].numpy()
        with Context(CPU_THREADS=threads):
            np.testing.assert_allclose(jit(inputs[turn]).numpy(), x @ x @ x, rtol=1e-4)
