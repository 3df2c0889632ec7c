"""What the commands print, and that --json is as documented; the folder of variants elsewhere."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.viz.test_json import SHAPES
from tests.viz.whatif.running import Here, kernel_named, record
from viz.cli import main
from viz.compare.folders import traces_of
from viz.corecommand.bisect import bisect_lines
from viz.corecommand.replay import replay_lines
from viz.corecommand.whatif import attempt_lines, variant_lines
from viz.environment import prune
from viz.terminal import Line, plain
from viz.views.store import Store
from viz.whatif.attempt import attempt
from viz.whatif.bisect import bisect
from viz.whatif.changed import Changed
from viz.whatif.replay import replay
from viz.whatif.variants.tried import folder_of, keep
from viz.whatif.variants.variant import Variant


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    record(tmp_path / "run.viz")
    made = Store(tmp_path / "run.viz")
    yield made
    made.close()


def text(lines: Iterator[Line]) -> str:
    return "\n".join(map(plain, lines))


def test_a_variant_is_printed(store: Store) -> None:
    made = attempt(store, kernel_named(store, "r_"), Variant(opts=""), executor=Here())
    assert SHAPES.problems(made, "WhatIf") == []
    said = text(attempt_lines(made))
    assert ": no opts\n" in said
    assert "agrees with the reference" in said
    assert "95% interval" in said
    assert "the llvm text differs" in said
    assert "kept as variant 1" in said
    failed = attempt(
        store, kernel_named(store, "r_"), Variant(skip=("reduce_in_loop",)), executor=Here()
    )
    assert SHAPES.problems(failed, "WhatIf") == []
    assert "pass reduce cannot do without what was changed" in text(attempt_lines(failed))


def test_variants_in_a_table(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    attempt(store, kernel_named(store, "r_"), Variant(opts=""), executor=Here())
    attempt(store, kernel_named(store, "E_"), Variant(skip=("reduce_in_loop",)), executor=Here())
    capsys.readouterr()  # how far the work was
    keep(store.path, 1, "k", {"variant": 3, "times": [], "error": {"what": "\x1b[2J"}}, b"")
    assert main(["variants", str(store.path)]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert "no opts" in rows[1] and rows[1].endswith("right")
    assert "without reduce_in_loop" in rows[2]
    assert "\x1b" not in rows[3]
    assert main(["variants", str(store.path), "--kernel", "r_"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert "no variant of it was tried" in text(variant_lines([]))


def test_a_search_is_printed(store: Store) -> None:
    kernel = kernel_named(store, "r_")
    right = bisect(store, kernel, executor=Here())
    assert SHAPES.problems(right, "Bisection") == []
    assert "agrees with the reference" in text(bisect_lines(right, Path("run.viz")))
    failed = bisect(store, kernel, Variant(skip=("reduce_in_loop",)), executor=Here())
    assert SHAPES.problems(failed, "Bisection") == []
    assert "reduce fails\n" in text(bisect_lines(failed, Path("run.viz")))
    match: dict[str, Any] = {
        "rule": {"name": "a_rule", "file": "a.py", "line": 3, "equation": "x -> y"},
        "rewrite": "simplify", "occurrence": 1, "step": 2, "inside": True,
        "before": ["u0 = CONST()"], "after": ["u0 = CONST() arg=1"],
    }  # fmt: skip
    culprit = {"pass": "simplify: lower", "match": match, "candidates": [], "before": None,
               "after": right["outcome"], "leftOut": True}  # fmt: skip
    wrong = {**right, "wrong": True, "culprit": culprit, "inTrace": {"rewrite": 7, "step": 2}}
    assert SHAPES.problems(wrong, "Bisection") == []
    said = text(bisect_lines(wrong, Path("run.viz")))
    assert "made wrong by a_rule, in pass simplify: lower" in said
    assert "`uopviz show run.viz 7 2`, inside another match" in said
    assert "found by leaving the rule out" in said
    assert re.search(r"^ *rule +x -> y$", said, re.MULTILINE)
    match["rule"]["equation"] = ""  # rules of other compilers state none
    assert not re.search(r"^ *rule *$", text(bisect_lines(wrong, Path("run.viz"))), re.MULTILINE)
    several = {**wrong, "culprit": {**culprit, "match": None, "candidates": ["one", "two"]}}
    assert "one of these rules" in text(bisect_lines(several, Path("run.viz")))
    code = {**wrong, "culprit": {**culprit, "match": None}}
    assert "no rule did it" in text(bisect_lines(code, Path("run.viz")))


def test_a_replay_is_printed(store: Store) -> None:
    made = replay(store, executor=Here())
    assert SHAPES.problems(made, "Replay") == []
    assert text(replay_lines(made, False)) == (
        "no rule of the run has changed since\n2 kernels: 2 equal"
    )
    assert "E_" in text(replay_lines(made, True))
    moved = Changed("distribute", "/x/core/uop/symbolic/index.py", 18, False)
    gone = Changed("old", "c:\\x\\index.py", 0, True)
    said = text(replay_lines({**made, "changed": [moved.data(), gone.data()]}, False))
    assert said.startswith("distribute changed, index.py:18\nold is gone from index.py\n")
    one = replay(store, kernel_named(store, "r_"), executor=Here(), keep=store.path.parent)
    assert one["kernels"][0]["state"] == "equal"
    assert (store.path.parent / "replay-1.viz").exists()


def test_the_folder_of_variants_is_part_of_its_trace(store: Store) -> None:
    attempt(store, kernel_named(store, "r_"), Variant(opts=""), running=False, executor=Here())
    folder = folder_of(store.path)
    assert [path.name for path in folder.iterdir() if path.suffix == ".viz"] == ["1.viz"]
    assert traces_of(store.path.parent) == [Path("run.viz")]
    store.close()
    os.utime(store.path, (0, 0))
    assert prune(store.path.parent, 0) == [store.path]
    assert not folder.exists()
