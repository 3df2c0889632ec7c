"""Kernels of a trace of which nobody knows that they keep to their memory: only the emulators run
them, and stop at the access; no path to a processor or a GPU takes one."""

from __future__ import annotations

import ast as python
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.dtype import AddrSpace, dtypes
from core.errors import RunError, UopvizError
from core.isolation.edited import Edited
from core.runtime.cpu.device import CpuDevice
from core.runtime.device import HOMES, Device
from core.runtime.emulator.device import EmulatorDevice
from core.runtime.gpu.device import GpuDevice
from core.runtime.reference.device import ReferenceDevice
from core.tile import kernels
from core.uop import Ops, UOp
from core.uop.data.serial import to_data
from core.uop.kernelinfo import KernelInfo
from viz.work import worker
from viz.work.worker import JOBS, compile_job, emulate_job, run_job
from viz.workbench.worker import opts_job, workbench_job

ROOT = Path(__file__).parents[3]
F, HALF = dtypes.float32, dtypes.float16


def given(number: int, size: int = 8) -> UOp:
    return UOp(Ops.DEFINE_GLOBAL, (dtypes.int32 if number == 2 else F).ptr(size), (), number)


zero, lane = UOp.const(dtypes.int32, 0), UOp.special(32, "lidx0").cast(dtypes.int32)
anywhere = given(2).index(zero).load()
"""0 to 9 in a run; but that is not known."""


def kernel(value: UOp, *more: UOp) -> UOp:
    return UOp.sink(given(0).index(zero).store(value), *more, arg=KernelInfo(opts=()))


def own(op: Ops, space: AddrSpace) -> UOp:
    """64 elements of shared memory or registers, filled."""
    memory = UOp(op, F.ptr(64, space), (), 0)
    loop = UOp.range(64, 5)
    end = memory.after(loop).index(loop).store(UOp.const(F, 0.0)).end(loop)
    return memory.after(UOp(Ops.BARRIER, dtypes.void, (end,)) if op is Ops.DEFINE_LOCAL else end)


def reading(memory: UOp, beyond: int) -> UOp:
    return kernel(memory.index(anywhere + beyond).load() + given(1).index(zero).load())


