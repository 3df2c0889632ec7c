"""The whole way, with a rule's file changed since the run: what has changed is named, the kernel is
compiled again with the code on disk, and bisect names the rule that is wrong there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.viz.whatif.running import record

ROOT = Path(__file__).parents[3]
RULE = "core/passes/loops/reduce.py"
WAS = "UOp.const(red.dtype, identity(red.arg, red.dtype))"
IS = "UOp.const(red.dtype, 1 + identity(red.arg, red.dtype))"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code with one rule that is wrong: sums begin at 1."""
    folder = tmp_path_factory.mktemp("code")
    for name in ("core", "viz"):
        left_out = shutil.ignore_patterns("__pycache__", "web")
        shutil.copytree(ROOT / name, folder / name, ignore=left_out)
    rule = folder / RULE
    text = rule.read_text()
    assert text.count(WAS) == 1
    rule.write_text(text.replace(WAS, IS))
    record(folder / "run.viz")
    return folder


def run(copy: Path, *words: str) -> tuple[int, Any]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("VIZ")}
    command = [sys.executable, "-P", "-m", "viz", words[0], "run.viz", *words[1:], "--json"]
    done = subprocess.run(
        command,
        cwd=copy,
        env=environment | {"PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_replay_says_what_has_changed(copy: Path) -> None:
    code, made = run(copy, "replay")
    assert code == 1
    (changed,) = made["changed"]
    line = (
        (ROOT / RULE)
        .read_text()
        .splitlines()
        .index("def reduce_in_loop(ctx: Iterator[int], red: UOp, x: UOp) -> UOp:")
    )
    assert changed["said"] == f"reduce_in_loop changed, reduce.py:{line}"
    states = {row["name"][0]: row["state"] for row in made["kernels"]}
    assert states == {"r": "changed", "E": "equal"}
    (row,) = [row for row in made["kernels"] if row["state"] == "changed"]
    assert row["differences"]["passes"][0]["name"] == "reduce"


def test_bisect_names_the_rule(copy: Path) -> None:
    code, made = run(copy, "bisect", "--kernel", "r_")
    assert code == 1
    assert made["wrong"]
    assert not made["outcome"]["equal"]
    culprit = made["culprit"]
    assert culprit["pass"] == "reduce"
    assert culprit["before"]["equal"]
    assert not culprit["after"]["equal"]
    rule = culprit["match"]["rule"]
    assert (rule["name"], Path(rule["file"])) == ("reduce_in_loop", copy / RULE)
    assert made["inTrace"]["step"] == culprit["match"]["step"]
    assert [one["name"] for one in made["changed"]] == ["reduce_in_loop"]
    code, whole = run(copy, "bisect")
    assert code == 1
    assert {row["name"][0]: row["state"] for row in whole["kernels"]} == {
        "r": "differs",
        "E": "agrees",
    }
    (found,) = whole["found"]
    assert found["culprit"] == culprit
    assert found["inTrace"] == made["inTrace"]


def test_what_if_runs_it_beside_the_recorded_text(copy: Path) -> None:
    code, made = run(copy, "what-if", "--kernel", "r_", "--replay")
    assert code == 1
    outcome = made["outcome"]
    assert not outcome["equal"]
    assert outcome["coordinates"] == [0, 0, 0]
    assert outcome["got"] == pytest.approx(outcome["wanted"] + 1, rel=1e-5)
    assert made["times"]["ratio"] > 0
    assert made["notes"] == []
