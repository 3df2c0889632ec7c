"""`uopviz record` on tinygrad as it is published, each version in an environment of its own: as
many steps as tinygrad counts itself, and passes that replay to the graph that its engine
returned."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.viz.why.test_tinygrad import blamed
from viz.compilers.tinygrad import DIALECT
from viz.compilers.tinygradfacts import TinygradFacts
from viz.read.records import Rewrite
from viz.read.steps import read_steps
from viz.read.tracefile import TraceFile
from viz.replay.slots import Slots
from viz.views.store import Store

pytestmark = pytest.mark.nightly

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).parent / "programs"
VERSIONS = ("0.11.0", "0.12.0", "0.13.0", "0.14.0")
DEVICES = {"net.py": "NULL", "small.py": "PYTHON"}
INTEGER = re.compile(r"dtypes\.(u?(char|short|int|long)|bool|index|weakint)(\.vec\(\d+\))?")
INEXACT = 200
"""Of so many passes, at most one is not exact to the last node."""


def python_of(version: str) -> Path:
    """The interpreter of an environment with that version, installed from the package index."""
    folder = ROOT / ".venv" / "peers" / f"tinygrad-{version}"
    python = folder / "bin" / "python"
    if not (folder / ".done").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "-q", f"tinygrad=={version}"]
        subprocess.run(install, check=True)
        (folder / ".done").touch()
    return python


def run(command: list[str], program: str, **setting: str) -> str:
    """What the command prints, of both kinds."""
    device = DEVICES[program]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("VIZ", "PYTHONPATH"))}
    environment |= {"DEV": device, device: "1", "PARALLEL": "0", "TRAINING": "1", **setting}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=PROGRAMS)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("program", DEVICES)
@pytest.mark.parametrize("version", VERSIONS)
def test_steps_are_those_that_tinygrad_counts(version: str, program: str, tmp_path: Path) -> None:
    python, path = str(python_of(version)), tmp_path / "run.viz"
    plain = run([python, program], program)
    counted = run([python, program], program, TRACK_MATCH_STATS="2")
    (matches,) = re.findall(r"matched (\d+) times", counted)
    viz = [sys.executable, "-m", "viz", "record", "-o", str(path)]
    said = run([*viz, python, program], program, PYTHONPATH=str(ROOT))
    assert said.startswith(plain)
    file = TraceFile(path)
    file.refresh()
    passes = [one for one in file.rewrites.values() if one.sink and one.result]
    assert sum(one.matches for one in passes) == int(matches)
    exact = sum(is_exact(file, one) for one in passes)
    assert len(passes) - exact <= max(1, len(passes) // INEXACT), f"{exact} of {len(passes)}"


@pytest.mark.parametrize("version", VERSIONS)
def test_shapes_and_bounds_are_those_of_tinygrad(version: str, tmp_path: Path) -> None:
    python, path = str(python_of(version)), tmp_path / "run.viz"
    viz = [sys.executable, "-m", "viz", "record", "-o", str(path)]
    run([*viz, python, "facts.py", "net.py"], "net.py", PYTHONPATH=str(ROOT))
    file = TraceFile(path)
    file.refresh()
    facts = TinygradFacts(file)
    shapes, bounds = Counter[str](), Counter[str]()
    assert file.nodes.count > 5000
    for node in range(1, file.nodes.count + 1):
        dtype, extra = (file.text(int(file.nodes.field(name)[node])) for name in ("dtype", "extra"))
        said = json.loads(extra or "{}")
        shape = facts.shape(node)
        if "shape" in said:
            worked_out = None if shape is None else "x".join(map(str, shape)) or "()"
            shapes[_compared(worked_out, said["shape"])] += 1
        vectors = version == "0.11.0" and "vec" in dtype  # it gives them the bounds of one number
        of_vectors = version == "0.11.0" and any(len(n) > 18 for n in said.values())
        if "lo" in said and INTEGER.fullmatch(dtype) and not vectors and not of_vectors:
            claimed = int(said["lo"]), int(said["hi"])
            bounds[_compared(facts.bounds(node), claimed)] += 1
    assert shapes["wrong"] == 0 and shapes["same"] > 5 * shapes["unknown"], shapes
    assert bounds["wrong"] == 0 and bounds["same"] > 4 * bounds["unknown"], bounds


def _compared(worked_out: object, said: object) -> str:
    return "unknown" if worked_out is None else "same" if worked_out == said else "wrong"


@pytest.mark.parametrize("version", VERSIONS[1:])
def test_launches_are_of_the_kernels(version: str, tmp_path: Path) -> None:
    python, path = str(python_of(version)), tmp_path / "run.viz"
    viz = [sys.executable, "-m", "viz", "record", "-o", str(path)]
    run([*viz, python, "net.py"], "net.py", PYTHONPATH=str(ROOT))
    store = Store(path)
    kernels = {kernel["name"] for number in store.kernels() if (kernel := store.kernel(number))}
    launched = {name for name, *_ in store.processes[0].file.launches}
    assert len(launched) > 15 and launched <= kernels
    assert max(sample.allocated for sample in store.processes[0].file.memory) > 10_000


@pytest.mark.parametrize("version", VERSIONS)
def test_its_own_file_has_the_same_steps(version: str, tmp_path: Path) -> None:
    python, path = str(python_of(version)), tmp_path / "own.viz"
    counted = run([python, "net.py"], "net.py", TRACK_MATCH_STATS="2", TMPDIR=str(tmp_path))
    (matches,) = re.findall(r"matched (\d+) times", counted)
    (own,) = tmp_path.glob("rewrites.pkl*")
    viz = [sys.executable, "-m", "viz", "import", "-o", str(path), str(own)]
    run(viz, "net.py", PYTHONPATH=str(ROOT))
    file = TraceFile(path)
    file.refresh()
    passes = [one for one in file.rewrites.values() if one.sink and one.result]
    assert sum(one.matches for one in passes) == int(matches)
    exact = sum(is_exact(file, one) for one in passes)
    assert len(passes) - exact <= len(passes) // 50, f"{exact} of {len(passes)}"


@pytest.mark.parametrize("version", VERSIONS)
def test_near_misses_are_explained(version: str, tmp_path: Path) -> None:
    python, path = str(python_of(version)), tmp_path / "run.viz"
    viz = [sys.executable, "-m", "viz", "record", "-o", str(path)]
    said = run([*viz, python, "misses.py"], "net.py", PYTHONPATH=str(ROOT))
    cases = [json.loads(line[5:]) for line in said.splitlines() if line.startswith("CASE ")]
    store = Store(path)
    found = {name: blamed(store, name) for name, *_ in cases}
    wanted = {name: (op, arg, kind) for name, _, op, arg, kind in cases}
    assert len(cases) == 20 and found == wanted


@pytest.mark.parametrize("version", VERSIONS)
def test_no_step_of_a_right_program_is_blamed(version: str, tmp_path: Path) -> None:
    python, path = str(python_of(version)), tmp_path / "run.viz"
    viz = [sys.executable, "-m", "viz"]
    run([*viz, "record", "-o", str(path), python, "net.py"], "net.py", PYTHONPATH=str(ROOT))
    check = [*viz, "check", "--json", "--whole", "--jobs", "1", str(path)]
    counts = json.loads(run(check, "net.py", PYTHONPATH=str(ROOT)))["counts"]
    assert counts["differs"] == 0 and counts["proved"] > sum(counts.values()) // 10, counts


def is_exact(file: TraceFile, rewrite: Rewrite) -> bool:
    """Whether each match is at a node of the graph, and the last graph is the result."""
    op, arg = file.nodes.field("op"), file.nodes.field("arg")
    events = read_steps(file, rewrite)
    slots = Slots(rewrite.sink, file.nodes.sources, lambda n: (op[n], arg[n]))
    for old, new in events.leading:
        slots.rebuild(old, new)
    found = True
    for match, rebuilds in events.steps:
        found = found and slots.holding(match.before) >= 0
        slots.match(match.before, match.after)
        for old, new in rebuilds:
            slots.rebuild(old, new)
    slots.settle(rewrite.result)
    return found and not slots.repairs


@pytest.mark.parametrize("version", VERSIONS)
def test_the_dialect_knows_every_op(version: str) -> None:
    code = "from tinygrad.uop.ops import Ops; print(*(op.name for op in Ops))"
    names = run([str(python_of(version)), "-c", code], "small.py").split()
    assert len(names) > 50
    assert {name for name in names if name not in DIALECT.ops} == set()
