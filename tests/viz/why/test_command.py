"""`uopviz why-not`: what it prints, and its errors."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from core.uop.observe import context
from core.uop.rewrite import graph_rewrite
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
