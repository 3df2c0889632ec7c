"""Kernels whose opts were searched: in a trace, compiled again, and `what-if --search`."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import viz
from core import Tensor
from core.helpers import Context
from core.isolation import child
from tests.viz.test_json import SHAPES
from viz.cli import main
from viz.compare.matching.canonical import canonical_arg
from viz.coredialect.adapter import DIALECT
from viz.dialect.rundialect import RunDialect
from viz.views.store import Store
from viz.whatif.replay import replay

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A run under BEAM."""
    folder = tmp_path_factory.mktemp("searched")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        made = Tensor.arange(19 * 24).float().reshape(19, 24).realize()
        with Context(BEAM=1, BEAM_SECONDS=1), viz.record(folder / "t.viz"):
            (made @ made.T).realize()
        yield folder / "t.viz"


def kernel_of(store: Store) -> int:
    (found,) = store.kernels()
    return found


def test_the_trace_has_the_report_and_the_chosen_program_alone(path: Path) -> None:
    store = Store(path)
    kernel = store.kernel(kernel_of(store))
    assert kernel is not None
    (report,) = [a["text"] for a in kernel["artifacts"] if a["kind"] == "search"]
    first, found, without, *_ = report.splitlines()
    assert first.startswith("width 1, ")
    assert without.startswith("without ")
    names = [row["name"].removeprefix("optimize: ") for row in store.tree()["rows"]]
    applied = [name for name in names if re.fullmatch(r"[A-Z]+\(.*\)", name)]
    assert all(name in found for name in applied)
    assert len(applied) == len(set(applied))
    store.close()


def test_it_is_compiled_again_as_it_was(path: Path) -> None:
    store = Store(path)
    made = replay(store)
    assert made["equal"], made["kernels"]
    store.close()


SLOW = """
import runpy, sys, time
time.sleep(3)
runpy.run_module(sys.argv.pop(1), run_name="__main__")
"""


def started_slowly(
    module: str, stderr: int = subprocess.PIPE, bytecode: Path | None = None
) -> subprocess.Popen[bytes]:
    """A worker that takes longer to begin than the search may take."""
    return subprocess.Popen(
        [sys.executable, "-P", "-c", SLOW, module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env={**os.environ, "PYTHONPATH": child.python_path()},
        start_new_session=True,
    )


def test_what_if_searches(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["what-if", str(path), "--kernel", "r_", "--search", "1", "--seconds", "1"]
    with monkeypatch.context() as slow:
        slow.setattr(child, "start", started_slowly)
        assert main([*words, "--json", "--no-keep"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert SHAPES.problems(made, "WhatIf") == []
    assert made["variant"]["opts"] == made["search"]["opts"]
    assert made["outcome"]["equal"]
    assert main([*words, "--opts", ""]) == 2
    assert "leave out --opts" in capsys.readouterr().err
    assert main([*words, "--target", "gfx942"]) == 2
    assert "no device of this machine runs code for gfx942" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*words[:4], "--search", "65"])
    assert "no width from 1 to 64" in capsys.readouterr().err


STOPS = """
import sys
import time
from pathlib import Path
from viz.jobs import lines

say = lines._say

def say_and_wait(message):
    say(message)
    while "part" in message:
        Path({told!r}).touch()
        time.sleep(0.01)

lines._say = say_and_wait
from viz.workbench.worker import main
sys.exit(main())
"""
"""A worker that comes to no end once it has told of what it found first."""
STOPPED = """
import os
import subprocess
import sys
from core.isolation import child

def start(module, stderr=subprocess.PIPE, bytecode=None):
    return subprocess.Popen(
        [sys.executable, "-P", "-c", {worker!r}],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env={{**os.environ, "PYTHONPATH": child.python_path()}},
        start_new_session=True,
    )

child.start = start
from viz.cli import main
sys.exit(main())
"""


@pytest.mark.parametrize(("number", "as_json"), [(signal.SIGINT, False), (signal.SIGTERM, True)])
def test_a_search_that_is_stopped_prints_the_best_so_far(
    path: Path, tmp_path: Path, number: signal.Signals, as_json: bool
) -> None:
    told = tmp_path / "told"
    program = STOPPED.format(worker=STOPS.format(told=str(told)))
    words = ["what-if", str(path), "--kernel", "r_", "--search", "1", "--seconds", "100000"]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *words, *["--json"] * as_json],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not told.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate()
    assert process.returncode == 128 + number
    assert err == ("uopviz: interrupted\n" if number == signal.SIGINT else "")
    if as_json:
        found = json.loads(out)
        assert SHAPES.problems(found, "FoundOpts") == []
        assert found["tried"] > 0
        return
    said, best, hint = out.splitlines()
    assert re.match(r"search on CPU, stopped: width 1, ", said)
    opts = best.split("best so far  ")[1].removeprefix("none")
    assert hint == f"try it with --opts {shlex.quote(opts)}"


def test_runs_are_compared_without_what_their_searches_found() -> None:
    def info(**more: object) -> str:
        return json.dumps({"kernelinfo": {"name": "", "opts": None, **more}})

    opts = [{"opt": {"op": "UPCAST", "axis": 0, "arg": 4}}]
    plain = canonical_arg(RunDialect(DIALECT), "SINK", info())
    assert canonical_arg(RunDialect(DIALECT), "SINK", info(opts=opts, found_for="x86-64")) == plain
    assert canonical_arg(RunDialect(DIALECT), "SINK", info(opts=opts)) != plain
