"""`uopviz record` on xDSL as it is published: as many steps as its walker has successes, passes
that replay to what xDSL made, and the same output."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.peers.test_tinygrad import PROGRAMS, ROOT, is_exact
from viz.read.tracefile import TraceFile
from viz.views.store import Store

pytestmark = pytest.mark.nightly

PASSES = "canonicalize,cse,convert-scf-to-cf,canonicalize"


@pytest.fixture(scope="module")
def folder() -> Path:
    """The programs of an environment with xDSL."""
    made = ROOT / ".venv" / "peers" / "xdsl"
    if not (made / ".done").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(made)], check=True)
        pip = [str(made / "bin" / "python"), "-m", "pip", "install", "-q", "xdsl"]
        subprocess.run(pip, check=True)
        (made / ".done").touch()
    return made / "bin"


def run(command: list[str], **setting: str) -> tuple[str, str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("VIZ", "PYTHONPATH"))}
    done = subprocess.run(
        command, env=environment | setting, capture_output=True, text=True, cwd=PROGRAMS
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_steps_are_the_successes_of_its_walker(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.viz"
    command = [str(folder / "xdsl-opt"), "-p", PASSES, "loop.mlir"]
    plain, _ = run(command)
    count = [str(folder / "python"), "count_xdsl.py", "-p", PASSES, "loop.mlir"]
    (successes,) = re.findall(r"COUNT (\d+)", run(count)[1])
    viz = [sys.executable, "-m", "viz", "record", "-o", str(path)]
    assert run([*viz, *command], PYTHONPATH=str(ROOT))[0] == plain
    file = TraceFile(path)
    file.refresh()
    rules = {rule.name: rule for rule in file.rules.values()}
    assert {"fold", "dead code", "ForLowering", "cse"} <= {*rules}
    steps = sum(one.matches for one in file.rewrites.values())
    assert steps - 1 == int(successes) > 3  # cse walks without a pattern
    assert all(is_exact(file, one) for one in file.rewrites.values())
    store = Store(path)
    texts = [store.pass_texts(row["id"]) for row in store.tree()["rows"] if row["steps"]]
    pairs = [(t["before"]["text"], t["after"]["text"]) for t in texts if t and t["rewrite"]]
    assert pairs[-1][1].strip() == plain.strip()
    parsed = [*command[:1], "loop.mlir"]
    assert pairs[0][0].strip() == run(parsed)[0].strip()
    assert all(one[1] == other[0] for one, other in itertools.pairwise(pairs))
    contexts = [context.name for context in file.contexts.values()]
    assert contexts == PASSES.split(",")
