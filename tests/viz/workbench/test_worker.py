"""A kernel as it is and as it is changed, side by side: what the worker answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core import Tensor, Variable
from core.errors import CompileError, DeviceError, RunError
from core.runtime.device import Device
from core.runtime.reference.inputs import Values
from core.uop.data.serial import to_data
from core.uop.ops import Ops
from core.uop.uop import UOp
from tests.docs.of_viz import MESSAGES
from tests.docs.shapes import Shapes, declarations, needed
from viz.workbench import compare, sides
from viz.workbench.compare import spread
from viz.workbench.kinds import CAPTURED, KINDS
from viz.workbench.worker import opts_job, texts_job, workbench_job

DECLARED = declarations(
    "\n".join(path.read_text("utf-8") for path in sorted(MESSAGES.rglob("*.ts")))
)
SHAPES = Shapes({name: DECLARED[name] for name in needed(("Workbench", "KernelOpts"), DECLARED)})


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few turns: how long they take is of no interest here."""
    monkeypatch.setattr(compare, "SECONDS", 0.02)
    monkeypatch.setattr(compare, "TURNS", 8)


@pytest.fixture(scope="module")
def product() -> UOp:
    return (Tensor.empty(8, 12) @ Tensor.empty(12, 16)).relu().schedule()[-1].ast


def answered(ast: UOp, device: str, **more: object) -> dict[str, Any]:
    """The answer as the page reads it, which has the form that the page expects."""
    made = workbench_job({"graph": to_data([ast]), "device": device, **more})
    found: dict[str, Any] = json.loads(json.dumps(made, allow_nan=False))
    assert SHAPES.problems(found, "Workbench") == []
    return found


def test_other_opts_are_run_in_turn_with_the_compilers(product: UOp) -> None:
    found = answered(product, "CPU", opts="UPCAST(0, 4)")
    assert found["changed"]
    assert found["edited"]["opts"] == "UPCAST(0, 4)" != found["original"]["opts"]
    assert found["edited"]["text"] != found["original"]["text"]
    times = found["times"]
    assert 0 < times["low"] <= times["ratio"] <= times["high"]
    assert len(times["original"]["us"]) == len(times["edited"]["us"]) == times["turns"] <= 8
    assert [one["kind"] for one in found["inputs"]] == [k for k in KINDS if k != CAPTURED]
    assert all(one["title"] == KINDS[one["kind"]] for one in found["inputs"])
    assert all(one["same"] and one["original"] and one["edited"] for one in found["inputs"])
    assert found["flops"] > 0 < found["bytes"]


def test_an_edit_that_is_wrong_is_seen(product: UOp) -> None:
    own = answered(product, "CPU")
    assert not own["changed"]
    text = own["original"]["text"]
    # where the accumulators begin
    wrong = text.replace("float 0.000000e+00), ptr", "float 5.000000e+00), ptr", 1)
    assert wrong != text
    found = answered(product, "CPU", source={"kind": "llvm", "text": wrong})
    outputs, picture = found["outputs"], found["picture"]
    assert 0 < outputs["identical"] < outputs["compared"] == 8 * 16
    assert len(outputs["at"]) == 2
    row, column = outputs["at"]
    assert picture["at"][0] == row * 16 + column
    assert (picture["original"][0], picture["edited"][0]) == (
        outputs["original"],
        outputs["edited"],
    )
    assert outputs["error"] == pytest.approx(outputs["edited"] - outputs["original"])
    first = found["inputs"][0]
    assert (first["same"], first["original"], first["edited"]) == (False, True, False)


def test_emulated_devices_count_instructions(product: UOp) -> None:
    found = answered(product, "AMD:EMU", opts="")
    assert found["times"] is None
    assert 0 < found["original"]["instructions"] < found["edited"]["instructions"]
    assert found["edited"]["opts"] == ""
    assert all(one["edited"] for one in found["inputs"])


def test_rules_that_are_left_out(product: UOp) -> None:
    found = answered(product, "CPU", opts="", skip=["multiply_add"])
    assert found["changed"]
    assert "fmul" in found["edited"]["text"]
    assert "fmul" not in found["original"]["text"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("device", "kind"), [("CPU", "llvm"), ("PTX:EMU", "ptx")])
