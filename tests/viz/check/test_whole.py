"""Kernels as a whole: texts that are wrong on purpose are named, right ones never are, and what was
not run says why."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import viz
from core import Tensor, compile
from core.compile import compile_kernel
from core.dtype import dtypes
from core.errors import FormatError, RunError
from core.launch import run as running
from core.render.llvm_lines import alu as llvm_alu
from core.render.ptx_lines import alu as ptx_alu
from core.runtime.numeric import Array
from core.target import targets
from core.toolchain.processor import host_target
from core.uop.data.serial import to_data
from core.uop.ops import Ops
from core.uop.symbolic import choose
from core.uop.uop import UOp
from tests.viz.work.test_unproved import given, reading
from viz.bisect import worker as tasks
from viz.check.message import message
from viz.check.part import check_part
from viz.check.parts import Part
from viz.check.whole import judged
from viz.check.whole.kernels import Wholes, kernels_of, wholes_of
from viz.cli import main
from viz.corecommand.check import sentence
from viz.known.beside import keep, take_kept
from viz.known.whole import LATE, STATES, settled, unknown, whole_kernel
from viz.views.store import Store
from viz.whatif import worker as kernel_worker
from viz.whatif.results import textrun
from viz.whatif.results.arguments import givens
from viz.whatif.results.textrun import device_for, run_text
from viz.whatif.variants.given import kernel_of
from viz.whatif.workers import OUT_OF_TIME, Told, Workers

Data = dict[str, Any]
DEVICES = ["CPU", "PTX:EMU", "AMD:EMU"]


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits are those of a process, which this one has none of."""
    monkeypatch.setattr(judged, "limit_files", abs)
    monkeypatch.setattr(tasks, "limit_memory", abs)


def here(asked: Sequence[Data], told: Told) -> None:
    """Does tasks, as a worker does them."""
    for at, task in enumerate(asked):
        told(at, json.loads(json.dumps(tasks.answer(json.dumps({**task, "memory": 1 << 40})))))


def recorded(path: Path, run: Callable[[], Tensor], capture: str = "") -> Path:
    values = run()
    for cache in (vars(running)["_kept"], vars(running)["_compiled"], vars(compile)["_kept"]):
        cache.cache_clear()  # it is compiled anew, and recorded
    with viz.record(path, **({"capture": capture} if capture else {})):
        values.realize()
    return path


def whole(path: Path) -> list[Data]:
    """What the kernels of a trace come to, with names."""
    store, found = Store(path), list[Data]()
    try:
        wholes_of(store, kernels_of(store)).run(here, found.append)
        passes = tuple(r["id"] for r in store.tree()["rows"] if r["kind"] == "rewrite")
        return message(store, check_part(Part(str(path), passes)), found)["kernels"]
    finally:
        store.close()


def floats(count: int, device: str) -> Tensor:
    made = np.random.default_rng(3).standard_normal(count).astype(np.float32)
    return Tensor(made, device=device).realize()


def outside(device: str) -> Tensor:
    x = floats(32, device)
    return (x < 0.3) | (x > 0.5)


def less(device: str) -> Tensor:
    return floats(32, device) < 0.3


