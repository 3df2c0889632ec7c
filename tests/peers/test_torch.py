"""`uopviz record` on PyTorch as it is published: as many matches as Inductor counts, an output that
is the same, and wrong passes named by `uopviz check`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.peers.test_dumps import ops_of
from tests.peers.test_tinygrad import PROGRAMS, ROOT, is_exact
from viz.read.tracefile import TraceFile
from viz.views.store import Store

pytestmark = pytest.mark.nightly
UNCACHED = {"TORCHINDUCTOR_FX_GRAPH_CACHE": "0", "TORCHINDUCTOR_AUTOGRAD_CACHE": "0"}
"""A cache hit of an earlier run compiles nothing, and counts no match."""


@pytest.fixture(scope="module")
def python() -> str:
    """The interpreter of an environment with PyTorch."""
    folder = ROOT / ".venv" / "peers" / "torch"
    if not (folder / ".done").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        install = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "torch", "numpy"]
        subprocess.run(install, check=True)
        (folder / ".done").touch()
    return str(folder / "bin" / "python")


def run(command: list[str], **setting: str) -> str:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("VIZ", "PYTHONPATH"))}
    done = subprocess.run(
        command, env=environment | setting, capture_output=True, text=True, cwd=PROGRAMS
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def recorded(python: str, program: str, path: Path) -> str:
    viz = [sys.executable, "-m", "viz", "record", "-o", str(path)]
    return run([*viz, python, program], PYTHONPATH=str(ROOT))


def test_steps_are_those_that_inductor_counts(python: str, tmp_path: Path) -> None:
    path = tmp_path / "run.viz"
    said = recorded(python, "attention.py", path)
    (counted,) = re.findall(r"COUNT (\d+)", said)
    assert said == run([python, "attention.py"], **UNCACHED)
    file = TraceFile(path)
    file.refresh()
    assert "left_out" not in file.meta or file.meta["left_out"] == []
    by_pattern = sum(
        one.matches for one in file.rewrites.values() if "pattern" in one.name.partition(": ")[2]
    )
    assert by_pattern == int(counted) > 20
    assert all(is_exact(file, one) for one in file.rewrites.values())
    store = Store(path)
    kernels = [store.kernel(number) for number in store.kernels()]
    texts = [a["kind"] for kernel in kernels if kernel for a in kernel["artifacts"]]
    assert texts.count("output_code") == 2  # forward and backward
    for rewrite in file.rewrites.values():
        printed = store.pass_texts(rewrite.id)
        assert printed is not None
        for side, node in (("before", rewrite.sink), ("after", rewrite.result)):
            assert (printed[side] is not None) == (rewrite.sink != rewrite.result)
            if printed[side] is not None:
                calls = re.findall(r" = torch\.ops\.(\w+\.\w+\.\w+)", printed[side]["text"])
                found = ops_of(store, node)
                assert {op: n for op, n in found.items() if op.count(".") == 2} == Counter(calls)
    assert sum(rule["declines"] for rule in store.rules()) > 100


def test_wrong_passes_are_named_and_no_other(python: str, tmp_path: Path) -> None:
    path = tmp_path / "run.viz"
    said = recorded(python, "passes.py", path)
    planted = re.findall(r"PASS (.*) ([01])", said)
    check = [sys.executable, "-m", "viz", "check", "--json", "--whole", str(path)]
    data = json.loads(run(check, PYTHONPATH=str(ROOT), UOPVIZ_PYTHON=python))
    names = {row["id"]: row["name"] for row in Store(path).tree()["rows"]}
    found = [
        (names[one["rewrite"]], str(int(any(v["kind"] == "differs" for v in one["verdicts"]))))
        for one in data["passes"]
    ]
    assert len(planted) == 34
    assert found == planted
