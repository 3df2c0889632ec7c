"""Without the adapter of `core`, and without `core` but for what both packages stand on, all that
reads, shows and serves traces does so for a trace of another compiler."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.test_layers import ADAPTERS, MODULES, ROOT, SHARED, SPINE, module_name, within

SCRIPT = """
import importlib, importlib.abc, json, sys, time
from pathlib import Path

modules, shared, removed, folder, page = json.loads(sys.argv[1])
PACKAGES = {"core", *(name.rpartition(".")[0] for name in shared)}


class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if ".".join(name.split(".")[:2]) in removed:
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

from viz.share import webpage
webpage.DIST = Path(page)
from viz.server.app import create_app
from viz.server.security import HEADER, Guard

app = create_app(a, Guard("secret", 4711), [b])
client, state = app.test_client(), app.extensions["uopviz"]
base = {"base_url": "http://127.0.0.1:4711", "headers": {HEADER: "secret"}}


def get(path):
    answer = client.get(f"/api/{path}", **base)
    assert answer.status_code == 200, (path, answer.text)
    return answer.get_json()


run = get("A/run")
assert run["devices"] == run["targets"] == [] and "a.viz" in run["again"]
for asked in ANSWERS:
    values = [{"q": "div", "action": "none"}.get(p.name, kernel) for p in asked.parameters]
    status = client.get(f"/api/A{asked.at(*values)}", **base).status_code
    assert status in (200, 400, 404), asked.name
assert get("A/rewrites/2")["nodes"]["lo"] == ["", "", ""]
assert get(f"A/kernels/{kernel}")["artifacts"][0]["text"] == "div 2\\n"
assert get("A/search?q=IDIV")["total"] >= 1
assert get("compare/A/B")["done"] is True
asked = client.post(f"/api/A/kernels/{kernel}/compile", json={"target": "sm_90"}, **base)
assert asked.status_code in (404, 405)
job = client.post("/api/export", json={"runs": ["A", "B"]}, **base).get_json()["job"]
while (said := get(f"jobs/{job}"))["state"] == "running":
    time.sleep(0.05)
assert said["state"] == "done", said
exported = client.get(f"/api/export/{job}", **base)
assert exported.status_code == 200 and len(exported.data) > 1000
state.close()

from viz.cli import main

(Path(folder) / "out").mkdir()
for words in (
    ["show", str(paths[0])],
    ["show", str(paths[0]), "2", "1"],
    ["stats", str(paths[0])],
    ["query", str(paths[0]), "SELECT count(*) FROM nodes"],
    ["export", str(paths[0]), "-o", f"{folder}/out/a.html"],
    ["diff", str(paths[0]), str(paths[0])],
):
    assert main(words) == 0, words
assert main(["diff", *map(str, paths)]) == 1
print("shown", file=sys.__stderr__)
"""


def test_the_spine_shows_a_foreign_trace_without_core(tmp_path: Path, dist: Path) -> None:
    names = [module_name(path) for path in MODULES]
    spine = [name for name in names if within(name, SPINE) and not within(name, ("viz.tap.site",))]
    assert len(spine) > 100
    rooms = {".".join(where.split(".")[:2]) for where in ADAPTERS if where} - {"viz.compilers"}
    of_core = {"viz.coredialect", "viz.coreserver", "viz.corecommand", "viz.work"}
    assert rooms == of_core | {"viz.foreign"}
    given = json.dumps([spine, SHARED, sorted(rooms), str(tmp_path), str(dist)])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, given], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.stderr.endswith("shown\n") and done.returncode == 0, done.stderr[-3000:]
