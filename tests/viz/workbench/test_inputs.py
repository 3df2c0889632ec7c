"""A kernel run on the values that it read in the run, and values that are not of it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import viz
from core import Tensor, Variable
from core.dtype import dtypes
from core.errors import RunError, TraceError
from core.uop.data.serial import from_data
from core.uop.uop import UOp
from viz.format.captured import pack_values
from viz.views.store import Store
from viz.workbench import compare
from viz.workbench.inputs import Offered, captured_inputs
from viz.workbench.kinds import KINDS
from viz.workbench.worker import workbench_job

Request = dict[str, Any]


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few turns: how long they take is of no interest here."""
    monkeypatch.setattr(compare, "SECONDS", 0.02)
    monkeypatch.setattr(compare, "TURNS", 8)


def recorded(path: Path, run: Callable[[], object]) -> Request:
    """What the server sends of the last kernel of a run."""
    with viz.record(path, capture="*"):
        run()
    store = Store(path)
    kernel = store.kernels()[-1]
    graph = store.kernel_graph(kernel)
    assert graph is not None
    request = {"graph": graph[0], "captured": store.captured(kernel), "device": "CPU"}
    store.close()
    return json.loads(json.dumps(request))


def ast_of(request: Request) -> UOp:
    return from_data(request["graph"])[0]


@pytest.mark.parametrize("device", ["CPU", "PTX:EMU", "AMD:EMU"])
def test_both_run_on_the_values_of_the_run(tmp_path: Path, device: str) -> None:
    x = Tensor(np.linspace(-3, 5, 48, dtype=np.float32).reshape(6, 8)).realize()
    request = recorded(tmp_path / "t.viz", lambda: (x.exp() * ord(device[0])).sum(1).realize())
    request["device"] = device
    found = workbench_job({**request, "opts": ""})
    assert [one["kind"] for one in found["inputs"]] == [*KINDS]
    first = found["inputs"][0]
    assert (first["same"], first["original"], first["edited"], first["why"]) == (
        *(True, True, True),
        "",
    )
    other = workbench_job({**request, "opts": "", "inputs": "zeros"})
    assert other["inputs"][0]["kind"] == "zeros"
    assert {one["kind"] for one in other["inputs"]} == {*KINDS}


def test_an_edit_that_is_wrong_on_them_alone_shows_their_values(tmp_path: Path) -> None:
    # a limit that no other kind of inputs reaches
    x = Tensor([1.0, 2000.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]).realize()
    request = recorded(tmp_path / "t.viz", lambda: (x > 1500).where(x, x * 2).realize())
    text = workbench_job(request)["original"]["text"]
    wrong = text.replace("1.500000e+03", "2.500000e+03")
    assert wrong != text
    found = workbench_job({**request, "source": {"kind": "llvm", "text": wrong}})
    verdicts = {one["kind"]: one["edited"] for one in found["inputs"]}
    assert not verdicts.pop("captured")
    assert verdicts.pop("specials") is not None and all(verdicts.values())
    outputs = found["outputs"]
    assert (outputs["at"], outputs["original"], outputs["edited"]) == ([1], 2000.0, 4000.0)


def test_variables_have_the_value_of_the_run(tmp_path: Path) -> None:
    n = Variable("rows", 1, 6)
    x = Tensor(np.arange(18, dtype=np.float32).reshape(6, 3)).realize()
    request = recorded(tmp_path / "t.viz", lambda: x[: n.bind(4)].max(0).realize())
    offered = Offered(ast_of(request), request["captured"])
    assert offered.of("captured").variables == {"rows": 4}
    assert offered.of("normal").variables == {"rows": 6}
    first = workbench_job(request)["inputs"][0]
    assert (first["kind"], first["edited"]) == ("captured", True)
    for variables in ({}, {"rows": 7}, {"rows": 0}):
        with pytest.raises(RunError):
            captured_inputs(offered.ast, {**request["captured"], "variables": variables})


