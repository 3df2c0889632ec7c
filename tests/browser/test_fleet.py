"""A folder of packed runs: the commit that changed a figure, the rules and kernels of all runs, a
search, and two runs side by side; by keys alone."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

import viz
from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from core.uop.uop import UOp
from tests.browser.explorer import Explorer
from tests.browser.served import serve
from tests.viz.samples import rules
from viz.fleet.folder import LocalFolder
from viz.fleet.packing import pack

RUNS, COMMITS, CHANGED = 30, 10, 6
"""From that commit on, a rule matches four times as often, and there is a kernel more."""


def commit_of(number: int) -> str:
    return f"{number:x}" * 40


def record(path: Path, commit: int, hour: int) -> None:
    """A run of a commit."""
    x = UOp.variable("x", 0, 9)
    with viz.record(path):
        for kernel in ("shared", "added") if commit >= CHANGED else ("shared",):
            with context(kernel, "kernel"):
                sums = [x * (n + 3) + 0 for n in range(8 if commit >= CHANGED else 4)]
                graph_rewrite(UOp.sink(*sums), rules, name="arithmetic")
    meta = {
        "started": f"2026-01-{commit + 1:02}T0{hour}:00:00+00:00",
        "commit": {"id": commit_of(commit), "dirty": 0},
        "name": "model.py",
    }
    with sqlite3.connect(path) as db:
        for key, value in meta.items():
            db.execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (key, json.dumps(value)))
    db.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packed runs."""
    traces, to = (tmp_path_factory.mktemp(name) for name in ("runs", "packed"))
    for number in range(RUNS):
        record(traces / f"{number:02}.viz", number * COMMITS // RUNS, number % 3)
    assert pack(sorted(traces.iterdir()), LocalFolder(to)).packed == RUNS
    return to


def told(folder: Path, sql: str) -> Sequence[tuple[Any, ...]]:
    """What DuckDB says of a table, read as the plain files that it is."""
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as db:
        return db.execute(sql.format(f"'{folder}'", folder=folder)).fetchall()


def focus(e: Explorer, key: str, wanted: Locator) -> None:
    """Presses a key until the focus is there, or in it."""
    for _ in range(16):
        e.press(key)
        if wanted.evaluate("there => there.contains(document.activeElement)"):
            return
    raise AssertionError(f"{key} does not lead there")


def test_from_a_change_to_two_runs_by_keys(new_page: Callable[..., Explorer], folder: Path) -> None:
    by_time = told(
        folder,
        "SELECT rule FROM read_parquet('{folder}/rules/*/*.parquet') GROUP BY 1"
        " ORDER BY sum(us) DESC, 1",
    )
    with serve(folder) as server:
        e = new_page()
        e.page.goto(server.url)
        main = e.page.get_by_role("main", name="Packed runs")
        expect(main.get_by_role("status")).to_have_text(f"{RUNS} runs, {COMMITS} commits")
        # all runs: the rules by their time, the kernels by how many have them
        listed = main.get_by_role("listbox", name="Rules by time")
        expect(listed.locator(".mono")).to_have_text([name for (name,) in by_time])
        kernels = main.get_by_role("listbox", name="Kernels by runs").get_by_role("option")
        expect(kernels.locator(".mono")).to_have_text(["shared", "added"])
        expect(kernels.locator("> .num")).to_have_text(["30", "12"])
        # the figure: matches of a rule, which change at one commit
        figure = main.get_by_role("region", name="A figure over the commits")
        figure.get_by_label("Figure").select_option("rule-matches")
        rule = main.get_by_role("listbox", name="Rules by time").get_by_text("add_zero")
        assert rule.count() == 1
        e.page.evaluate("location.hash += '&fn=add_zero'")
        changed = commit_of(CHANGED)[:8]
        expect(figure.locator(".chip")).to_have_text(f"◆{changed}model.py: 4 to 16")
        plot = figure.get_by_role("slider", name="Commit")
        focus(e, "F6", figure)
        focus(e, "Tab", plot)
        expect(plot).to_have_attribute("aria-valuetext", "add_zero over 10 commits, 1 change")
        for key in ("Home", *["ArrowRight"] * CHANGED, "+"):
            e.press(key)
        said = f"{changed}: model.py 16, changed here"
        expect(plot).to_have_attribute("aria-valuetext", said)
        # its runs: two of them side by side
        e.press("Enter")
        expect(main.get_by_role("status")).to_contain_text(f"3 of {RUNS} runs")
        e.press("/")
        e.page.keyboard.press("Control+a")
        e.page.keyboard.type("model.py")
        expect(main.get_by_role("status")).to_contain_text(f"30 of {RUNS} runs")
        runs = main.get_by_role("listbox", name="Runs", exact=True)
        focus(e, "Tab", runs)
        e.press("Home")
        expect(runs.locator(".cur")).to_contain_text(commit_of(COMMITS - 1)[:12])
        e.press("Space")
        expect(main).to_contain_text("mark another run to compare the two")
        e.press("End")
        expect(runs.locator(".cur")).to_contain_text(commit_of(0)[:12])
        e.press("Space")
        expect(e.page.locator("nav .tab[aria-current], nav [aria-current]")).to_contain_text(
            "Compare"
        )
        expect(e.page.get_by_role("main", name="Comparison")).to_contain_text("added")
