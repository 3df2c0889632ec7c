"""Traces that are not of this tree any more, or never were: what the page says, and what it leaves
alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import expect

from tests.browser.explorer import Explorer
from tests.browser.served import ROOT, environment, export, serve
from tests.states.scenes import foreign

New = Callable[..., Explorer]
RULES: Final = '''from core import UOp
from core.uop import PatternMatcher, UPat, rule


@rule(UPat.var("x") + 0)
def drop_zero(x: UOp) -> UOp:
    """x + 0 -> x"""
    return x


mine = PatternMatcher([drop_zero], name="mine")
'''
PROGRAM: Final = """from core import Tensor, UOp
from core.uop import graph_rewrite
from myrules import mine

graph_rewrite(UOp.sink(UOp.variable("a", 0, 9) + 0), mine, name="my pass")
(Tensor.ones(4).contiguous() + 2).realize()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A program with rules of its own."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "myrules.py").write_text(RULES)
    (folder / "program.py").write_text(PROGRAM)
    return folder


@pytest.fixture
def trace(project: Path, tmp_path: Path) -> Path:
    path = tmp_path / "run.viz"
    setting = environment(VIZ="-1", VIZ_TRACE=str(path))
    setting["PYTHONPATH"] = os.pathsep.join((str(ROOT), str(project)))
    command = [sys.executable, "program.py"]
    done = subprocess.run(command, env=setting, cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return path


def noted(trace: Path, copy: Path, **meta: Any) -> Path:
    """A copy of a trace that says other things of where it was made."""
    shutil.copyfile(trace, copy)
    with sqlite3.connect(copy) as database:
        for key, change in meta.items():
            (text,) = database.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
            value = json.dumps(json.loads(text) | change)
            database.execute("UPDATE meta SET value = ? WHERE key = ?", (value, key))
    database.close()
    return copy


def shown(trace: Path) -> str:
    """`uopviz show TRACE`."""
    command = [sys.executable, "-m", "viz", "show", str(trace)]
    done = subprocess.run(command, env=environment(), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def change(project: Path) -> None:
    """The rule has another text, some lines further down; the program is gone."""
    text = RULES.replace("return x", "return x.src[0] if x.src else x")
    (project / "myrules.py").write_text("# one\n# two\n" + text)
    (project / "program.py").unlink()


def test_what_has_changed_is_said_where_it_matters(
    new_page: New, project: Path, trace: Path
) -> None:
    with serve(trace) as server:
        e = new_page(sources=True)
        e.page.goto(server.url)
        lines = e.page.get_by_role("region", name="Your lines")
        expect(lines).to_contain_text("realize")
        e.page.wait_for_timeout(800)
        expect(e.page.get_by_role("list", name="Since the run")).to_have_count(0)
        change(project)
        e.page.evaluate("dispatchEvent(new Event('focus'))")  # back from the editor
        notes = e.page.get_by_role("list", name="Since the run")
        expect(notes).to_contain_text("rule drop_zero has changed since the run")
        expect(notes).to_contain_text("program.py is gone")
        expect(lines).to_contain_text("file gone since")
        (mine,) = (row["id"] for row in server.rows() if row["name"] == "my pass")
        e.page.goto(f"{server.url}#v=graphs&r={mine}&k=1")
        expect(e.inspector).to_contain_text("changed since the run, now at line 7")
        expect(e.inspector.locator(".snip")).to_contain_text("return x")
        kernel = next(row for row in server.rows() if row["label"] == "kernel")
        first = next(r for r in server.rows() if r["parent"] == kernel["row"])
        e.page.goto(f"{server.url}#v=graphs&r={first['id']}")
        python = e.sources.get_by_role("region", name="Python")
        expect(python).to_contain_text("file gone since")
        expect(python.locator(".ed")).to_contain_text("Tensor.ones")
    said = shown(trace)
    assert "note: rule drop_zero has changed since the run" in said
    assert "note: program.py is gone" in said


def test_an_exported_file_says_what_had_changed_by_then(
    new_page: New, project: Path, trace: Path, tmp_path: Path
) -> None:
    change(project)
    file = export(trace, tmp_path / "run.html")
    shutil.rmtree(project)
    e = new_page()
    e.page.goto(file.as_uri())
    notes = e.page.get_by_role("list", name="Since the run")
    expect(notes).to_contain_text("rule drop_zero has changed since the run")
    expect(notes).not_to_contain_text("compiled here")
    e.page.goto(f"{file.as_uri()}#v=graphs&r=1&k=1")
    expect(e.inspector).to_contain_text("when this file was exported at line 7")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("meta", "sentence"),
    [
        ({"versions": {"uopviz": "0.0.1"}}, "recorded with uopviz 0.0.1"),
        ({"process": {"host": "far away"}}, "recorded elsewhere"),
    ],
)
def test_what_was_made_elsewhere_is_not_compiled_unasked(
    new_page: New, trace: Path, tmp_path: Path, meta: dict[str, Any], sentence: str
) -> None:
    path = noted(trace, tmp_path / "other.viz", **meta)
    assert f"note: {sentence}" in shown(path)
    with serve(path) as server:
        e = new_page(sources=True)
        asked: list[str] = []
        e.page.on("request", lambda r: asked.append(r.url) if r.method == "POST" else None)
        e.page.goto(server.url)
        expect(e.page.get_by_role("list", name="Since the run")).to_contain_text(sentence)
        kernel = next(row for row in server.rows() if row["label"] == "kernel")
        first = next(r for r in server.rows() if r["parent"] == kernel["row"])
        e.page.goto(f"{server.url}#v=graphs&r={first['id']}")
        columns = e.sources.locator(".col")
        expect(columns.filter(has_text="LLVM IR")).to_have_count(1)
        e.page.wait_for_timeout(1500)
        assert asked == []
        expect(columns.filter(has_text="sm_90")).to_have_count(0)
        item = e.sources.get_by_role("button", name="PTX for sm_90", exact=True)
        expect(item).to_have_attribute("title", re.compile("compiled here, by uopviz"))
        item.click()
        expect(columns.filter(has_text="sm_90").locator(".ed")).to_contain_text(
            ".version", timeout=60_000
        )
        assert len(asked) == 1


def test_a_run_of_another_compiler_shows_its_own_texts(new_page: New, tmp_path: Path) -> None:
    path = foreign(tmp_path / "foreign.viz")
    said = shown(path)
    assert "note: recorded by another compiler, not by uopviz" in said
    assert "problem" not in said and "damaged" not in said
    with serve(path) as server:
        file = export(path, tmp_path / "foreign.html")
        for url in (server.url, file.as_uri()):
            e = new_page(sources=True)
            e.page.goto(url)
            notes = e.page.get_by_role("list", name="Since the run")
            expect(notes).to_contain_text("recorded by another compiler")
            e.page.goto(f"{url}#v=graphs&r=2&k=1")
            expect(e.sources.locator(".col").first).to_contain_text("mlir")
            expect(e.sources.locator(".col")).to_have_count(1)
            expect(e.subject.get_by_role("button", name="Run", exact=True)).to_have_count(0)
            e.page.goto("about:blank")
