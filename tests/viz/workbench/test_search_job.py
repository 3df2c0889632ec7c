"""The beam search of the workbench: what the worker answers."""

from __future__ import annotations

import json
import re

import pytest

from core import Tensor
from core.compile import compile_kernel
from core.errors import RunError
from core.runtime.device import Device
from core.target import targets
from core.uop.data.serial import to_data
from core.uop.uop import UOp
from tests.docs.of_viz import MESSAGES
from tests.docs.shapes import Shapes, declarations, needed
from viz.workbench.worker import opts_job, search_job, texts_job

DECLARED = declarations(
    "\n".join(path.read_text("utf-8") for path in sorted(MESSAGES.rglob("*.ts")))
)
SHAPES = Shapes({name: DECLARED[name] for name in needed(("FoundOpts", "ChangedTexts"), DECLARED)})


@pytest.fixture(scope="module")
def product() -> UOp:
    return (Tensor.empty(8, 12) @ Tensor.empty(12, 16)).relu().schedule()[-1].ast


@pytest.mark.parametrize("device", ["CPU", "PTX:EMU"])
def test_a_search_says_what_it_found(
    product: UOp, device: str, capsys: pytest.CaptureFixture[str]
) -> None:
    request = {"graph": to_data([product]), "device": device, "width": 1, "seconds": 1}
    found = json.loads(json.dumps(search_job(request), allow_nan=False))
    assert SHAPES.problems(found, "FoundOpts") == []
    assert found["counted"] == (device == "PTX:EMU")
    assert found["cost"] <= found["first"]
    assert found["said"].startswith("width 1, ")
    applied = opts_job(
        {"graph": to_data([product]), "target": target(device), "opts": found["opts"]}
    )
    assert " ".join(one["opt"] for one in applied["opts"]) == found["opts"]
    assert not any(one["why"] for one in applied["opts"])
    own = opts_job({"graph": to_data([product]), "target": target(device)})
    assert " ".join(own["chosen"]) == found["chosen"]
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    better = [line["part"] for line in lines if "part" in line]
    assert all(SHAPES.problems(one, "FoundOpts") == [] for one in better)
    assert better[-1]["tried"] == found["tried"]
    assert {one["chosen"] for one in better} == {found["chosen"]}
    told = [line["progress"] for line in lines if "progress" in line]
    assert told[0] == f"starting on {device}"
    unit = "instructions" if found["counted"] else "µs"
    assert re.fullmatch(rf"round 0: 1 tried, best [\d,.]+ {unit}", told[1])


def target(device: str) -> str:
    found = Device[device].target
    assert found is not None
    return found.name


def test_a_search_where_no_device_runs_the_kernel(product: UOp) -> None:
    request = {"graph": to_data([product]), "device": "", "target": "gfx942", "width": 1}
    with pytest.raises(RunError, match="no device of this machine runs code for gfx942"):
        search_job(request)


def test_the_texts_of_a_changed_kernel(product: UOp, capsys: pytest.CaptureFixture[str]) -> None:
    """Without optimisations the text is another one than the compiler's own, and the same as if the
    kernel had been compiled so."""
    request = {"graph": to_data([product]), "target": "sm_90", "skip": []}
    own, plain = (texts_job(request | {"opts": opts}) for opts in (None, ""))
    assert SHAPES.problems(own, "ChangedTexts") == []
    texts = {one["kind"]: one["text"] for one in own["texts"]}
    assert texts["ptx"] == compile_kernel(product, targets["sm_90"]).source.text
    changed = {one["kind"]: one["text"] for one in plain["texts"]}
    assert changed["ptx"] == compile_kernel(product, targets["sm_90"], ()).source.text
    assert changed["ptx"] != texts["ptx"]
    assert {"ptx", "cuda"} <= changed.keys()
    assert "compiling for sm_90" in capsys.readouterr().out
