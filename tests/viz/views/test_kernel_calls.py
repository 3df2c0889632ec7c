"""A kernel written by hand in a recording: its call, the user's lines, the schedule's texts, a run
of it, and an export that has all of that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import viz
from core import Tensor
from core.target import Target
from core.uop.call.kernelcall import Parameter
from core.uop.data.serial import from_data
from core.uop.kernelinfo import AxisType, KernelInfo
from core.uop.kernels import is_lowered
from core.uop.ops import Ops
from core.uop.uop import UOp
from tests.viz.views.test_kernels import AS_CHOSEN, wait
from viz.cli import main
from viz.coreserver.actions import CoreActions
from viz.server.state import State
from viz.share.html import export_html
from viz.share.reopened import open_run
from viz.views.store import Store

ROWS, COLUMNS = 13, 29


def column_sums(target: Target, out: Parameter, x: Parameter) -> UOp:
    i, k = UOp.range(x.shape[1], 0), UOp.range(x.shape[0], 1, AxisType.REDUCE)
    total = x[k, i].load().reduce(Ops.ADD, k)
    return UOp.sink(out[i].store(total * 3.0).end(i), arg=KernelInfo("column_sums", ()))


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[State]:
    path: Path = tmp_path_factory.mktemp("calls") / "t.viz"
    x = Tensor(np.ones((ROWS, COLUMNS), np.float32)).realize()
    with viz.record(path):
        sums = Tensor.call_kernel(column_sums, x + 1, outputs=((COLUMNS,), x.dtype))
        (sums * 2).realize()
    made = State(Store(path))
    yield made
    made.close()


@pytest.fixture
def kernel(state: State) -> int:
    (found,) = [
        k for k in state.first.store.kernels() if data_of(state, k)["name"] == "column_sums"
    ]
    return found


def data_of(state: State, kernel: int) -> dict[str, Any]:
    found = state.first.store.kernel(kernel)
    assert found is not None
    return found


def line_of(text: str) -> str:
    """ "file:line" of the only line of this file that holds a text."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    (number,) = [n for n, line in enumerate(lines, 1) if text in line and "line_of" not in line]
    return f"{Path(__file__).name}:{number}"


def test_the_call_and_the_users_lines(state: State, kernel: int) -> None:
    data = data_of(state, kernel)
    calls = data["tensorCalls"]
    assert line_of("sums = Tensor.call_kernel") in calls[0]
    assert calls[0].endswith(" call_kernel")
    assert any(line_of("total = x[k, i]") in c and c.endswith(" column_sums") for c in calls[1:])
    assert data["launches"]["count"] == 1
    assert sorted(i["size"] for i in data["inputs"]) == [COLUMNS, ROWS * COLUMNS]
    assert data["flops"] == ROWS * COLUMNS + COLUMNS
    assert data["bytes"] == 4 * (ROWS * COLUMNS + COLUMNS)


def test_its_nodes_have_the_lines_that_made_them(state: State, kernel: int) -> None:
    graph = state.first.store.kernel_graph(kernel)
    assert graph is not None
    (ast,) = from_data(graph[0])
    assert is_lowered(ast)
    (store,) = [u for u in ast.toposort() if u.op is Ops.STORE]
    assert line_of("return UOp.sink(out[i]") in (store.origin or "")


def test_the_texts_of_the_schedule(state: State, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(state.first.store.path)
    assert main(["show", path, "--text", "grouping"]) == 0
    grouping = capsys.readouterr().out
    (line,) = [t for t in grouping.splitlines() if " = OUTPUT(" in t]
    assert f"arg=(0, ({COLUMNS},)) float32  [{COLUMNS}]  ; stored: a kernel written by hand" in line
    assert main(["show", path, "--text", "order"]) == 0
    order = capsys.readouterr().out
    (line,) = [t for t in order.splitlines() if "written by hand" in t]
    assert "stores float32[29] CPU, 1 more buffer  ; uses what item 0 made" in line
    assert line_of("sums = Tensor.call_kernel") in line


@pytest.mark.parametrize("device", ["CPU", "REFERENCE"])
def test_a_run_of_it(state: State, kernel: int, device: str) -> None:
    result = wait(state, state.part(CoreActions).launch(state.first, kernel, device, 5, AS_CHOSEN))
    assert result["equal"] is True


def test_other_targets_have_texts_of_it(state: State, kernel: int) -> None:
    texts = wait(state, state.part(CoreActions).compile(state.first, kernel, "gfx942"))
    assert {t["kind"] for t in texts} >= {"amd_isa", "llvm", "hip"}
    assert all(t["error"] is None for t in texts)


def test_an_export_has_it(state: State, kernel: int, dist: Path, tmp_path: Path) -> None:
    path = tmp_path / "calls.html"
    path.write_text(export_html(state.first.store).html, encoding="utf-8")
    again = open_run(path)
    found = again.kernel(kernel)
    again.close()
    assert found is not None
    assert found["name"] == "column_sums"
    assert found["flops"] == ROWS * COLUMNS + COLUMNS
    assert found["tensorCalls"][0].endswith(" call_kernel")
