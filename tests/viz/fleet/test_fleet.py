"""Many runs as tables: they say what the traces say, whatever happens to a packer; planted changes
are found, and no others."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import viz
from core.errors import TraceError
from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from tests.viz.samples import random_graph, rules
from tests.viz.test_json import SHAPES
from viz.api.run import open as open_run
from viz.cli import main
from viz.fleet import asking, packing
from viz.fleet.changes import changes
from viz.fleet.folder import LocalFolder
from viz.fleet.layout import TABLES
from viz.fleet.packing import Done, traces_in
from viz.fleet.since import commits_of
from viz.format import schema
from viz.write.writer import TraceWriter


def pack(paths: list[Path], folder: Path) -> Done:
    return packing.pack(paths, LocalFolder(folder))


def ask(folder: Path, sql: str, seconds: float = 60.0) -> tuple[list[str], list[tuple[Any, ...]]]:
    return asking.ask(LocalFolder(folder), sql, seconds)


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("traces")
    made: list[Path] = []
    for i in range(5):
        made.append(folder / f"run{i}.viz")
        with viz.record(made[-1]):
            graph_rewrite(random_graph(i), rules, name="tidy")
            for k in range(2):
                with context(f"kernel_{k}", "kernel"):
                    graph_rewrite(random_graph(10 * i + k), rules, name="simplify")
    return made


def test_tables_say_what_the_traces_say(traces: list[Path], tmp_path: Path) -> None:
    done = pack(traces, tmp_path / "runs")
    assert (done.packed, done.failed) == (5, [])
    wanted: list[tuple[Any, ...]] = []
    for path in traces:
        with open_run(path) as run:
            kernels = {p.number: k.name for k in run.kernels for p in k.passes}
            for step in run.matches():
                number = step.rewrite.number
                wanted.append(
                    (
                        path.name,
                        step.rule.name,
                        kernels.get(number, ""),
                        number,
                        step.number,
                        step.us,
                    )
                )
    sql = (
        "SELECT r.file, m.rule, m.kernel, m.pass, m.step, m.us FROM matches m"
        " JOIN runs r ON r.run_id = m.run_id"
    )
    assert sorted(ask(tmp_path / "runs", sql)[1]) == sorted(wanted)
    assert done.matches == len(wanted)
    counted = ask(tmp_path / "runs", "SELECT sum(matches) FROM rules")[1]
    assert counted == [(len(wanted),)]


def test_a_run_packed_twice_is_one(traces: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    assert pack(traces[:3], folder).packed == 3
    shutil.copy(traces[0], tmp_path / "renamed.viz")
    again = pack([*traces, tmp_path / "renamed.viz"], folder)
    assert (again.packed, again.known) == (2, 4)
    assert ask(folder, "SELECT count(*), count(DISTINCT run_id) FROM runs")[1] == [(5, 5)]


@pytest.mark.parametrize("at", range(len(TABLES)))
def test_a_packer_that_is_ended_leaves_nothing_half(
    traces: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    folder, left = tmp_path / "runs", [at]
    pack(traces[:2], folder)
    write = packing.write_table

    def ended(*arguments: Any) -> int:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return write(*arguments)

    monkeypatch.setattr(packing, "write_table", ended)
    with pytest.raises(KeyboardInterrupt):
        pack(traces, folder)
    monkeypatch.undo()
    count = "SELECT count(DISTINCT run_id) FROM "
    assert ask(folder, count + "runs")[1] == ask(folder, count + "matches")[1] == [(2,)]
    assert pack(traces, folder).packed == 3
    assert ask(folder, count + "runs")[1] == ask(folder, count + "matches")[1] == [(5,)]
    single = tmp_path / "single"
    pack(traces, single)
    total = "SELECT count(*) FROM matches"
    assert ask(folder, total) == ask(single, total)


def test_two_packers_at_once(traces: list[Path], tmp_path: Path) -> None:
    threads = [
        threading.Thread(target=pack, args=(part, tmp_path / "runs"))
        for part in (traces[:4], traces[1:], traces)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ask(tmp_path / "runs", "SELECT count(*), count(DISTINCT run_id) FROM runs")[1] == [
        (5, 5)
    ]


def test_bad_input_is_counted_and_the_rest_is_packed(traces: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    shutil.copy(traces[0], folder / "good.viz")
    (folder / "none.viz").write_text("no trace")
    (folder / "cut.viz").write_bytes(traces[1].read_bytes()[:3000])
    (folder / "other.txt").write_text("not meant")
    for name, change in (
        ("newer", f"PRAGMA user_version = {schema.VERSION + 1}"),
        ("damaged", "UPDATE blocks SET data = x'00'"),
    ):
        shutil.copy(traces[2], folder / f"{name}.viz")
        with closing(sqlite3.connect(folder / f"{name}.viz")) as db, db:
            db.execute(change)
    with viz.record(folder / "live.viz"):
        done = pack(traces_in([folder]), tmp_path / "runs")
    assert done.packed == 1
    failed = {Path(file).stem: what for file, what in done.failed}
    assert [*failed] == ["cut", "damaged", "live", "newer", "none"]
    assert "newer than" in failed["newer"] and "goes on" in failed["live"]
    assert ask(tmp_path / "runs", "SELECT file FROM runs")[1] == [("good.viz",)]
    with pytest.raises(TraceError, match="no such file or folder"):
        traces_in([tmp_path / "nowhere"])
    (tmp_path / "file").write_text("")
    with pytest.raises(TraceError, match="cannot be written"):
        pack(traces[:1], tmp_path / "file")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM glob('/*')",
        "COPY runs TO 'stolen.csv'",
        "CREATE TABLE x AS SELECT 1",
        "ATTACH 'x.db' AS x",
        "INSTALL httpfs",
        "SET memory_limit = '1TB'",
        "PRAGMA database_list",
        "SELECT 1; SELECT 2",
        "SELECT * FROM read_parquet('s3://bucket/x')",
        "SELECT getenv('HOME')",
        "nonsense",
        "",
    ],
)
def test_hostile_sql(traces: list[Path], tmp_path: Path, sql: str) -> None:
    folder = tmp_path / "runs"
    pack(traces[:1], folder)
    before = sorted(path for path in tmp_path.rglob("*"))
    with pytest.raises(TraceError):
        ask(folder, sql)
    assert sorted(path for path in tmp_path.rglob("*")) == before


def test_values_are_plain(traces: list[Path], tmp_path: Path) -> None:
    pack(traces[:1], tmp_path / "runs")
    sql = "SELECT date > '2000-01-01', DATE '2026-01-31', 1.5::DECIMAL(4, 1), [1], NULL FROM runs"
    assert ask(tmp_path / "runs", sql)[1] == [(True, "2026-01-31", 1.5, "[1]", None)]


def test_a_query_has_an_end(traces: list[Path], tmp_path: Path) -> None:
    pack(traces[:1], tmp_path / "runs")
    slow = (
        "SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE a.range % 7 = b.range"
    )
    with pytest.raises(TraceError, match="takes more than"):
        ask(tmp_path / "runs", slow, seconds=0.2)


@pytest.mark.parametrize("seed", range(20))
def test_no_change_is_seen_in_noise(seed: int) -> None:
    choose = random.Random(seed)
    series = [[choose.lognormvariate(5, 0.3) for _ in range(20)] for _ in range(50)]
    assert changes(series) == []


@pytest.mark.parametrize("seed", range(10))
def test_planted_changes_are_found(seed: int) -> None:
    choose = random.Random(seed)
    first, second = choose.randrange(3, 20), choose.randrange(25, 47)
    level = [100 if c < first else 140 if c < second else 90 for c in range(50)]
    series = [[choose.gauss(x, 5) for _ in range(20)] for x in level]
    found = changes(series)
    assert [change.at for change in found] == [first, second]
    for change, ratio in zip(found, (1.4, 90 / 140), strict=True):
        assert change.low <= change.ratio <= change.high
        assert abs(change.ratio - ratio) < 0.05


@pytest.mark.parametrize("seed", range(10))
def test_a_change_is_where_it_is_planted_whatever_its_size(seed: int) -> None:
    choose = random.Random(seed)
    for factor in (0.05, 1.5, 12.0):
        level = [300.0 if commit < 7 else 300.0 * factor for commit in range(50)]
        series = [[x * choose.lognormvariate(0, 0.18) for _ in range(5)] for x in level]
        (change,) = changes(series)
        assert change.first <= 7 <= change.last
        assert change.at == 7 or factor == 1.5  # one commit has 5 runs


def test_outliers_that_come_together_are_no_change() -> None:
    choose = random.Random(0)

    def value() -> float:
        return 25_000.0 if choose.random() < 0.2 else choose.lognormvariate(7, 0.2)

    for _ in range(100):
        series = [[value() for _ in range(3)] for _ in range(30)]
        series[-1] = [25_000.0, 25_001.0, value()]
        assert changes(series) == []


def test_two_runs_that_agree_are_no_change() -> None:
    choose = random.Random(0)
    for _ in range(300):
        series = [[choose.lognormvariate(5, 0.2) for _ in range(4)] for _ in range(20)]
        series[0] = [140.0, 140.1]
        assert changes(series) == []


def test_figures_with_noise_are_told_of_the_commit_that_exact_ones_name() -> None:
    exact, noisy, other, late = (25, 25, 25), (23, 24, 27), (30, 33, 41), (24, 26, 26)
    assert commits_of([noisy, exact, other, late]) == [25, 25, 33, 25]
    assert commits_of([noisy, late]) == [26, 26]
    assert commits_of([]) == []


def write_run(path: Path, commit: int, run: int, choose: random.Random) -> None:
    """A run of a compiler whose commits 3, 5 and 6 change something."""
    started = f"2026-01-01T{commit:02}:{run:02}:00+00:00"
    meta = {"command": ["cc", "a.c"], "commit": {"id": f"commit{commit}"}, "started": started}
    with TraceWriter(path, meta) as t:
        names = ["fold", "sink", "gone"] if commit < 5 else ["fold", "sink"]
        made = {name: t.rule(name, file="rules.py", line=1) for name in names}
        for number in range(2 if commit < 6 else 3):
            kernel = t.context_begin(f"kernel_{number}", "kernel")
            node = t.node("load", "i32", arg=f'"{number}"')
            rewrite = t.rewrite_begin("simplify", node, context=kernel)
            for name in names:
                for _ in range(4 if name == "sink" and commit >= 3 else 2):
                    after = t.node("add", "i32", [node], arg=str(choose.random()))
                    t.match(rewrite, made[name], node, after, {}, 1000)
                    node = after
            t.rewrite_end(rewrite, node)
            t.context_end(kernel)


def test_commits_that_changed_something_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    choose = random.Random(1)
    folder = tmp_path / "traces"
    folder.mkdir()
    for commit in range(9):
        for run in range(4):
            write_run(folder / f"c{commit}-{run}.viz", commit, run, choose)
    to = str(tmp_path / "runs")
    assert main(["pack", str(folder), "--to", to, "--json"]) == 0
    assert SHAPES.problems(json.loads(capsys.readouterr().out), "PackedRuns") == []
    metrics = ["--metric", "rule-matches", "--metric", "kernels"]
    assert main(["since", to, *metrics, "--json", "--fail-on", "kernels"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert SHAPES.problems(said, "SinceCommits") == []
    found = {(one["metric"], one["of"], one["commit"]) for one in said["changes"]}
    assert ("rule-matches", "sink", "commit3") in found
    assert ("rule-matches", "gone", "commit5") in found
    assert {(metric, at) for metric, _, at in found if metric == "kernels"} == {
        ("kernels", "commit6")
    }
    assert {at for _, _, at in found} == {"commit3", "commit5", "commit6"}
    html = tmp_path / "changes.html"
    named = ["--metric", "rule-matches", "--fail-on", "kernels", "--html", str(html)]
    assert main(["since", to, *named]) == 0
    assert "commit3" in capsys.readouterr().out and "commit3" in html.read_text()
    assert main(["since", to, *named]) == 0, "an earlier report is replaced"
    html.write_text("something else")
    assert main(["since", to, *named]) == 2
    assert html.read_text() == "something else"
    capsys.readouterr()
    assert main(["query", to, "SELECT count(*) FROM runs"]) == 0
    assert "36" in capsys.readouterr().out
    assert main(["pack", "--to", to, "--drop-before", "2026-01-02"]) == 0
    assert main(["query", to, "SELECT 1"]) == 2
