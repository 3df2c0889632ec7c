"""What is opened to look at the page: a run, a run that fails, a file, a server that says no."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Page

from tests.browser.hostile import empty, hostile
from tests.browser.served import (
    PROGRAMS,
    ROOT,
    Process,
    environment,
    export,
    record,
    run_live,
    serve,
)
from tests.browser.tiles import tile_places
from tests.browser.why import why_places
from tests.browser.wrong import broken_copy, recorded_with, served_by
from viz.write.writer import TraceWriter


@dataclass
class Scene:
    """An address, and what a state needs to know of what it leads to."""

    url: str
    process: Process | None = None
    facts: dict[str, Any] = field(default_factory=dict[str, Any])

    def at(self, page: Page, part: str = "") -> None:
        """Opens the address with a part behind `#`, anew."""
        page.goto("about:blank")
        page.goto(self.url + (f"#{part}" if part else ""))


def foreign(path: Path) -> Path:
    """A run of another compiler: no times, a target that nothing here compiles for."""
    with TraceWriter(path, {"command": ["mycc", "a.c"]}) as t:
        rule = t.rule("fold_constants", "fold.c", 12, equation="A(c) -> c'")
        for name in ("small", "large"):
            kernel = t.context_begin(name, "kernel", at=0, meta={"target": "dsp"})
            x, y = t.node("CONST", "i32", arg="1"), t.node("CONST", "i32", arg="2")
            a = t.node("vec.add", "i32", (x, y))
            root = t.node("func.return", "", (a,))
            step = t.rewrite_begin("fold", root, context=kernel, at=0)
            t.match(step, rule, a, t.node("CONST", "i32", arg="3"), {"c": x}, ns=0)
            t.rewrite_end(step, root, at=0)
            t.kernel(kernel, name, target="dsp", ast=root)
            t.artifact(kernel, "mlir", "dsp", f"func @{name}()\n  return\n", lines=[(root,), (a,)])
            t.context_end(kernel, at=0)
    return path


def damaged(trace: Path, path: Path) -> Path:
    """A copy of a run in which some blocks of events are noise."""
    shutil.copyfile(trace, path)
    with sqlite3.connect(path) as database:
        ids = [i for (i,) in database.execute("SELECT id FROM blocks ORDER BY id")]
        for i in ids[len(ids) // 3 : len(ids) // 3 + 2]:
            database.execute("UPDATE blocks SET data = ? WHERE id = ?", (b"noise" * 40, i))
    database.close()
    return path


def facts_of(server: Process) -> dict[str, Any]:
    """Passes and kernels of the run that show most."""
    rows = server.rows()
    kernels = {row["row"] for row in rows if row["label"] == "kernel"}
    passes = [row for row in rows if row["kind"] == "rewrite" and row["steps"] > 2]
    own = [row for row in passes if row["parent"] in kernels]
    lines = server.get("overview")["kernels"]

    def near(nodes: int, among: list[dict[str, Any]]) -> str:
        row = min(among, key=lambda row: abs(row["nodes"] - nodes))
        return f"r={row['id']}&k={max(1, row['steps'] // 2)}"

    pages = {k["context"]: server.get(f"kernel-page/{k['context']}") for k in lines[:8]}
    late = [r for r in own if r["name"].startswith(("decompose", "loadstore"))] or own
    return {
        "small": near(12, own),
        "medium": near(60, own),
        "large": near(5000, passes),
        "folded": near(700, own),
        "late": near(60, late),
        "kernel": lines[0]["context"],
        "name": lines[0]["name"],
        "opts": max(pages, key=lambda c: len(pages[c]["opts"])),
        "why": why_places(server),
        "never": next(rule["id"] for rule in server.get("rules") if not rule["matches"]),
    }


def wrong_places(server: Process) -> dict[str, Any]:
    """A step that a check calls wrong, and the first pass of a kernel whose result is."""
    rows = server.rows()
    tidy = next(row for row in rows if row["name"] == "tidy" and row["steps"])
    kernel = next(r for r in rows if r["label"] == "kernel" and r["name"].startswith("r_"))
    first = next(row for row in rows if row["parent"] == kernel["row"] and row["steps"])
    return {"step": f"r={tidy['id']}&k=2", "kernel": f"r={first['id']}&k=1"}


def _run(folder: Path) -> Path:
    """examples/digits.py, recorded once."""
    trace = folder / "digits.viz"
    return trace if trace.exists() else record(ROOT / "examples" / "digits.py", trace)


_SERVED: Final[dict[str, Callable[[Path], Path]]] = {
    "run": _run,
    "lost": _run,
    "forbidden": _run,
    "failing": lambda folder: record(PROGRAMS / "failing.py", folder / "failing.viz"),
    "tiles": lambda folder: record(PROGRAMS / "tiles.py", folder / "tiles.viz"),
    "empty": lambda folder: empty(folder / "empty.viz"),
    "damaged": lambda folder: damaged(_run(folder), folder / "damaged.viz"),
    "foreign": lambda folder: foreign(folder / "foreign.viz"),
    "hostile": lambda folder: hostile(folder / "hostile.viz"),
}
"""Scenes that are a trace, and how it is made."""


def pair(folder: Path) -> tuple[Path, Path]:
    """A program recorded twice, for PTX: as it is, and without the rule that fuses a product and a
    sum."""
    program = PROGRAMS / "compared.py"
    before, after = folder / "before.viz", folder / "after.viz"
    record(program, before, DEV="PTX:EMU")
    record(program, after, DEV="PTX:EMU", LEAVE_OUT="multiply_add")
    return before, after


@contextmanager
def scenes(folder: Path, wanted: set[str]) -> Generator[dict[str, Scene]]:
    """The wanted scenes, open until the block ends; their traces are written into `folder`."""
    made: dict[str, Scene] = {}
    with ExitStack() as stack:
        for name in sorted(wanted & set(_SERVED)):
            process = stack.enter_context(serve(_SERVED[name](folder)))
            made[name] = Scene(process.url, process)
            if name == "run":
                made[name].facts = facts_of(process)
            elif name == "tiles":
                made[name].facts = tile_places(process)
            elif name == "failing":
                passes = [row["id"] for row in process.rows() if row["kind"] == "rewrite"]
                made[name].facts = {"passes": passes}
            elif name == "forbidden":
                made[name].url = process.page
        for name, kernels in (("waiting", 0), ("live", 2)):
            if name in wanted:
                trace = folder / f"{name}.viz"
                program = stack.enter_context(run_live(PROGRAMS / "waiting.py", trace))
                for _ in range(kernels):
                    program.say("next")
                made[name] = Scene(program.url, program)
        if "start" in wanted:
            own = environment(BROWSER="true", XDG_CACHE_HOME=str(folder / "cache"))
            command = [sys.executable, "-m", "viz"]
            process = stack.enter_context(Process(command, own, errors=False))
            made["start"] = Scene(process.url, process)
        if wanted & {"pair", "alike"}:
            before, after = pair(folder)
            for name, beside in (("pair", after), ("alike", before)):
                if name in wanted:
                    copy = folder / f"{name}.viz"
                    shutil.copyfile(beside, copy)
                    process = stack.enter_context(serve(before, beside=[copy]))
                    made[name] = Scene(process.url.partition("#")[0], process)
        if "wrong" in wanted:
            trace = folder / "wrong.viz"
            if not trace.exists():
                recorded_with(broken_copy(folder / "copy"), trace)
            process = stack.enter_context(served_by(folder / "copy", trace))
            made["wrong"] = Scene(process.url, process, wrong_places(process))
        if "file" in wanted:
            made["file"] = Scene(export(_run(folder), folder / "digits.html").as_uri())
        yield made