def matrices(_: int) -> UOp:
    """Rows of matrices behind shared memory."""
    memory = UOp(Ops.DEFINE_LOCAL, HALF.ptr(256, AddrSpace.LOCAL), (), 0)
    filled = [memory.index(lane * 8 + i).store(UOp.const(HALF, 0.0)) for i in range(8)]
    after = memory.after(UOp(Ops.BARRIER, dtypes.void, tuple(filled)))
    found = UOp(
        Ops.LDMATRIX, HALF.vec(2), (after.index(lane * 8 + anywhere // 10 * 8 + 256),), (1, False)
    )
    return kernel(found.gep(0).cast(F) + given(1).index(zero).load())


def copied(_: int) -> UOp:
    """An asynchronous copy from behind an argument."""
    memory = UOp(Ops.DEFINE_LOCAL, F.ptr(64, AddrSpace.LOCAL), (), 0)
    place = memory.index(lane)
    store = UOp(
        Ops.STORE, dtypes.void, (place, given(1).index(anywhere + 8).load()), "asynchronous"
    )
    commit = UOp(Ops.COMMIT, dtypes.void, (store,))
    wait = UOp(Ops.WAIT, dtypes.void, (commit,), 0)
    return kernel(memory.after(UOp(Ops.BARRIER, dtypes.void, (wait,))).index(lane).load())


SHARED, REGISTERS = (Ops.DEFINE_LOCAL, AddrSpace.LOCAL), (Ops.DEFINE_REG, AddrSpace.REG)
OUTSIDE: dict[str, tuple[Callable[[int], UOp], int, str]] = {
    "behind": (lambda n: reading(given(1), n), 8, "past the end of data1"),
    "before": (lambda n: reading(given(1), n), -1000, "past the end of data0"),
    "far": (lambda n: reading(given(1), n), 1 << 30, "past the end of data2"),
    "stored": (
        lambda n: kernel(given(1).index(zero).load(), given(0).index(anywhere + n).store(1.0)),
        8, "past the end of data0"),
    "shared": (lambda n: reading(own(*SHARED), n), 64, "there are 256 bytes"),
    "shared, before": (lambda n: reading(own(*SHARED), n), -64, "there are 256 bytes"),
    "registers": (lambda n: reading(own(*REGISTERS), n), 64, "there are 256 bytes"),
    "registers, before": (lambda n: reading(own(*REGISTERS), n), -1 << 28, "there are 256 bytes"),
    "matrices": (matrices, 0, "there are 512 bytes"),
    "copied": (copied, 0, "past the end of data1"),
}  # fmt: skip


def request(ast: UOp, **more: object) -> dict[str, Any]:
    return {"graph": to_data([ast]), "count": 1, **more}


@pytest.mark.parametrize("device", ["PTX:EMU", "AMD:EMU"])
@pytest.mark.parametrize("name", OUTSIDE)
def test_emulators_stop_at_the_access(name: str, device: str) -> None:
    make, beyond, said = OUTSIDE[name]
    if name == "matrices" and device == "AMD:EMU":
        return  # which has no such loads
    found = emulate_job(request(make(beyond), device=device))
    assert found["fault"] is not None
    assert said in found["fault"]["what"]


@pytest.fixture
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is made ready to run anywhere but on emulators."""

    def loaded(*_: object) -> None:
        raise AssertionError("a kernel was loaded")

    for device in (CpuDevice, GpuDevice, ReferenceDevice):
        for name in ("load", "load_ast"):
            monkeypatch.setattr(device, name, loaded)
    monkeypatch.setattr(worker, "try_kernel", loaded)


ASKED: dict[str, dict[str, object]] = {
    "plain": {},
    "opts": {"opts": "none"},
    "edited": {"source": {"kind": "llvm", "text": "define void @k() { ret void }"}},
}


@pytest.mark.parametrize("more", ASKED)
@pytest.mark.parametrize("name", ["behind", "shared", "registers", "copied"])
def test_none_is_run(name: str, more: str, nothing_runs: None) -> None:
    """On no device: before one is opened, whatever else is asked for."""
    make, beyond, _ = OUTSIDE[name]
    for device in (*HOMES, "CPU:1", "cpu", "NOPE"):
        with pytest.raises(RunError, match="this kernel is not run"):
            run_job(request(make(beyond), device=device, **ASKED[more]))


@pytest.mark.parametrize("target", ["sm_80", "gfx942", "x86-64"])
def test_shipped_kernels_of_a_trace_are_not_run_either(target: str, nothing_runs: None) -> None:
    for ast in (kernels.copy(70, 90, target), kernels.matmul(64, 64, 64, target)):
        for device in HOMES:
            with pytest.raises(RunError, match="this kernel is not run"):
                run_job(request(ast, device=device))


@pytest.mark.parametrize("more", ASKED)
def test_only_emulators_emulate(more: str, nothing_runs: None) -> None:
    opened = [name for name in HOMES if not isinstance(_opened(name), EmulatorDevice)]
    assert {"CPU", "REFERENCE", "NULL", "CUDA", "AMD"} <= set(opened)
    for device in (*opened, "CPU:1", "NOPE"):
        with pytest.raises(UopvizError):
            emulate_job(request(OUTSIDE["behind"][0](8), device=device, **ASKED[more]))


def _opened(name: str) -> object:
    try:
        return Device[name]
    except UopvizError:  # its driver is not here
        return None


@pytest.mark.parametrize("device", ["CPU", "PTX:EMU", "AMD:EMU", "REFERENCE", "NOPE"])
def test_the_workbench_runs_none_and_says_which_opts_there_are(
    device: str, nothing_runs: None
) -> None:
    ast = OUTSIDE["behind"][0](8)
    for more in ASKED.values():
        with pytest.raises(RunError, match="this kernel is not run"):
            workbench_job(request(ast, device=device, **more))
    assert opts_job(request(ast, target="sm_90"))["chosen"] == []


@pytest.mark.parametrize("target", ["x86-64", "sm_80", "gfx942"])
def test_compiling_runs_nothing(target: str, nothing_runs: None, tmp_path: Path) -> None:
    made = compile_job(
        request(OUTSIDE["behind"][0](8), target=target, run="r", kernel=1,
                trace=str(tmp_path / "passes.viz"))
    )  # fmt: skip
    assert made["error"] is None


def test_a_text_in_place_of_the_kernel_needs_a_kernel_that_keeps_to_its_memory() -> None:
    """An edited text is emulated only on emulators, and run only for kernels that are known."""
    edited = Edited("llvm", "define void @k() { ret void }")
    with pytest.raises(RunError, match="is no emulated device"):
        emulate_job(
            request(OUTSIDE["behind"][0](8), device="CPU",
                    source={"kind": edited.kind, "text": edited.text})
        )  # fmt: skip


def test_few_jobs_take_such_kernels() -> None:
    """Whoever adds another has to say here why it does not run them."""
    found: set[tuple[str, str]] = set()
    for folder in ("core", "viz"):
        for path in (ROOT / folder).rglob("*.py"):
            if "node_modules" in path.parts:
                continue
            text = path.read_text(encoding="utf-8")
            if "inside" not in text:
                continue
            for function in python.walk(python.parse(text)):
                if isinstance(function, python.FunctionDef):
                    found |= {
                        (path.relative_to(ROOT).as_posix(), function.name)
                        for call in python.walk(function)
                        if isinstance(call, python.Call)
                        and python.unparse(call.func) != "Policy"  # its rewrites, not accesses
                        and any(k.arg == "inside" for k in call.keywords)
                    }
    assert found == {
        # compiles; each job that runs the kernel checks its accesses before
        ("viz/whatif/variants/given.py", "kernel_of"),
        ("viz/workbench/worker.py", "opts_job"),
        # runs it on emulators alone, and by the reference, whose memory is arrays, too
        ("viz/check/whole/judged.py", "whole_job"),
        # compile, and run nothing: they answer texts
        ("viz/workbench/worker.py", "texts_job"),
        ("viz/work/targets/worker.py", "compile_kernel_of"),
        ("viz/work/worker.py", "compile_jobs"),
        ("viz/work/worker.py", "emulate_job"),
        ("viz/work/worker.py", "shaders_job"),
        ("viz/work/worker.py", "_graph"),
    }
    takers = {"_graph", "compile_jobs"}
    taking = [name for name, job in JOBS.items() if takers & {*job.__code__.co_names}]
    assert taking == ["compile", "run", "emulate", "shaders"]