def wrong_or(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of PTX that has `and` where the program has `or`."""
    right = ptx_alu.ROWS[Ops.OR, dtypes.bool]
    row = ptx_alu.Row(right.text.replace("or.pred", "and.pred"), right.immediates)
    rows = MappingProxyType({**ptx_alu.ROWS, (Ops.OR, dtypes.bool): row})
    monkeypatch.setattr(ptx_alu, "ROWS", rows)


@pytest.mark.parametrize("device", DEVICES)
def test_right_texts_are_never_called_wrong(tmp_path: Path, device: str) -> None:
    x = floats(96, device)
    run = [
        lambda: outside(device),
        lambda: (x.reshape(8, 12) @ x.reshape(12, 8)).softmax(),
        lambda: (x * 100).cast(dtypes.int32) // 7,
        lambda: (x.exp() + 1e20).sum(),
    ]
    for at, one in enumerate(run):
        for found in whole(recorded(tmp_path / f"{at}.viz", one)):
            assert found["state"] in ("equal", "rounding"), found
            assert found["device"] == device and found["sets"] > 1


def test_equal_and_equal_but_for_rounding_are_told_apart(tmp_path: Path) -> None:
    x = floats(640, "CPU")
    (same,) = whole(recorded(tmp_path / "a.viz", lambda: x.reshape(32, 20).permute(1, 0) * 2))
    (other,) = whole(recorded(tmp_path / "b.viz", lambda: x.sin().reshape(32, 20).sum(1)))
    assert (same["state"], same["ulps"]) == ("equal", 0)
    assert other["state"] == "rounding" and other["ulps"] > 0


@pytest.mark.parametrize("mended", [False, True])
def test_a_wrong_text_is_named_where_no_step_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mended: bool
) -> None:
    """With the renderer that wrote it, and where that was mended since."""
    with monkeypatch.context() as patched:
        wrong_or(patched)
        path = recorded(tmp_path / "t.viz", lambda: outside("PTX:EMU"))
        if not mended:
            (found,) = whole(path)
    if mended:
        vars(compile)["_kept"].cache_clear()
        (found,) = whole(path)
    assert (found["state"], found["place"]) == ("differs", "rendering ptx")
    assert found["because"] is None
    assert (found["outcome"]["got"], found["outcome"]["wanted"]) == (0.0, 1.0)
    said = sentence(found)
    assert "and no step of it does: the rendering ptx is wrong" in said
    assert found["name"] in said and "PTX:EMU" in said


def test_a_text_that_is_wrong_for_nan_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table: dict[Ops, tuple[str, str, str]] = vars(llvm_alu)["_compare"]
    monkeypatch.setitem(table, Ops.CMPLT, ("ult", "slt", "ult"))
    for device in ("CPU", "AMD:EMU"):
        path = recorded(tmp_path / f"{device[:3]}.viz", partial(less, device))
        (found,) = whole(path)
        assert (found["state"], found["place"]) == ("differs", "rendering llvm")
        assert found["inputs"] == "corner values"


def test_a_text_that_is_wrong_for_the_values_of_the_run_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table: dict[Ops, tuple[str, str, str]] = vars(llvm_alu)["_compare"]
    monkeypatch.setitem(table, Ops.CMPLT, ("ole", "slt", "ult"))
    x = Tensor(np.array([1.0, 12345.0, 20000.0], np.float32), device="CPU").realize()
    for capture, state in (("", "equal"), ("*", "differs")):
        path = recorded(tmp_path / f"{state}.viz", lambda: x < 12345.0, capture)
        (found,) = whole(path)
        assert found["state"] == state
    assert found["inputs"] == "the values of the run"
    assert found["outcome"]["coordinates"] == [1]


def test_captured_values_on_which_rounding_is_large_are_no_difference(tmp_path: Path) -> None:
    """A sum of large numbers that cancel: the reference adds in another order."""
    values = np.random.default_rng(1).standard_normal((4, 512)).astype(np.float32) * 1e7
    values[:, 1::2] = -values[:, ::2] + 0.25
    x = Tensor(values, device="CPU").realize()
    for found in whole(recorded(tmp_path / "t.viz", lambda: x.sum(1), "*")):
        assert found["state"] in ("equal", "rounding"), found


def test_bisect_names_what_no_step_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples of the step do not meet the large integers that float32 rounds."""
    monkeypatch.setattr(kernel_worker, "limit_files", abs)
    monkeypatch.setitem(vars(choose)["_integer_bits"], "float32", 32)
    values = np.arange(16, dtype=np.int32)
    x = Tensor(values, device="CPU").realize()
    path = recorded(tmp_path / "t.viz", lambda: x.cast(dtypes.float32).cast(dtypes.float64))
    found: dict[int, Data] = {}
    store = Store(path)
    wholes_of(store, kernels_of(store)).run(here, lambda one: found.update({one["kernel"]: one}))
    (one,) = message(store, [], [*found.values()])["kernels"]
    assert (one["state"], one["inputs"]) == ("differs", "corner values")
    assert one["place"].startswith("rule cast_of_cast in ")
    assert f"no step of it does: bisect names {one['place']}" in sentence(one)
    store.close()


def test_what_a_wrong_step_makes_is_its_consequence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong_or(monkeypatch)
    store, found = Store(recorded(tmp_path / "t.viz", lambda: outside("PTX:EMU"))), list[Data]()
    wholes_of(store, kernels_of(store)).run(here, found.append)
    passes = [r for r in store.tree()["rows"] if r["kind"] == "rewrite" and r["steps"]]
    inside = next(r for r in passes if r["id"] > found[0]["kernel"])
    rule = store.rules()[0]
    wrong = {
        "rewrite": inside["id"],
        "steps": [[2, rule["id"], 0]],
        "verdicts": [{"kind": "differs", "how": "for these values"}],
        "integers": [],
        "undone": None,
        "unseen": "",
    }
    (one,) = message(store, [wrong], found)["kernels"]
    assert one["because"] == {
        "rewrite": inside["id"],
        "pass": inside["name"],
        "step": 2,
        "rule": rule["name"],
    }
    assert f"a consequence of {rule['name']}, step 2 of {inside['name']}" in sentence(one)
    store.close()


def test_what_is_not_run_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = recorded(tmp_path / "t.viz", lambda: outside("PTX:EMU"))
    with monkeypatch.context() as patched:
        patched.setattr(textrun, "MAX_EMULATED", 3)
        (found,) = whole(path)
        assert found["state"] == "unknown"
        assert "too large for the emulator" in found["why"] and "at most 3" in found["why"]
    with monkeypatch.context() as patched:
        patched.setattr(textrun, "emulated", lambda _: None)
        patched.setattr(textrun, "device_of", lambda _: None)
        (found,) = whole(path)
        assert found["why"].startswith("no device of this machine runs code for sm_")
    store = Store(path)
    wholes = wholes_of(store, kernels_of(store))
    wholes.tasks[0]["subject"]["text"] = None
    wholes.run(here, lambda one: found.update(one))
    assert (found["state"], found["why"]) == ("unknown", "the trace has no text of it")
    store.close()


def test_arguments_that_cannot_be_tried_are_left_out_and_told(tmp_path: Path) -> None:
    store = Store(recorded(tmp_path / "t.viz", lambda: outside("PTX:EMU")))
    wholes = wholes_of(store, kernels_of(store))
    ast, target = kernel_of(wholes.tasks[0]["subject"])
    store.close()
    program, sets = compile_kernel(ast, target), list(islice(givens(ast), 3))

    class Strange:
        """Arguments that there are none of."""

        precise, said = False, "strange numbers"

        def variables(self, ast: UOp) -> dict[str, int]:
            return {}

        def memory(self, ast: UOp, most_bytes: int) -> list[Array]:
            raise RunError("there are none")

    found = run_text(ast, program, device_for(ast, target), [sets[0], Strange(), *sets[1:]])
    assert (found.sets, found.wrong_for) == (3, None), "those after it are tried"
    assert found.untried == ("strange numbers: there are none (1 of its sets of arguments not run)")
    found = run_text(ast, program, device_for(ast, target), sets, seconds=-1.0)
    assert (found.sets, found.untried) == (1, textrun.OVER)


def test_a_launch_that_is_another_one_now_is_not_taken_for_that_of_the_run(tmp_path: Path) -> None:
    store = Store(recorded(tmp_path / "t.viz", lambda: outside("PTX:EMU")))
    wholes = wholes_of(store, kernels_of(store))
    kind, text = wholes.tasks[0]["subject"]["text"]
    found: Data = {}
    wholes.tasks[0]["subject"]["text"] = [kind, text + "\n"]
    wholes.run(here, found.update)
    assert found["state"] == "equal"
    wholes.tasks[0]["launch"][1][0] += 1
    wholes.run(here, found.update)
    assert "launches it otherwise" in found["why"]
    store.close()


def test_kernels_that_may_leave_their_memory(tmp_path: Path) -> None:
    """On a processor they are not run; an emulator and the reference stop at the access."""
    store = Store(recorded(tmp_path / "t.viz", lambda: outside("PTX:EMU")))
    wholes, found = wholes_of(store, kernels_of(store)), dict[str, Any]()
    subject = wholes.tasks[0]["subject"]
    for beyond, inside in ((0, True), (1 << 20, False)):
        ast = reading(given(1), beyond)
        subject["graph"] = to_data([ast])
        for target in (subject["target"], host_target().name):
            program = compile.compile_kernel(ast, targets.get(target) or host_target())
            kind, text = program.source.kind, program.source.text
            one = {**subject, "target": target, "text": [kind, text]}
            Wholes([{**wholes.tasks[0], "subject": one}], [[3]], []).run(here, found.update)
            if target != subject["target"]:
                assert "elements" in found["why"] and "is not run" in found["why"], found
            elif inside:
                assert found["state"] == "equal", found
            else:
                assert found["state"] == "unknown", found
    store.close()


def test_kernels_that_are_alike_are_run_once(tmp_path: Path) -> None:
    store = Store(recorded(tmp_path / "t.viz", lambda: outside("CPU")))
    (number,) = kernels_of(store)
    wholes = wholes_of(store, [number, number])
    assert (len(wholes.tasks), wholes.numbers) == (1, [[number, number]])
    assert not wholes_of(store, [number], {number})
    assert Wholes.of(json.loads(json.dumps(wholes.data()))).data() == wholes.data()
    store.close()


def test_no_task_is_begun_when_the_time_for_all_is_over(tmp_path: Path) -> None:
    store = Store(recorded(tmp_path / "t.viz", lambda: outside("CPU")))
    workers, found = Workers(1, 60), list[Data]()
    wholes_of(store, kernels_of(store)).run(
        lambda asked, told: workers.do(asked, told, 0.0), found.append
    )
    assert [(one["state"], one["why"]) for one in found] == [("unknown", LATE)]
    assert not vars(workers)["_all"], OUT_OF_TIME
    for one in found:
        store.checks.add_kernel(one)
    assert settled(store.checks) == set(), "the next check runs it"
    store.close()


def test_what_is_known_is_kept_beside_the_trace(tmp_path: Path) -> None:
    store = Store(recorded(tmp_path / "t.viz", lambda: outside("CPU")))
    wholes_of(store, kernels_of(store)).run(here, store.checks.add_kernel)
    assert keep(store)
    again = Store(store.path)
    (one,) = take_kept(again).kernels()
    assert one["state"] == "equal" and one == store.checks.kernels()[0]
    assert settled(again.checks) == set(kernels_of(again))
    store.close()
    again.close()


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = recorded(tmp_path / "t.viz", lambda: outside("CPU"))
    assert main(["check", str(path), "--run-seconds", "0"]) == 0
    assert "as a whole" not in capsys.readouterr().out
    assert main(["check", str(path)]) == 0
    out = capsys.readouterr().out
    assert "1 kernel as a whole, the text against its program" in out
    assert "equal on all arguments               1" in " ".join(out.split("\n"))
    assert main(["check", str(path), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["wholes"] == {**dict.fromkeys(STATES, 0), "equal": 1}
    assert data["kernels"][0]["device"] == "CPU"
    assert main(["check", str(path), "--pass", "simplify", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kernels"] == []


def test_a_difference_is_an_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        wrong_or(patched)
        path = recorded(tmp_path / "t.viz", lambda: outside("PTX:EMU"))
    assert main(["check", str(path)]) == 1
    out = capsys.readouterr().out
    assert "the rendering ptx is wrong" in out
    assert "0 in place of 1" in out


RIGHT: Data = {
    **unknown(""),
    "kernel": 3,
    "state": "differs",
    "outcome": {
        "output": 0,
        "index": 1,
        "coordinates": [1],
        "got": 1.0,
        "wanted": None,
        "said": "data0 is off",
    },
}


def test_what_is_no_kernel_is_refused() -> None:
    assert whole_kernel(RIGHT) == RIGHT
    for name in RIGHT:
        for value in (None, [], {}, -1, math.pi, "?", [None]):
            if name in ("device", "place", "inputs", "why") and value == "?":
                continue
            with pytest.raises(FormatError):
                whole_kernel({**RIGHT, name: value})
        with pytest.raises(FormatError):
            whole_kernel({key: value for key, value in RIGHT.items() if key != name})
    for name in ("output", "index", "got", "coordinates", "said"):
        with pytest.raises(FormatError):
            whole_kernel(
                {**RIGHT, "outcome": {**RIGHT["outcome"], name: "x" if name != "said" else 1}}
            )
    for state in STATES:
        if state != "differs":
            with pytest.raises(FormatError):
                whole_kernel({**RIGHT, "state": state})
    for one in (None, 3, [RIGHT], "x"):
        with pytest.raises(FormatError):
            whole_kernel(one)