def test_a_text_runs_in_place_of_the_program_that_it_is_of(
    device: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each optimisation taken out in turn, then a rule: the text that this makes is the right one
    for the loops and the grid that this makes, and no other."""
    monkeypatch.setattr(compare, "CHECKING", -1.0)  # one kind of input
    monkeypatch.setattr(sides, "find_tool", lambda name: None)  # machine code is of no interest
    kernel = (Tensor.empty(16, 8) @ Tensor.empty(8, 24)).relu().schedule()[-1].ast
    target = Device[device].target
    assert target is not None
    asked = {"graph": to_data([kernel]), "target": target.name}
    chosen = opts_job(asked)["chosen"]
    assert len(chosen) > 1
    ways: list[dict[str, Any]] = [
        {"opts": " ".join(chosen[:at] + chosen[at + 1 :])} for at in range(len(chosen))
    ]
    other_loops = 0
    for way in [*ways, {"skip": ["multiply_add"]}]:
        texts = {one["kind"]: one["text"] for one in texts_job({**asked, **way})["texts"]}
        source = {"kind": kind, "text": texts[kind]}
        found = answered(kernel, device, source=source, **way)
        assert found["edited"]["text"] != found["original"]["text"]
        first = found["inputs"][0]
        assert (first["same"], first["original"], first["edited"]) == (True, True, True), way
        other_loops += found["edited"]["opts"] != found["original"]["opts"]
    assert other_loops == len(chosen)


def test_variables_have_their_largest_value() -> None:
    rows = Tensor.empty(5, 3)[: Variable("n", 1, 5).bind(2)]
    kernel = (rows.sum(0) * 2).schedule()[-1].ast
    assert any(u.op is Ops.DEFINE_VAR for u in kernel.toposort())
    found = answered(kernel, "CPU", opts="")
    assert found["inputs"][0]["edited"]


def test_what_is_refused(product: UOp) -> None:
    with pytest.raises(DeviceError, match="runs no programs"):
        answered(product, "REFERENCE")
    with pytest.raises(CompileError, match="does not apply"):
        answered(product, "CPU", opts="UPCAST(7, 4)")
    with pytest.raises((CompileError, RunError)):
        answered(product, "CPU", source={"kind": "llvm", "text": "nonsense"})
    large = (Tensor.empty(1 << 27) + 1).schedule()[-1].ast
    with pytest.raises(RunError, match="the arguments of this kernel take"):
        answered(large, "CPU")


def test_inputs_that_cannot_be_judged_in_time(
    product: UOp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare, "CHECKING", -1.0)
    found = answered(product, "CPU")
    first, *others = found["inputs"]
    assert first["same"]
    assert all(one["same"] is None and "takes too long" in one["why"] for one in others)


def test_without_a_reference_both_are_still_compared(
    product: UOp, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: object) -> None:
        raise RunError("the reference would need more")

    monkeypatch.setattr(compare, "evaluate_kernel", refuses)
    first = answered(product, "CPU")["inputs"][0]
    assert (first["same"], first["original"], first["edited"]) == (True, None, None)
    assert first["why"] == "the reference would need more"


def test_the_optimisations_of_a_kernel(product: UOp) -> None:
    def asked(target: str, opts: str | None = None) -> dict[str, Any]:
        made = opts_job({"graph": to_data([product]), "target": target, "opts": opts})
        assert SHAPES.problems(made, "KernelOpts") == []
        return made

    for target in ("x86-64", "sm_90", "gfx942"):
        chosen = asked(target)
        assert [one["opt"] for one in chosen["opts"]] == chosen["chosen"]
        assert not any(one["why"] for one in chosen["opts"])
        assert asked(target, " ".join(chosen["chosen"])) == chosen
    bare = asked("sm_90", "")
    assert bare["opts"] == []
    assert "LOCAL(0, 2)" in bare["legal"]
    wrong = asked("sm_90", "UPCAST(0, 4) UPCAST(9, 2)")
    assert [bool(one["why"]) for one in wrong["opts"]] == [False, True]


def test_it_is_compiled_with_the_flags_of_the_recording(product: UOp) -> None:
    flags = {"NOOPT": 1, "CPU_THREADS": 1, "OTHER": 3}
    bare, own = answered(product, "CPU", flags=flags), answered(product, "CPU")
    assert bare["original"]["opts"] == bare["edited"]["opts"] == "" != own["original"]["opts"]
    made = opts_job({"graph": to_data([product]), "target": "x86-64", "flags": flags})
    assert made["chosen"] == made["opts"] == []


def test_how_times_lie() -> None:
    found = spread([5.0, 1.0, 2.0, 3.0, 4.0, 9.0, 8.0, 7.0, 6.0, 10.0])
    assert (found["median"], found["p10"], found["p90"]) == (5.5, 2.0, 10.0)
    named = {*Values} - {Values.EXACT, Values.PLAIN, Values.CORNERS, Values.UNIT}
    assert {*KINDS} == {CAPTURED, *(values.value for values in named)}
