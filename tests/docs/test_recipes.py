"""The recipes of docs/extending.md are true: the files that they name are there, and a rule and a
renderer that are added to a copy of the project, in the files named and no others, work."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/extending.md").read_text(encoding="utf-8")

RENDERER = '''
"""Names of the ops of a program, one a line."""

from collections.abc import Sequence

from core.render.rendered import Lines, Rendered
from core.target import Target
from core.uop.uop import UOp


def render(uops: Sequence[UOp], name: str, target: Target) -> Rendered:
    """A line for each op."""
    lines = Lines()
    for lines.at, u in enumerate(uops):
        lines.add(u.op.name)
    return lines.finish({"ops": str(len(uops))})
'''
USE_RENDERER = """
import viz
from core import Tensor
from core.compile import compile_kernel, sources_for
from core.target import targets
from core.uop import Ops
from viz.views.store import Store
from viz.jobs.compiled import Wanted, compiled_for

if __name__ == "__main__":
    with viz.record("t.viz"):
        (Tensor([1.0, 2.0]) * 2).realize()
    store = Store("t.viz")
    known = next(kind for kind in store.run()["kinds"] if kind["kind"] == "toy")
    assert known == {"kind": "toy", "title": "Toy", "language": "text", "ending": ".toy",
                     "families": ["cpu", "amd"]}
    kernels = store.kernels()
    with compiled_for(store, kernels[:1], Wanted(passes=["x86-64", "gfx942"]), print) as failed:
        assert failed == []
        found = {(a["kind"], a["target"]): a for a in store.kernel(kernels[0])["artifacts"]}
        for target in ("x86-64", "gfx942"):
            text = found["toy", target]
            assert text["title"] == f"Toy {target}"
            assert text["text"].splitlines()[-1] == "SINK"
            assert len(text["lines"]) == text["text"].count("\\n")
            assert all(len(line) == 1 for line in text["lines"])
            assert [fact["name"] for fact in text["facts"]] == ["ops"]
"""
RULE = """
@rule(UPat(Ops.XOR, src=[UPat(Ops.XOR, src=[x_bits, UPat.var("y")]), x_bits]))
def toy_twice(x: UOp, y: UOp) -> UOp:
    \"\"\"x ^ (x ^ y) -> y\"\"\"
    return y


identities = PatternMatcher(
    [
        toy_twice,
"""
USE_RULE = """
import viz
from core.uop import UOp
from viz.views.store import Store

x, y = UOp.variable("x", -9, 9), UOp.variable("y", -9, 9)
with viz.record("t.viz"):
    assert (x ^ (x ^ y)).simplify() is y
rule = next(rule for rule in Store("t.viz").rules() if rule["name"] == "toy_twice")
assert rule["equation"] == "x ^ (x ^ y) -> y"
assert rule["matches"] == 1
assert rule["file"].endswith("identities.py")
"""


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the two packages, without the page."""
    for package in ("core", "viz"):
        ignored = shutil.ignore_patterns("web", "__pycache__")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    return tmp_path


def run(folder: Path, code: str) -> None:
    """Runs a program with the packages of a folder."""
    (folder / "program.py").write_text(code)
    made = subprocess.run(
        [sys.executable, "program.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "VIZ": "0", "XDG_CACHE_HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr


def edit(file: Path, old: str, new: str) -> None:
    """Replaces the one place with this text."""
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))


def test_the_files_that_recipes_name_are_there() -> None:
    named = {name for name in re.findall(r"`([^`\s]+)`", TEXT) if "/" in name and "<" not in name}
    missing = [name for name in named if not (ROOT / name).exists()]
    # what stands in a list of a recipe is seen from the folder of the recipe
    assert [name for name in missing if not (ROOT / "core/passes" / name).exists()] == []
    assert len(named) > 30


def test_a_renderer_is_one_module_and_one_row(copied: Path) -> None:
    (copied / "core" / "render" / "toy.py").write_text(RENDERER.lstrip())
    kinds = copied / "core/render/kinds.py"
    row = '    Kind("toy", "Toy", "text", ".toy", ("cpu", "amd"), rendered=True),\n'
    edit(kinds, "    # reports of what", row + "    # reports of what")
    run(copied, USE_RENDERER)


def test_a_rule_is_a_function_and_its_name_in_a_list(copied: Path) -> None:
    file = copied / "core/uop/symbolic/identities.py"
    edit(file, "identities = PatternMatcher(\n    [\n", RULE.lstrip())
    run(copied, USE_RULE)