def test_memory_that_is_only_written_begins_as_zeros(tmp_path: Path) -> None:
    x = Tensor([1.0, 2.0, 3.0]).realize()
    request = recorded(tmp_path / "t.viz", lambda: x.assign(x * 9 + 4).realize())
    inputs = captured_inputs(ast_of(request), request["captured"])
    assert {n: held.tolist() for n, held in inputs.buffers.items()} == {0: [1.0, 2.0, 3.0]}
    request = recorded(tmp_path / "u.viz", lambda: (x * 9 + 5).realize())
    inputs = captured_inputs(ast_of(request), request["captured"])
    assert inputs.buffers[0].tolist() == [0.0] * 3


@pytest.fixture(scope="module")
def selecting(tmp_path_factory: pytest.TempPathFactory) -> Request:
    """A kernel that reads booleans and integers."""
    chosen = Tensor([True, False, True]).realize()
    x = Tensor([5, -6, 7], dtype=dtypes.int8).realize()
    path = tmp_path_factory.mktemp("selecting") / "t.viz"
    return recorded(path, lambda: chosen.where(x, x + 1).realize())


def packed(raw: bytes) -> str:
    return base64.b64encode(pack_values(raw)).decode()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"number": 9}, "there is no argument 9"),
        ({"number": -1}, "there is no argument -1"),
        ({"dtype": "float32"}, "and not 3 elements of float32"),
        ({"size": 4}, "and not 4 elements"),
        ({"data": packed(b"\1\0")}, "2 bytes in place of 3"),
        ({"data": packed(b"\1\0\1\1")}, "4 bytes in place of 3"),
        ({"data": base64.b64encode(b"no zlib").decode()}, "damaged"),
        ({"data": packed(b"\1\2\1")}, "bytes that are no bool"),
    ],
)
def test_values_that_are_not_of_the_kernel(
    selecting: Request, change: dict[str, Any], said: str
) -> None:
    ast = ast_of(selecting)
    arguments = selecting["captured"]["arguments"]
    assert captured_inputs(ast, selecting["captured"]).buffers[arguments[0]["number"]].size == 3
    hurt = [one | change if one["dtype"] == "bool" else one for one in arguments]
    assert hurt != arguments
    with pytest.raises((RunError, TraceError), match=said):
        captured_inputs(ast, {**selecting["captured"], "arguments": hurt})
    # the other inputs are there all the same
    found = workbench_job(
        {
            **selecting,
            "inputs": "normal",
            "captured": {**selecting["captured"], "arguments": hurt},
        }
    )
    by_kind = {one["kind"]: one for one in found["inputs"]}
    assert by_kind["captured"]["same"] is None
    assert by_kind["captured"]["why"]
    assert by_kind["ones"]["edited"]


@pytest.mark.parametrize("device", ["CPU", "PTX:EMU", "AMD:EMU"])
def test_indices_that_lead_out_of_memory(tmp_path: Path, device: str) -> None:
    """Emulators check every access; a kernel on the processor reads the same."""
    x = Tensor(np.arange(40, dtype=np.float32)).realize()
    i = Tensor([3, 1, 2, 39]).realize()
    request = recorded(tmp_path / "t.viz", lambda: (x[i] * ord(device[0])).realize())
    captured = request["captured"]
    raw = np.array([1 << 30, -1, -(1 << 31), 40], np.int32).tobytes()
    hurt = [
        {**one, "data": packed(raw)} if one["dtype"] == "int32" else one
        for one in captured["arguments"]
    ]
    assert hurt != captured["arguments"]
    for arguments in (captured["arguments"], hurt):
        sent = {**request, "device": device, "captured": {**captured, "arguments": arguments}}
        first = workbench_job(sent)["inputs"][0]
        assert (first["kind"], first["original"], first["why"]) == ("captured", True, "")


def test_kinds_that_there_are_not(selecting: Request) -> None:
    ast = ast_of(selecting)
    with pytest.raises(RunError, match="no inputs of the kind 'captured'"):
        Offered(ast).kinds("captured")
    with pytest.raises(RunError, match="there are captured, normal, uniform"):
        Offered(ast, selecting["captured"]).kinds("other")
    assert "captured" not in Offered(ast).kinds()
