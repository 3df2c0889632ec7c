"""Values that kernels read, captured on request: which are kept, and what is said of others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import viz
from core.capture.jit import TinyJit
from core.dtype import dtypes
from core.errors import RunError, TraceError
from core.launch.run import _Watching
from core.runtime.buffer import Buffer
from core.runtime.numeric import memory_dtype
from core.tensor import Tensor
from core.uop.uop import UOp
from viz.format.captured import Captured, unpack_values
from viz.read.tracefile import TraceFile
from viz.recording import capture as capturing
from viz.recording.capture import Capture, Wanted, wanted
from viz.recording.reports import Values
from viz.trace import Recorder
from viz.views.store import Store

ROOT = Path(__file__).resolve().parents[3]
Held = dict[int, list[float]]


def contents(path: Path) -> list[tuple[Captured, Held]]:
    """What a trace holds: the kernels, and the values by the numbers of arguments."""
    file = TraceFile(path)
    file.refresh()
    assert file.db.problems == []
    found: list[tuple[Captured, Held]] = []
    for kernel in file.captured.values():
        held: Held = {}
        for one, data in zip(kernel.arguments, file.packed_values(kernel), strict=True):
            kind = memory_dtype(getattr(dtypes, one.dtype))
            held[one.number] = np.frombuffer(unpack_values(data, one.bytes), kind).tolist()
            assert one.bytes == one.size * kind.itemsize
        found.append((kernel, held))
    file.close()
    return found


def captured(path: Path, run: Callable[[], object], names: str = "*") -> list[Held]:
    """The values of the kernels that `run` launches, each of which is a kernel of the trace."""
    with viz.record(path, capture=names):
        run()
    found = contents(path)
    store = Store(path)
    asts = {store.kernel(k)["ast"] for k in store.kernels()}
    store.close()
    assert {kernel.ast for kernel, _ in found} <= asts
    return [held for _, held in found]


def test_in_place_values_are_those_before(tmp_path: Path) -> None:
    x = Tensor([1.0, 2.0, 3.0, 4.5, 0.5]).realize()

    def run() -> None:
        x.assign(x * 2 + 17).realize()

    assert captured(tmp_path / "t.viz", run) == [{0: [1.0, 2.0, 3.0, 4.5, 0.5]}]
    assert x.tolist() == [19.0, 21.0, 23.0, 26.0, 18.0]


@pytest.mark.parametrize("device", ["CPU", "PTX:EMU", "AMD:EMU"])
def test_memory_that_is_only_written_is_left_out(tmp_path: Path, device: str) -> None:
    a, b = (Tensor([n, n + 1.0, 3.0], device=device).realize() for n in (1.0, 7.0))
    size = len(device)  # another kernel for each
    found = captured(tmp_path / "t.viz", lambda: (a * size + b).realize())
    assert found == [{1: [1.0, 2.0, 3.0], 2: [7.0, 8.0, 3.0]}]


@pytest.mark.parametrize(
    ("name", "given", "held"),
    [
        ("float16", [1.0, -2.5], [1.0, -2.5]),
        ("bfloat16", [1.0, 2.5], [0x3F80, 0x4020]),
        ("int8", [-3, 100], [-3, 100]),
        ("uint64", [0, 1 << 63], [0, 1 << 63]),
        ("bool", [True, False], [True, False]),
    ],
)
def test_every_dtype(tmp_path: Path, name: str, given: list[float], held: list[float]) -> None:
    dtype = getattr(dtypes, name)
    x = Tensor(given, dtype=dtype).realize()
    made = captured(tmp_path / "t.viz", lambda: x.cat(x).contiguous().realize())
    assert made and all(values == held for one in made for values in one.values())


def test_nothing_to_read(tmp_path: Path) -> None:
    empty = Tensor.empty(0, 11).realize()
    assert captured(tmp_path / "t.viz", lambda: empty.sum(0).realize()) == [{}]


def test_values_of_variables(tmp_path: Path) -> None:
    n = UOp.variable("rows", 1, 6)
    x = Tensor([[float(i), 1.0] for i in range(6)]).realize()
    with viz.record(tmp_path / "t.viz", capture="*"):
        assert x[: n.bind(4)].sum(0).tolist() == [6.0, 4.0]
    ((kernel, held),) = contents(tmp_path / "t.viz")
    assert kernel.variables == {"rows": 4}
    assert len(held[1]) == 12  # all of the memory


def test_of_a_replayed_function_the_first_launch_counts(tmp_path: Path) -> None:
    @TinyJit
    def step(x: Tensor) -> Tensor:
        return (x * 3 - 8).realize()

    with viz.record(tmp_path / "t.viz", capture="*"):
        made = [step(Tensor([float(k), 1.0, 1.0]).realize()).tolist() for k in range(4)]
    assert made[-1] == [1.0, -5.0, -5.0]
    assert [held for _, held in contents(tmp_path / "t.viz")] == [{1: [0.0, 1.0, 1.0]}]


def test_a_later_launch_of_a_replayed_function(tmp_path: Path) -> None:
    @TinyJit
    def step(x: Tensor) -> Tensor:
        return x.assign(x * 2 + 1).realize()

    x = Tensor([1.0] * 6).realize()
    with viz.record(tmp_path / "t.viz", capture="E_6_*@5, *@2, r_*") as recorder:
        for _ in range(6):
            step(x)
        (x + 4).realize()
    ((kernel, held),) = contents(tmp_path / "t.viz")
    assert (kernel.launch, held) == (5, {0: [31.0] * 6})
    assert recorder.capture is not None
    _, values, said = recorder.capture.said()
    assert values == "the trace holds the values of 1 captured step: 48 bytes"
    assert said.endswith("it was launched once, and launch 5 was asked for")


def test_names_and_launches() -> None:
    assert wanted(" E_*@100 ,r_?, ") == [Wanted("E_*", 100), Wanted("r_?")]
    assert [str(one) for one in wanted("*@1,*@2")] == ["*", "*@2"]
    for text in ("*@0", "*@", "*@-1", "*@2@3", "*@x"):
        with pytest.raises(TraceError, match="names no launch of a kernel"):
            wanted(text)


def test_kernels_that_the_trace_does_not_hold(tmp_path: Path) -> None:
    @TinyJit
    def step(x: Tensor) -> Tensor:
        return ((x * 4 - 9).realize() + 2).realize()

    for k in range(3):
        step(Tensor([float(k)] * 7).realize())
    with viz.record(tmp_path / "t.viz", capture="*") as recorder:
        step(Tensor([5.0] * 7).realize())
        (Tensor([1.0, 2.0], device="REFERENCE") * 3).realize()
    assert recorder.capture is not None
    assert contents(tmp_path / "t.viz") == []
    said = recorder.capture.said()
    assert len(said) == 3
    assert all(one.endswith(": the trace does not hold this kernel") for one in said)


def test_a_forked_process_keeps_values_of_its_own(tmp_path: Path) -> None:
    program = f"""
