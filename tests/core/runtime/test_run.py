"""Schedules, threads, what observers are told, and kernels in processes of their own."""

from __future__ import annotations

import gc
import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from itertools import count

import numpy as np
import pytest

from core.compile import compile_kernel
from core.dtype import dtypes
from core.errors import RunError, SpecError
from core.helpers import Context
from core.isolation import isolate
from core.isolation.isolate import run_isolated
from core.isolation.safety import BASE, argument_bytes, check_kernel, run_bytes
from core.kernelname import kernel_name
from core.launch.run import run_schedule
from core.render import llvm
from core.runtime.buffer import buffer_of
from core.runtime.cpu.device import CpuRunner
from core.runtime.reference.evaluate.shaped import working_bytes
from core.shape import ShapeTracker, View
from core.toolchain.processor import host_target
from core.toolchain.program import Argument, Artifact, Program
from core.trial import difference
from core.uop.engine.observe import NullObserver, observing
from core.uop.kernelinfo import AxisType, KernelInfo
from core.uop.ops import Ops
from core.uop.uop import UOp
from tests.core.render.programs import Build
from tests.core.runtime.asts import (
    KERNELS,
    add,
    load,
    matmul,
    pointer,
    reduce,
    row_max,
    shape,
    store,
)


@dataclass
class Item:
    ast: UOp
    bufs: tuple[UOp, ...]
    variables: dict[str, int] = field(default_factory=dict[str, int])
    metadata: tuple[str, ...] = ()


class Watching(NullObserver):
    def __init__(self) -> None:
        self.launches: list[tuple[str, str, int, int]] = []
        self.artifacts: list[str] = []
        self.contexts: list[tuple[str, str]] = []
        self.kernels: list[Program] = []

    def launch(self, name: str, device: str, ns: int, start_ns: int, bytes_: int) -> None:
        self.launches.append((name, device, ns, bytes_))

    def artifact(self, kind: str, *_: object) -> None:
        self.artifacts.append(kind)

    def linear(self, *_: object) -> None:
        self.artifacts.append("linear")

    def context_begin(self, name: str, kind: str, meta: object) -> None:
        self.contexts.append((name, kind))

    def kernel(self, ast: UOp, program: object) -> None:
        assert isinstance(program, Program)
        self.kernels.append(program)


def buffers(device: str, *sizes: int) -> tuple[UOp, ...]:
    made = tuple(UOp.new_buffer(device, n, dtypes.float32) for n in sizes)
    for node in made[1:]:
        buffer_of(node).copyin(np.arange(node.arg, dtype=np.float32).data)
    return made


@pytest.mark.parametrize("device", ["CPU", "REFERENCE", "CPU:1"])
def test_a_schedule_runs_in_order(device: str) -> None:
    first = buffers(device, 1000, 1000, 1000)
    second = (UOp.new_buffer(device, 1000, dtypes.float32), first[0], first[1])
    run_schedule([Item(add(), first), Item(add(), second)])
    x = np.arange(1000, dtype=np.float32)
    assert np.array_equal(buffer_of(second[0]).as_array(), 3 * x + 2 * x)


def test_copies_between_devices() -> None:
    (_, source) = buffers("CPU", 4, 16)
    target = UOp.new_buffer("REFERENCE", 16, dtypes.float32)
    copy = UOp(Ops.COPY, dtypes.float32, (source, UOp(Ops.DEVICE, arg="REFERENCE")))
    with observing(Watching()) as watching:
        run_schedule([Item(copy, (target, source))])
    assert buffer_of(target).as_array().tolist() == list(range(16))
    assert watching.launches[0][:2] == ("copy CPU to REFERENCE", "REFERENCE")


def test_observers_hear_of_compiling_and_launching() -> None:
    n = 1237  # a size of its own, so that it is compiled here
    with observing(Watching()) as watching:
        run_schedule([Item(add(n), buffers("CPU", n, n, n))] * 2)
    assert watching.contexts[0] == (kernel_name(add(n)), "kernel")
    assert watching.artifacts == ["choice", "llvm", "linear"]
    assert [k.name for k in watching.kernels] == [kernel_name(add(n))]
    launched = [(name, device) for name, device, *_ in watching.launches]
    assert launched == [(kernel_name(add(n)), "CPU")] * 2
    assert all(ns > 0 and nbytes == 3 * 4 * n for _, _, ns, nbytes in watching.launches)


def test_null_runs_anything() -> None:
    out = UOp.new_buffer("NULL", 1 << 34, dtypes.float32)
    run_schedule([Item(add(64), (out, out, out))])
    assert (
        buffer_of(UOp.new_buffer("NULL", 3, dtypes.float32)).allocate().as_array().tolist()
        == [0] * 3
    )


