"""Scripts of PTX that need the driver's bindings and NumPy only, run with a stand-in for these."""

from __future__ import annotations

import ast as python
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.compile import compile_kernel
from core.errors import CompileError, ServerError
from core.launch import run as running
from core.runtime.buffer import Buffer
from core.runtime.cuda import api
from core.runtime.device import Device
from core.target import target_named
from core.uop import UOp
from tests.core.passes.kernels import bools, halves, matmul, one_hot_gather, row_sum
from tests.core.runtime.gpu.fake_cuda import FakeCuda
from tests.viz.whatif.fakebindings import FakeBindings
from tests.viz.whatif.running import Here, kernel_named, record
from viz.cli import main
from viz.views.store import Store
from viz.whatif.reproduce import on_bindings
from viz.whatif.scripts.launchcase import launch_case
from viz.whatif.scripts.onbindings import MODULES
from viz.whatif.scripts.standalone import bindings_text
from viz.whatif.variants.variant import Variant

SM90 = target_named("sm_90")
CASES = [matmul(8, 32, 8), row_sum(4, 32), halves(24), bools(32), one_hot_gather(10, 3, 4)]


def case_of(ast: UOp) -> dict[str, Any]:
    return launch_case(ast, compile_kernel(ast, SM90))


def main_of(text: str, monkeypatch: pytest.MonkeyPatch, **modules: object) -> Any:
    """The function of a script that runs it, where these modules alone hold bindings."""
    for name in MODULES:
        monkeypatch.setitem(sys.modules, name, modules.get(name.replace(".", "_")))
    scope: dict[str, Any] = {"__name__": "script"}
    exec(compile(text, "script.py", "exec"), scope)
    return lambda: scope["main"](scope["CASE"])


@pytest.mark.parametrize("kernel", CASES, ids=lambda c: c.name)
def test_the_result_is_as_expected(
    kernel: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    driver = FakeBindings()
    text = bindings_text(kernel.name, case_of(kernel.ast))
    assert main_of(text, monkeypatch, cuda_bindings_driver=driver)() == 0
    assert "the result is as expected" in capsys.readouterr().out
    assert not driver.memory
    assert driver.count("cuMemAlloc") == driver.count("cuMemFree") == driver.count("cuMemcpyHtoD")
    assert driver.names()[-2:] == ["cuModuleUnload", "cuDevicePrimaryCtxRelease"]


def test_a_wrong_result_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = case_of(matmul(8, 32, 8).ast)
    assert "fma.rn.f32" in case["ptx"]
    case["ptx"] = case["ptx"].replace("max.NaN.f32", "min.NaN.f32").replace("max.f32", "min.f32")
    assert (
        main_of(bindings_text("k", case), monkeypatch, cuda_bindings_driver=FakeBindings())() == 1
    )
    assert "elements are wrong; the first is" in capsys.readouterr().out


def test_only_numpy_and_the_bindings_are_imported() -> None:
    tree = python.parse(bindings_text("k", case_of(row_sum(4, 32).ast)))
    names = {a.name for n in python.walk(tree) if isinstance(n, python.Import) for a in n.names}
    names |= {str(n.module) for n in python.walk(tree) if isinstance(n, python.ImportFrom)}
    assert names - sys.stdlib_module_names - {"__future__"} == {"numpy"}


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeCuda]:
    """A driver without a GPU behind core's own device."""
    fake = FakeCuda(gpus=1)
    monkeypatch.setitem(sys.modules, api.BINDINGS.module, fake)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(Device, "_open", {})
    forget = (api.api.cache_clear, vars(running)["_kept"].cache_clear)
    for clear in forget:
        clear()
    yield fake
    for clear in forget:
        clear()


@pytest.mark.parametrize("kernel", CASES, ids=lambda c: c.name)
def test_it_is_launched_as_the_runtime_does(
    kernel: Any, cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = compile_kernel(kernel.ast, SM90)
    got: list[list[int]] = []
    cuda.kernels[program.name] = lambda fake, values: got.append(values)
    device = Device["CUDA"]
    buffers = [
        Buffer("CUDA", a.size, a.dtype).allocate()
        for a in sorted(program.arguments, key=lambda a: a.number)
    ]
    device.load(program)(buffers, {}, wait=True)
    (launched,) = [line for line in cuda.log if line.startswith("launch")]
    driver = FakeBindings()
    text = bindings_text("k", launch_case(kernel.ast, program))
    assert main_of(text, monkeypatch, cuda_bindings_driver=driver)() == 0
    ((function, *rest),) = [a for name, a in driver.calls if name == "cuLaunchKernel"]
    assert f"launch {function[1]} {tuple(rest[:3])} {tuple(rest[3:6])}" == launched
    assert rest[6:8] == [0, 0] and rest[9] == 0
    assert len(got[0]) == len(driver.values)
    order = [a.number for a in program.arguments]
    assert got[0] == [buffers[n].address for n in order]
    allocated = [(1 << 32) + (n << 24) for n in order]
    assert driver.values == allocated


@pytest.mark.parametrize("name", ["cuInit", "cuModuleLoadData", "cuMemAlloc", "cuLaunchKernel"])
def test_a_call_that_fails_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = FakeBindings(failing=name)
    run = main_of(bindings_text("k", case_of(row_sum(4, 32).ast)), monkeypatch,
                  cuda_bindings_driver=driver)  # fmt: skip
    with pytest.raises(SystemExit, match=f"{name} failed: CUDA_ERROR_INVALID_VALUE .*argument"):
        run()
    assert not driver.memory


def test_older_bindings_and_none(monkeypatch: pytest.MonkeyPatch) -> None:
    text = bindings_text("k", case_of(row_sum(4, 32).ast))
    assert main_of(text, monkeypatch, cuda=FakeBindings())() == 0
    with pytest.raises(SystemExit, match="pip install cuda-bindings"):
        main_of(text, monkeypatch)()


def test_what_a_trace_says_is_data() -> None:
    hostile = "x\n\r\u2028import os #'''\"\"\"\\"
    case = case_of(row_sum(4, 32).ast) | {"name": hostile}
    case["ptx"] = hostile
    tree = python.parse(bindings_text(hostile, case))
    plain = python.parse(bindings_text("k", case_of(row_sum(4, 32).ast)))
    assert [type(n) for n in tree.body] == [type(n) for n in plain.body]


def test_a_large_output_is_compared_in_part() -> None:
    case = case_of(matmul(256, 256, 4).ast)
    (output,) = case["outputs"]
    assert output["step"] == 2
    assert len(bindings_text("k", case)) < 300_000


def test_of_a_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(tmp_path / "run.viz")
    store = Store(tmp_path / "run.viz")
    kernel = kernel_named(store, "r_")
    made = on_bindings(store, kernel, Variant(target="sm_90"), executor=Here())
    assert main_of(made.text, monkeypatch, cuda_bindings_driver=FakeBindings())() == 0
    with pytest.raises((CompileError, ServerError), match="holds PTX"):
        on_bindings(store, kernel, Variant(), executor=Here())
    store.close()


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(tmp_path / "run.viz")
    out = tmp_path / "launch.py"
    words = ["script", str(tmp_path / "run.viz"), "--kernel", "r_", "--bindings", "-o", str(out)]
    assert main([*words, "--target", "sm_90"]) == 0
    python.parse(out.read_text())
    assert "cuLaunchKernel" in out.read_text()
    assert main(words) == 2
    assert "--target sm_90" in capsys.readouterr().err