import os
import viz
from core.tensor import Tensor
x = Tensor([1.0, 2.0]).realize()
with viz.record({str(tmp_path / "t.viz")!r}, capture="*"):
    (x * 3 + 1).realize()
    if os.fork() == 0:
        (x * 3 + 1).realize()
        (x * 3 + 2).realize()
    else:
        os.wait()
"""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("VIZ", "UOPVIZ"))}
    subprocess.run(
        [sys.executable, "-c", program], env=kept | {"PYTHONPATH": str(ROOT)}, check=True
    )
    (own,) = tmp_path.glob("t.p*.viz")
    assert [held for _, held in contents(tmp_path / "t.viz")] == [{1: [1.0, 2.0]}]
    assert [held for _, held in contents(own)] == [{1: [1.0, 2.0]}]
    store = Store(tmp_path / "t.viz")
    assert [store.captured(k) is not None for k in store.kernels()] == [True, True]
    store.close()


def test_only_the_kernels_that_are_named(tmp_path: Path) -> None:
    x = Tensor([[1.0, 2.0, 3.0]] * 9).realize()

    def run() -> None:
        (x * 5).realize()
        x.sum(1).realize()

    (held,) = captured(tmp_path / "t.viz", run, "r_9*, nothing")
    assert list(held) == [1]


def test_nobody_is_called_where_nothing_is_asked_for(tmp_path: Path) -> None:
    with viz.record(tmp_path / "t.viz"):
        assert _Watching.calls == ()
        (Tensor([1.0, 2.0]) + 31).realize()
    with viz.record(tmp_path / "u.viz", capture="*") as recorder:
        assert len(_Watching.calls) == 1
        recorder.close()
        assert _Watching.calls == ()
    assert contents(tmp_path / "t.viz") == []


def test_what_is_too_large_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capturing, "MAX_BYTES", 64)
    small, large = Tensor([1.0] * 10).realize(), Tensor([1.0] * 20).realize()
    recorder = Recorder(tmp_path / "t.viz", capture=wanted("*"), room=100).start()
    (small * 71).realize()
    (large * 71).realize()
    (small * 72).realize()
    (small * 73).realize()
    recorder.close()
    assert recorder.capture is not None
    said = recorder.capture.said()
    assert said[0] == "the trace holds the values that 2 kernels read: 80 bytes"
    assert len(said) == 3
    assert said[1].endswith("they take 80 bytes, of at most 64 bytes of a kernel")
    assert said[2].endswith(
        "they take 40 bytes, and 20 bytes of 100 bytes were left (VIZ_CAPTURE_MB)"
    )
    found = contents(tmp_path / "t.viz")
    assert [bool(kernel.why) for kernel, _ in found] == [False, True, False, True]
    assert [len(held) for _, held in found] == [1, 0, 1, 0]
    store = Store(tmp_path / "t.viz")
    assert store.run()["captured"] == {"kernels": 2, "steps": 0, "leftOut": 2, "bytes": 80}
    pages = [store.kernel(k) for k in store.kernels()]
    assert [page and bool(page["captured"]["why"]) for page in pages] == [False, True, False, True]
    assert [store.captured(k) is None for k in store.kernels()] == [False, True, False, True]
    store.close()


def test_memory_that_cannot_be_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Buffer, data: memoryview) -> memoryview:
        raise RunError("the device is gone")

    told: list[Values] = []
    capture = Capture(wanted("*"), 1000, told.append)
    item = (Tensor.empty(3).realize() + 41).schedule()[-1]
    memory = [Buffer("CPU", 3, dtypes.float32).allocate() for _ in range(2)]
    monkeypatch.setattr(Buffer, "copyout", fails)
    capture.know(item.ast)
    capture.before_launch(item.ast, "E_3", memory, {})
    capture.before_launch(item.ast, "E_3", memory, {})
    (values,) = told
    assert (values.arguments, "the device is gone" in values.why) == ({}, True)
    assert (capture.kept, capture.bytes) == (0, 0)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("*", "the trace holds the values that 1 kernel read: 8 bytes"),
        ("r_*,x", "no kernel was launched that is called r_* or x"),
    ],
)
def test_the_end_of_a_program_says_what_its_trace_holds(
    tmp_path: Path, names: str, said: str
) -> None:
    program = "from core.tensor import Tensor; (Tensor([1.0, 2.0]) * 3 + 1).realize()"
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("VIZ", "UOPVIZ"))}
    setting = {"PYTHONPATH": str(ROOT), "VIZ": "-1", "VIZ_TRACE": str(tmp_path / "t.viz")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=kept | setting | {"VIZ_CAPTURE": names},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said in done.stderr
    assert len(contents(tmp_path / "t.viz")) == ("*" in names.split(","))
