"""Kernels of a real run: recorded texts, links to the AST, other targets, runs on devices."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import viz
import viz.jobs.jobs
from core import Tensor
from core.errors import ServerError
from core.isolation.limits import MEMORY_LIMIT
from core.isolation.worker import times_quantile
from core.render.kinds import KINDS
from core.trial.difference import difference, summed_products
from core.uop.data.serial import from_data
from core.uop.ops import Ops
from tests.viz.server.client import value_of
from viz.coreserver.actions import CoreActions
from viz.coreserver.options import Options, opts_of
from viz.jobs.jobs import Jobs
from viz.server.runs.cache import Cache
from viz.server.state import State
from viz.views.answers import RUN
from viz.views.store import Store
from viz.work.kinds import KINDS as JOBS

AS_CHOSEN = Options(None, (), None)


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[State]:
    path: Path = tmp_path_factory.mktemp("kernels") / "t.viz"
    with viz.record(path):
        a, b = Tensor.rand(12, 20).realize(), Tensor.rand(20, 8).realize()
        (a @ b).relu().sum(axis=1).realize()
    made = State(Store(path))
    yield made
    made.close()


@pytest.fixture
def kernel(state: State) -> int:
    """The matrix product."""
    (found,) = [k for k in state.first.store.kernels() if len(data_of(state, k)["inputs"]) == 3]
    return found


def data_of(state: State, kernel: int) -> dict[str, Any]:
    found = state.first.store.kernel(kernel)
    assert found is not None
    return found


def launch(state: State, kernel: int, device: str, count: int, options: Options) -> int:
    return state.part(CoreActions).launch(state.first, kernel, device, count, options)


def compiled(state: State, kernel: int, target: str) -> int:
    return state.part(CoreActions).compile(state.first, kernel, target)


def wait(state: State, job: int) -> Any:
    deadline = time.monotonic() + 100
    while (found := state.machine.jobs.get(job)) is not None and found.state == "running":
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert found is not None
    assert found.state == "done", found.error
    return found.result


def test_what_is_known_of_a_kernel(state: State, kernel: int) -> None:
    data = data_of(state, kernel)
    assert data["name"].startswith("r_")
    assert data["device"] == "CPU"
    assert sorted(i["size"] for i in data["inputs"]) == [96, 160, 240]
    assert data["flops"] >= 2 * 12 * 20 * 8
    assert data["launches"]["count"] == len(data["launches"]["us"]) == 1
    assert any("test_kernels.py" in call for call in data["tensorCalls"])


def test_lines_lead_to_the_ast(state: State, kernel: int) -> None:
    graph = state.first.store.kernel_graph(kernel)
    assert graph is not None
    data, ids = graph
    ast = from_data(data)[0]
    assert ast.op is Ops.SINK
    artifact, *others = data_of(state, kernel)["artifacts"]
    assert [artifact["kind"], *(one["kind"] for one in others)] == ["llvm", "linear", "choice"]
    assert artifact["text"].count("\n") <= len(artifact["lines"]) + 1
    linked = {node for line in artifact["origins"] for node in line}
    assert linked <= set(ids)
    reached = [u.op for u, n in zip(from_all(data), ids, strict=True) if n in linked]
    assert {Ops.LOAD, Ops.STORE, Ops.MUL, Ops.REDUCE_AXIS} <= set(reached)
    origins = state.first.store.origins(kernel)
    assert origins is not None
    known = dict(zip(origins["node"], origins["origin"], strict=True))
    for node in ids:
        assert known[node] == [node], "a node of the AST comes from itself"
    for nodes, places in zip(artifact["lines"], artifact["origins"], strict=True):
        assert places == sorted({p for n in nodes for p in known.get(n, [])})


def from_all(data: dict[str, Any]) -> list[Any]:
    return from_data({**data, "roots": list(range(len(data["nodes"])))})


def test_compiled_sources_are_there_at_once_when_asked_for_again(
    state: State, kernel: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = wait(state, compiled(state, kernel, "sm_80"))
    monkeypatch.setattr("viz.jobs.jobs.subprocess.Popen", None)  # nothing may be started
    job = state.machine.jobs.get(compiled(state, kernel, "sm_80"))
    assert job is not None
    assert (job.state, job.result) == ("done", first)


def test_what_is_kept_is_bounded() -> None:
    kept: Cache[str, int] = Cache(10)
    for i, name in enumerate("abc"):
        kept.put(name, i, 4)
    assert [kept.get(name) for name in "abc"] == [None, 1, 2]
    assert kept.get("b") == 1
    kept.put("d", 3, 4)
    assert [kept.get(name) for name in "bcd"] == [1, None, 3], "c was used longest ago"
    kept.put("d", 4, 11)
    assert kept.get("d") is None
    kept.put("b", 5, 10)
    assert kept.get("b") == 5
    kept.put("b", 5, 4)
    kept.put("c", 6, 4)
    kept.drop(lambda key: key == "b")
    assert [kept.get(name) for name in "bc"] == [None, 6]
    kept.put("d", 7, 6)
    assert kept.get("c") == 6, "what was dropped takes no room"


@pytest.mark.parametrize(
    ("target", "kinds"),
    [
        ("sm_90", {"ptx", "cuda"}),
        ("gfx1100", {"amd_isa", "hip", "llvm"}),
        ("x86-64", {"cpu_asm", "llvm", "c"}),
    ],
)
def test_other_targets(state: State, kernel: int, target: str, kinds: set[str]) -> None:
    artifacts = wait(state, compiled(state, kernel, target))
    assert {a["kind"] for a in artifacts} >= kinds
    graph = state.first.store.kernel_graph(kernel)
    assert graph is not None
    for artifact in artifacts:
        assert artifact["target"] == target
        assert artifact["text"].strip()
        assert artifact["error"] is None
        linked = {node for line in artifact["origins"] for node in line}
        assert len(linked) > 3
        assert linked <= set(graph[1])


@pytest.mark.parametrize("device", ["CPU", "REFERENCE"])
def test_a_run(state: State, kernel: int, device: str) -> None:
    result = wait(state, launch(state, kernel, device, 20, AS_CHOSEN))
    assert result["equal"] is True
    assert len(result["us"]) == 20
    assert min(result["us"]) <= result["median"] <= result["p90"] <= max(result["us"])
    assert result["maxError"] <= result["tolerance"] > 0


@pytest.mark.parametrize("opts", ["", "UPCAST(0, 4)", "UPCAST(0, 2) UNROLL(0, 5)"])
def test_a_run_with_optimisations_of_ones_own(state: State, kernel: int, opts: str) -> None:
    result = wait(
        state,
        launch(state, kernel, "CPU", 5, Options(opts, (), None)),
    )
    assert result["opts"] == opts
    assert result["equal"] is True


def test_optimisations_that_do_not_apply(state: State, kernel: int) -> None:
    with pytest.raises(AssertionError, match="does not apply"):
        wait(
            state,
            launch(state, kernel, "CPU", 1, Options("UPCAST(7, 4)", (), None)),
        )
    with pytest.raises(ServerError, match="not an optimisation"):
        opts_of({"opts": "FASTER(1)"})


def test_a_device_that_is_not_there(state: State, kernel: int) -> None:
    job = launch(state, kernel, "ABACUS", 1, AS_CHOSEN)
    with pytest.raises(AssertionError, match="ABACUS"):
        wait(state, job)


def test_differences() -> None:
    def floats(*values: float) -> np.ndarray:
        return np.asarray(values, np.float32)

    inf, nan = float("inf"), float("nan")
    assert difference(floats(1, nan, inf), floats(1, nan, inf), "float32") == (0.0, 1e-4)
    error, limit = difference(floats(100.5), floats(100), "float32")
    assert error == 0.5
    assert limit == pytest.approx(1e-2)
    assert difference(floats(nan), floats(1), "float32")[0] == inf
    assert difference(floats(inf), floats(-inf), "float32")[0] == inf
    ints = np.asarray([3], np.int32)
    assert difference(ints + 1, ints, "int32") == (1.0, 0.0)
    half = np.asarray([0x3F80], np.uint16)  # bfloat16 1.0
    assert difference(half, half, "bfloat16")[0] == 0.0
    error, limit = difference(floats(100.5), floats(100), "float32", ["bfloat16"])
    assert error == 0.5 <= limit == 5.0


def test_products_that_may_or_may_not_be_rounded() -> None:
    x, y = (Tensor.empty(8, 8, dtype="bfloat16") for _ in range(2))
    for product, names in (
        (x.matmul(y, dtype="float32"), ["bfloat16"]),
        (Tensor.empty(8, 8) @ Tensor.empty(8, 8), []),
        (x * y, []),
    ):
        (item,) = product.schedule()
        assert summed_products(item.ast) == names


def test_quantiles() -> None:
    assert times_quantile([5.0], 0.9) == 5.0
    assert times_quantile([float(i) for i in range(1, 11)], 0.9) == 9.0


def test_a_worker_that_dies_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = Jobs(JOBS, {"no such job": JOBS["run"]})
    job = jobs.start({"job": "no such job"}, lambda answer: answer)
    while (found := jobs.get(job)) is not None and found.state == "running":
        time.sleep(0.02)
    assert found is not None
    assert found.state == "error"
    monkeypatch.setattr("viz.jobs.jobs.LIMIT", 0.01)
    slow = jobs.start({"job": "devices"}, lambda answer: answer)
    while (found := jobs.get(slow)) is not None and found.state == "running":
        time.sleep(0.02)
    assert found is not None
    assert found.error is not None
    assert "took longer" in found.error["what"]
    jobs.close()


@pytest.mark.parametrize("way", ["cancel", "timeout", "crash"])
def test_what_a_job_has_started_ends_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Such as an assembler that hangs."""
    note = tmp_path / "note"
    then = "os.kill(os.getpid(), 11)" if way == "crash" else "time.sleep(600)"
    script = (
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(note)!r}, 'w').write(str(child.pid) + ' ')\n{then}"
    )
    monkeypatch.setattr(
        viz.jobs.jobs,
        "_spawn",
        lambda module: subprocess.Popen(
            [sys.executable, "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        ),
    )
    if way == "timeout":
        monkeypatch.setattr(viz.jobs.jobs, "LIMIT", 3.0)
    jobs = Jobs(JOBS)
    job = jobs.get(jobs.start({"job": "run"}, lambda answer: answer))
    assert job is not None
    until = time.monotonic() + 30
    while not (note.exists() and note.read_text().endswith(" ")) and time.monotonic() < until:
        time.sleep(0.02)
    if way == "cancel":
        jobs.cancel(job)
    while job.state == "running" and time.monotonic() < until:
        time.sleep(0.02)
    assert job.state == "error"
    pid = int(note.read_text())
    while is_running(pid) and time.monotonic() < until:
        time.sleep(0.02)
    assert not is_running(pid)
    jobs.close()


def is_running(pid: int) -> bool:
    """Whether there is such a process that is not just waiting to be forgotten."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_job_that_fails_in_any_way_ends(state: State) -> None:
    def finish(_: object) -> object:
        raise ZeroDivisionError("of the answer")

    job = state.machine.jobs.get(state.machine.jobs.start({"job": "devices"}, finish))
    assert job is not None
    until = time.monotonic() + 60
    while job.state == "running" and time.monotonic() < until:
        time.sleep(0.01)
    assert job.state == "error"
    assert job.error is not None
    assert "ZeroDivisionError: of the answer" in job.error["what"]


def test_a_worker_may_not_take_all_memory() -> None:
    program = (
        "import resource, viz.work.worker\n"
        "viz.work.worker.main()\n"
        "print(resource.getrlimit(resource.RLIMIT_DATA)[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input="{}", capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == str(MEMORY_LIMIT)


def test_an_answer_without_end_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line is not read beyond the limit, and the worker that writes it is ended."""
    script = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
    monkeypatch.setattr(viz.jobs.jobs, "MAX_ANSWER", 1 << 20)
    monkeypatch.setattr(
        viz.jobs.jobs,
        "_spawn",
        lambda module: subprocess.Popen(
            [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ),
    )
    jobs = Jobs(JOBS)
    job = jobs.get(jobs.start({"job": "run"}, lambda answer: answer))
    assert job is not None
    deadline = time.monotonic() + 20
    while job.state == "running" and time.monotonic() < deadline:
        time.sleep(0.02)
    assert job.error is not None
    assert "too much" in job.error["what"]


def test_the_page_is_told_of_every_kind_of_text(state: State) -> None:
    answer = value_of(state.first.answer(RUN))
    kinds = {row["kind"]: row for row in answer["kinds"]}
    assert list(kinds) == [kind.name for kind in KINDS]
    assert kinds["llvm"] == {
        "kind": "llvm",
        "title": "LLVM IR",
        "language": "llvm",
        "ending": ".ll",
        "families": ["cpu", "amd"],
    }
    assert kinds["sass"]["families"] == []  # its tools may not be there
    families = {answer["families"][target] for target in answer["targets"]}
    assert families == {"cpu", "nvidia", "amd", "webgpu", "opencl"}
