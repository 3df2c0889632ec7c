"""`uopviz why-not`: what it prints, and its errors."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest

import viz
from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from core.uop.uop import UOp
from tests.viz.samples import rules
from viz.cli import main
from viz.share.html import export_html
from viz.trace import Recorder
from viz.views.store import Store

X = UOp.variable("x", 0, 9)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("whynot") / "run.viz"
    recorder = Recorder(made).start()
    with context("kernel_a", "kernel"):
        graph_rewrite(UOp.sink((X * 3 + 0) - X * 3), rules, name="tidy")
    with context("kernel_b", "kernel"):
        graph_rewrite(UOp.sink(X * 2), rules, name="tidy")
    recorder.close()
    return made


def number_of(path: Path, op: str, nth: int = 0) -> str:
    """A node by its op, as a person writes it."""
    store = Store(path)
    bundle = store.bundle(next(r["id"] for r in store.tree()["rows"] if r["kind"] == "rewrite"))
    store.close()
    assert bundle is not None
    nodes = bundle["nodes"]
    found = [n for n, o in zip(nodes["id"], nodes["op"], strict=True) if bundle["ops"][o] == op]
    return f"u{found[nth]}"


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = main(["why-not", *map(str, words)])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_rule_at_a_node(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mul = number_of(path, "MUL")
    code, out, _ = run(capsys, path, "tidy", mul, "mul_one", "--kernel", "kernel_a")
    assert code == 0
    first, *rest = out.splitlines()
    assert first.startswith(f"the pattern of mul_one does not fit {mul} at u")
    assert first.endswith("expected 1, found 3")
    assert any("x * 1 -> x" in line for line in rest)
    assert any(line.split() == ["expected", "1"] for line in rest)
    code, out, _ = run(capsys, path, "tidy#1", mul, "double")
    assert code == 0
    assert out.startswith(f"the pattern of double fits {mul}; its function declined")
    assert "its function is not called again: it is not a rule of this installation" in out
    code, out, _ = run(capsys, path, "tidy#1", mul, "double", "--no-run", "--json")
    said = json.loads(out)
    assert (said["kind"], said["name"], said["notCalled"]) == ("declined", "double", None)


def test_near_misses_in_a_pass(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, path, "tidy", "mul_one", "--kernel", "kernel_a")
    assert code == 0
    assert out.startswith("mul_one in tidy: tried at ")
    assert number_of(path, "MUL") in out
    code, out, _ = run(capsys, path, "tidy#2", "mul_one", "--json")
    said = json.loads(out)
    assert (code, said["tried"], len(said["rows"])) == (0, 1, 1)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("tidy", "x5", "double"), "'x5' is no node"),
        (("tidy#1", "u999", "double"), "there is no node u999"),
        (("tidy#1", "u1", "doubble"), "did you mean double?"),
        (("tidy#1", "u1", "a"), "2 rules answer to 'a'"),
        (("tidy", "u1", "double"), "2 passes answer to 'tidy'"),
        (("tiddy", "u1", "double"), "did you mean tidy?"),
        (("99", "u1", "double"), "there is no pass '99'"),
    ],
)
def test_errors_say_what_to_do(
    path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], what: str
) -> None:
    code, out, err = run(capsys, path, *words)
    assert (code, out) == (2, "")
    assert what in err
    assert "hint: " in err


def test_exported_files(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(path)
    html = export_html(store).html
    store.close()
    file = tmp_path / "run.html"
    file.write_text(html)
    code, out, _ = run(capsys, file, "tidy#2", "mul_one")
    assert (code, out.startswith("mul_one in tidy: tried at 1 node\n")) == (0, True)
    file.write_text(re.sub(r'<script type="application/octet-stream".*?</script>', "", html))
    code, out, err = run(capsys, file, "tidy#2", "mul_one")
    assert (code, out, "this exported file holds no trace" in err) == (2, "", True)


OWN = """
from core import dtypes
from core.uop import PatternMatcher, UOp, UPat, graph_rewrite, rule

@rule(UPat.var("x", dtypes.ints) * UPat.cvar("c"))
def double(x: UOp, c: UOp) -> UOp | None:
    wanted = 2
    if c.arg != wanted:
        return None
    return x + x

print("the program runs")
x = UOp.variable("x", 0, 10)
graph_rewrite(x * 3 + 1, PatternMatcher([double], name="mine"), name="doubling")
"""


def test_a_rule_of_the_users_own_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is run where the user names it, never because a trace does."""
    script, path = tmp_path / "mine.py", tmp_path / "mine.viz"
    script.write_text(OWN)
    with viz.record(path):
        runpy.run_path(str(script))
    capsys.readouterr()
    mul = number_of(path, "MUL")
    code, out, _ = run(capsys, path, "doubling", mul, "double")
    assert code == 0
    assert "uopviz why-not --load FILE takes it from a file of yours" in out
    code, out, _ = run(capsys, path, "doubling", mul, "double", "--load", str(script))
    assert code == 0
    assert f"declined at {script}:9" in out
    assert ["wanted", "2"] in [line.split() for line in out.splitlines()]
    for text, why in (
        (OWN.replace("wanted = 2", "wanted = 4"), "is not the recorded one"),
        (OWN.replace("double", "triple"), "has no rule double"),
        ("raise ValueError('no')", "raises ValueError when it is run: no"),
        ("import sys; sys.exit(3)", "raises SystemExit when it is run: 3"),
    ):
        other = tmp_path / "other.py"
        other.write_text(text)
        code, out, _ = run(capsys, path, "doubling", mul, "double", "--load", str(other))
        assert code == 0
        assert why in out
    code, _, err = run(capsys, path, "doubling", mul, "double", "--load", "none.py")
    assert code == 2
    assert "there is no such file (none.py)" in err
