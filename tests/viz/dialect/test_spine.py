"""Without the adapter of `core`, and without `core` but for what both packages stand on, all that
reads and shows traces does so for a trace of another compiler."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.test_layers import MODULES, ROOT, SHARED, SPINE, module_name, within

SCRIPT = """
import importlib, importlib.abc, json, sys
from pathlib import Path

modules, shared, folder, page = json.loads(sys.argv[1])
PACKAGES = {"core", *(name.rpartition(".")[0] for name in shared)}


class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.startswith("viz.coredialect"):
            raise ImportError(f"{name} is removed")
        if name.startswith("core.") and name not in shared and name not in PACKAGES:
            if name != "core.observers":  # what a program under VIZ=1 starts with
                raise ImportError(f"{name} is removed")


sys.meta_path.insert(0, Blocked())
for module in modules:
    importlib.import_module(module)

from viz.compare.comparison import Comparison
from viz.share.copy import write_trace
from viz.share.html import export_html
from viz.share.reopened import open_run
from viz.views.answers import ANSWERS, OVERVIEW, SEARCH
from viz.views.store import Store
from viz.write.writer import TraceWriter

paths = [Path(folder) / f"{name}.viz" for name in "ab"]
for path, value in zip(paths, ("2", "3")):
    with TraceWriter(path, {"command": ["mycc"], "ended": 1.0}) as t:
        kernel = t.context_begin("k", "kernel")
        x, y = t.node("CONST", "int32", arg="-7"), t.node("CONST", "int32", arg=value)
        z = t.node("IDIV", "int32", (x, y), origin="a.c:1 div")
        rewrite = t.rewrite_begin("fold", z, context=kernel)
        t.match(rewrite, t.rule("r"), z, x, {}, ns=1)
        t.rewrite_end(rewrite, x)
        t.kernel(kernel, "k", target="dsp", ast=z)
        t.artifact(kernel, "asm", "dsp", f"div {value}\\n", lines=[(z,)])
        t.context_end(kernel)
a, b = map(Store, paths)
assert a.run()["problems"] == []
assert a.bundle(2)["nodes"]["lo"] == ["", "", ""]
assert a.ask(SEARCH, "IDIV(_, CONST -7)")["total"] == 0
assert a.ask(SEARCH, "IDIV(CONST -7, _)")["total"] == 1
assert a.ask(OVERVIEW)["kernels"] and a.kernel(1)["artifacts"][0]["text"] == "div 2\\n"
found = Comparison(a, b).compared()
assert len(found.pairs) == 1 and found.overview
write_trace(a, Path(folder) / "copy.viz")
html = export_html(a, page=Path(page)).html
(Path(folder) / "a.html").write_text(html)
held = open_run(Path(folder) / "a.html")
assert held.bundle(2)["ops"] == a.bundle(2)["ops"]
old = Path(folder) / "core.viz"
TraceWriter(old, {"compiler": "uopviz", "ended": 1.0}).close()
(problem,) = Store(old).run()["problems"]
assert "uopviz 1, cannot be loaded" in problem["what"], problem
print("shown")
"""


def test_the_spine_shows_a_foreign_trace_without_core(tmp_path: Path, dist: Path) -> None:
    names = [module_name(path) for path in MODULES]
    spine = [name for name in names if within(name, SPINE)]
    assert len(spine) > 100
    given = json.dumps([spine, SHARED, str(tmp_path), str(dist)])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, given], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert (done.stdout, done.returncode) == ("shown\n", 0), done.stderr[-3000:]