def test_debug_prints_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with Context(DEBUG=1):
        run_schedule([Item(add(64), buffers("CPU", 64, 64, 64))])
    assert "E_64" in capsys.readouterr().out


def test_variables_reach_the_kernel() -> None:
    n = UOp.variable("n", 1, 10)
    x = load(1, 8, shape(8))
    ast = UOp.sink(store(0, shape(8), x + n.cast(dtypes.float32)))
    for device in ("CPU", "REFERENCE"):
        bufs = buffers(device, 8, 8)
        run_schedule([Item(ast, bufs, {"n": 3})])
        assert buffer_of(bufs[0]).as_array().tolist() == list(range(3, 11))
    with pytest.raises(RunError, match="needs a value for n"):
        run_schedule([Item(ast, buffers("CPU", 8, 8))])


def test_names_say_the_shape() -> None:
    first = add(77)
    assert kernel_name(first) == "E_77_zgrj"
    assert kernel_name(matmul(31, 37, 41)) == "r_31_37_41_wzsm"
    other = UOp.sink(store(0, shape(77), load(1, 77, shape(77)) + 9.0))
    assert kernel_name(other) == "E_77_wgkh"
    assert kernel_name(first) == "E_77_zgrj"


NAMING = """
import sys
from core.kernelname import kernel_name
from tests.core.runtime.test_run import add, matmul
made = {"add": lambda: add(77), "matmul": lambda: matmul(31, 37, 41), "other": lambda: add(78)}
for name in sys.argv[1:]:
    print(name, kernel_name(made[name]()))
"""


def test_names_do_not_depend_on_what_was_named_before() -> None:
    def named(*order: str) -> set[str]:
        ran = subprocess.run(
            [sys.executable, "-c", NAMING, *order], capture_output=True, text=True, check=True
        )
        return set(ran.stdout.splitlines())

    assert named("add", "other", "matmul") == named("matmul", "add", "other")


def test_a_name_does_not_depend_on_the_users_lines() -> None:
    def one() -> UOp:
        value = load(1, 8, shape(8)) + 1.0
        value.origin = f"file.py:{next(lines)}"
        return UOp.sink(store(0, shape(8), value))

    lines = count(1)
    first = kernel_name(one())
    gc.collect()
    assert kernel_name(one()) == first


def test_estimates() -> None:
    program = compile_kernel(add(1000), host_target())
    assert program.bytes == 3 * 4000
    assert program.flops in (2000, 2 * 2000)  # fused or not, two operations each


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_loop_is_shared_out_between_cores(threads: int) -> None:
    b = Build()
    out = b.pointer(0, dtypes.int32, 100)
    i = b.loop(10, 0, AxisType.THREAD)
    j = b.loop(10, 1)
    at = b.add(b.add(i * 10) + j)
    b.end(i, b.end(j, b.store(out, at, at)))
    uops = tuple(b.done())
    text = llvm.render(uops, "threaded", host_target()).text
    source = Artifact("llvm", host_target(), text, ())
    arguments = (Argument(0, dtypes.int32, 100, True),)
    one = UOp.const(dtypes.index, 1)
    program = Program(
        "threaded",
        uops[-1],
        host_target(),
        uops,
        uops,
        source,
        arguments,
        (),
        (one, one, one),
        (1, 1, 1),
        10,
        0,
        0,
    )
    (node,) = (UOp.new_buffer("CPU", 100, dtypes.int32),)
    with Context(CPU_THREADS=threads):
        CpuRunner(program)([buffer_of(node).allocate()], {}, wait=True)
    assert buffer_of(node).as_array().tolist() == list(range(100))


def test_a_kernel_runs_in_a_process_of_its_own() -> None:
    found = run_isolated(row_max(), "CPU", count=5)
    assert found.equal is True
    assert found.device == "CPU"
    assert len(found.us) == 5
    assert found.median > 0
    assert found.max_error <= found.tolerance
    assert json.loads(json.dumps(found.to_json()))["maxError"] == found.max_error


def test_an_endless_kernel_is_stopped() -> None:
    n = (1 << 31) - 1
    numbers = UOp(Ops.IOTA, dtypes.int32, (), n).view(shape(n)).cast(dtypes.float32)
    total = reduce(numbers.sin(), Ops.ADD, 0)
    with pytest.raises(RunError, match="not done after 4 seconds"):
        run_isolated(UOp.sink(store(0, shape(1), total)), "CPU", timeout=4.0)


