"""The recipes of docs/extending.md are true: the files that they name are there, and a rule, a
renderer, an op, a command, an importer and a panel that are added to a copy of the project, in the
files named and no others, work."""

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
ABSDIFF = "    Ops.ABSDIFF: lambda a, b: np.abs(a - b),\n"
OP_RULE = """
@rule(UPat(Ops.ABSDIFF, src=(UPat.var("x"), UPat.var("y"))))
def by_choice(ctx: Target, x: UOp, y: UOp) -> UOp | None:
    \"\"\"absdiff(x, y) -> x < y ? y - x : x - y\"\"\"
    return (x < y).where(y - x, x - y) if Ops.ABSDIFF not in ctx.ops else None


"""
USE_OP = """
import viz
from core import Tensor
from core.compile import sources_for
from core.dtype import dtypes
from core.target import targets
from core.tensor.elements.elementwise import binary
from core.uop import Ops, UOp
from core.uop.facts.meaning import evaluate
from viz.views.store import Store


def absdiff(a, b):
    return binary(a, Ops.ABSDIFF, b)


assert evaluate(Ops.ABSDIFF, dtypes.int32, (3, -5)) == 8
folded = UOp.const(dtypes.int32, 3).alu(Ops.ABSDIFF, UOp.const(dtypes.int32, -5)).simplify()
assert folded.op is Ops.CONST and folded.arg == 8
for device in ("CPU", "REFERENCE"):
    a, b = (Tensor(x, device=device) for x in ([1, -9, 4], [5, -2, 4]))
    with viz.record("t.viz"):
        assert absdiff(a, b).tolist() == [4, 7, 0]
store = Store("t.viz")
assert store.run()["dialect"]["ops"]["ABSDIFF"]["group"] == "arithmetic"
kernel = absdiff(Tensor([1, 2]), Tensor([2, 0])).schedule()[-1].ast
for name in ("sm_90", "gfx942", "x86-64"):
    assert sources_for(kernel, targets[name])
"""
COMMAND = """
\"\"\"`uopviz longest`: the pass with the most steps.\"\"\"

from __future__ import annotations

import argparse

from viz.command.session import open_store, put


def longest(options: argparse.Namespace) -> int:
    \"\"\"Prints its name and how many there are.\"\"\"
    rows = [row for row in open_store(options).tree()["rows"] if row["kind"] == "rewrite"]
    row = max(rows, key=lambda row: row["steps"])
    return put(options, row, [f"{row['name']}: {row['steps']}"])
"""
ARGUMENTS = """
    made = command("longest", "longest:longest", "print the pass with the most steps")
    printing(made)
"""
USE_COMMAND = """
import contextlib, io, json
import viz
from core.uop import UOp
from viz.cli import main

with viz.record("t.viz"):
    (UOp.variable("x", -9, 9) + 0).simplify()
said = io.StringIO()
with contextlib.redirect_stdout(said):
    assert main(["longest", "t.viz", "--json"]) == 0
assert json.loads(said.getvalue())["steps"] == 1
with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
    main(["--help"])
assert "print the pass with the most steps" in said.getvalue()
"""
DIALECT = """
from viz.dialect.dialect import Dialect, Op

DIALECT = Dialect(name="mycc", title="mycc", ops={"mul": Op(group="arithmetic", commutes=True)})
"""
IMPORTER = """
import sys
from pathlib import Path

import viz

info = {"command": ["mycc"], "dialect": {"name": "mycc", "version": 1}}
with viz.TraceWriter(sys.argv[2], info) as t:
    states = [line.split() for line in Path(sys.argv[1]).read_text().splitlines()]
    nodes = [t.node(op, "int", tuple(t.node("leaf", "int", arg=x) for x in args))
             for op, *args in states]
    fold = t.rewrite_begin("fold", nodes[0])
    for before, after in zip(nodes, nodes[1:]):
        t.match(fold, t.rule("step"), before, after, {}, ns=1)
    t.rewrite_end(fold, nodes[-1])
"""
USE_IMPORTER = """
import runpy, sys
from pathlib import Path
from viz.cli import main
from viz.views.store import Store

Path("dump.txt").write_text("mul a b\\nmul b a\\nadd b a\\n")
sys.argv = ["importer", "dump.txt", "t.viz"]
runpy.run_path("mycc/importer.py")
assert main(["show", "t.viz", "--dialect", "mycc/dialect.py", "--tree"]) == 0
run = Store("t.viz").run()
assert run["problems"] == [] and run["totals"]["steps"] == 2
assert run["dialect"]["ops"] == {"mul": {"group": "arithmetic", "commutes": True}}
"""
PANEL = """/** The toy panel, in the inspector's place. */
import type { Panel } from "../../parts/panel";
import { ToyView } from "./ToyView";

export const toyPanel: Panel = {
  id: "toy",
  title: "Toy",
  place: "act",
  component: ToyView,
  commands: [
    { id: "toy-hello", title: "Say hello", group: "Page", keys: [], run: () => undefined },
  ],
};
"""
PANEL_VIEW = """/** Says which run is open. */
import { run } from "../../state/state";

export function ToyView() {
  return <span class="toy">{run.value?.name}</span>;
}
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


def test_an_op_is_five_files(copied: Path) -> None:
    core = copied / "core"
    for file, old, new in (
        ("uop/ops.py", "    MAX = auto()\n", "    ABSDIFF = auto()\n"),
        ("uop/ops.py", "            Ops.MAX,\n            Ops.POW", "            Ops.ABSDIFF,\n"),
        (
            "uop/facts/meaning.py",
            "    Ops.MULACC: m",
            "    Ops.ABSDIFF: lambda a, b: abs(a - b),\n",
        ),
        ("uop/facts/meaning_arrays.py", "    Ops.NEG: np.negative,\n    Ops.SUB", ABSDIFF),
        ("passes/decompose/replace.py", "@rule(UPat(Ops.CMPEQ, src", OP_RULE),
        ("passes/decompose/replace.py", "        equal_by_unequal,\n", "        by_choice,\n"),
    ):
        edit(core / file, old, new + old)
    edit(core / "target.py", " - _transcendental) |", " - _transcendental - {Ops.ABSDIFF}) |")
    run(copied, USE_OP)


def test_a_command_is_two_files(copied: Path) -> None:
    (copied / "viz/command" / "longest.py").write_text(COMMAND.lstrip())
    line = '    made = command("graph",'
    edit(copied / "viz/command/line/parser.py", line, ARGUMENTS + "\n" + line)
    run(copied, USE_COMMAND)


def test_an_importer_is_one_folder(copied: Path) -> None:
    """Beside the packages, in which nothing is changed."""
    folder = copied / "mycc"
    folder.mkdir()
    (folder / "dialect.py").write_text(DIALECT.lstrip())
    (folder / "importer.py").write_text(IMPORTER.lstrip())
    run(copied, USE_IMPORTER)


def test_a_panel_is_a_folder_and_a_line(tmp_path: Path) -> None:
    """In a copy of the page: it is of the types that the page asks for, in the list of panels, and
    the rooms of the page stay as they should be."""
    web = tmp_path / "web"
    ignored = shutil.ignore_patterns("node_modules", "dist")
    shutil.copytree(ROOT / "viz/web", web, ignore=ignored)
    (web / "node_modules").symlink_to(ROOT / "viz/web/node_modules")
    folder = web / "src/panels/toy"
    folder.mkdir()
    (folder / "panel.ts").write_text(PANEL)
    (folder / "ToyView.tsx").write_text(PANEL_VIEW)
    panels = web / "src/shell/panels.ts"
    edit(
        panels,
        "import { workbenchPanel }",
        'import { toyPanel } from "../panels/toy/panel";\nimport { workbenchPanel }',
    )
    edit(panels, "  statusPanel,\n]", "  statusPanel,\n  toyPanel,\n]")
    for command in (["tsc", "--noEmit"], ["vitest", "run", "test/layers.test.ts"]):
        tool = web / "node_modules/.bin" / command[0]
        made = subprocess.run(
            [tool, *command[1:]], cwd=web, capture_output=True, text=True, check=False
        )
        assert made.returncode == 0, made.stdout[-3000:]