def test_a_crash_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolate, "WORKER", "tests.core.runtime.crashing")
    with pytest.raises(RunError, match=r"crashed its process \(SIGSEGV\)"):
        run_isolated(add(), "CPU")


F32 = dtypes.float32
LOADED = load(1, 8, shape(8))
BYTES = UOp(Ops.DEFINE_GLOBAL, dtypes.uint8.ptr(8), (), 0)
AS_WIDER = UOp(Ops.AFTER, dtypes.float64.ptr(8), (BYTES,)).view(shape(8))
VECTORS = UOp(Ops.DEFINE_GLOBAL, F32.vec(4).ptr(8), (), 0).view(shape(8))


@pytest.mark.parametrize("ast", [
    UOp.sink(store(0, shape(8), load(1, 8, ShapeTracker((View.create((8,), (1,), 1),))))),
    UOp.sink(store(0, shape(8), load(1, 8, ShapeTracker((View.create((8,), (-1,), 6),))))),
    UOp.sink(store(0, shape(8), load(1, 8, ShapeTracker((View.create((8,), (1,), 1 << 44),))))),
    UOp.sink(pointer(0, 8).view(ShapeTracker((View.create((8,), (2,)),))).store(LOADED)),
    UOp.sink(store(0, shape(8), load(0, 9, shape(8)))),
    UOp.sink(store(0, shape(8), load(2, 8, shape(8)))),
    UOp.sink(store(0, shape(1 << 40), UOp.const(F32, 1.0))),
    UOp.sink(pointer(0, 8).index(1 << 40).store(UOp.const(F32, 1.0))),
    UOp.sink(store(0, shape(8), LOADED.view(ShapeTracker((View.create((8,), (2,)),))))),
    UOp.sink(store(0, shape(8), LOADED), LOADED), UOp.sink(), LOADED,
    UOp.sink(AS_WIDER.store(UOp.const(dtypes.float64, 1.0))),
    UOp.sink(VECTORS.store(VECTORS.load())),
    UOp(Ops.SINK, dtypes.void, (store(0, shape(8), LOADED),), "text"),
])  # fmt: skip
def test_kernels_that_leave_their_memory_are_not_run(ast: UOp) -> None:
    with pytest.raises((RunError, SpecError)):
        check_kernel(ast)


@pytest.mark.parametrize("name", KERNELS)
def test_good_kernels_pass(name: str) -> None:
    check_kernel(KERNELS[name]())


def test_a_name_never_becomes_code() -> None:
    evil = UOp.sink(*add(33).src, arg=KernelInfo("k() { ret void } define void @x", None))
    assert re.fullmatch(r"E_33_[a-z]{4}", kernel_name(evil))
    assert kernel_name(evil) == kernel_name(add(33).replace(arg=KernelInfo()))
    assert kernel_name(UOp.sink(*add(33).src, arg=KernelInfo("my_kernel"))) == "my_kernel"


def test_what_the_worker_says_is_passed_on() -> None:
    with pytest.raises(RunError, match="no device 'NOPE'"):
        run_isolated(add(), "NOPE")
    with pytest.raises(RunError):
        run_isolated(add(300_000_000), "CPU", count=1, memory_limit=1 << 30)


def test_what_a_run_takes_is_what_is_counted() -> None:
    """Arguments, their copy on the device, and what the reference works with: with a limit that is
    scaled down, the kernel runs, and where the reference would not fit, that is said."""
    size = 12_000_000
    ast = add(size)
    arguments = 3 * 4 * size
    assert (argument_bytes(ast), run_bytes(ast)) == (arguments, 2 * arguments)
    enough = BASE + run_bytes(ast) + working_bytes(ast, False)
    found = run_isolated(ast, "CPU", 1, timeout=120, memory_limit=enough)
    assert found.equal is True
    found = run_isolated(ast, "CPU", 1, timeout=120, memory_limit=BASE + run_bytes(ast) + (1 << 20))
    assert found.equal is None
    assert "the reference would need" in found.detail


def test_results_are_compared_a_piece_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(difference, "PIECE", 4)
    got, wanted = np.arange(10, dtype=np.float32), np.arange(10, dtype=np.float32)
    assert difference.difference(got, wanted, "float32") == (0.0, pytest.approx(9e-4))
    got[7] = 9
    assert difference.difference(got, wanted, "float32") == (2.0, pytest.approx(9e-4))
    assert difference.first_wrong(got, wanted, "float32", 1.0) == (7, 9.0, 7.0)
    assert difference.difference(got[:0], wanted[:0], "float32") == (0.0, 1e-4)
