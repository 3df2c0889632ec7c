"""What assistants are told is what the commands print; questions are answered in few calls."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from viz.assistant.runs import Runs
from viz.assistant.tools import TOOLS
from viz.cli import main
from viz.command.bounded import CHARACTERS

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import sys
import viz
from core import Tensor

with viz.record(sys.argv[1]):
    x = Tensor([[float(i + j) for i in range(8)] for j in range(8)], device="PTX:EMU")
    w = Tensor([[float(i - j) for i in range(8)] for j in range(8)], device="PTX:EMU")
    y = (x @ w).relu()
    (y * 2 + x).sum(axis=1).tolist()
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same program, compiled without optimisations before and with them now."""
    folder = tmp_path_factory.mktemp("asked")
    (folder / "program.py").write_text(PROGRAM)
    made = folder / "before.viz", folder / "now.viz"
    for path, opt in zip(made, "01", strict=True):
        subprocess.run(
            [sys.executable, "program.py", str(path)],
            env={**os.environ, "OPT": opt, "PYTHONPATH": str(ROOT)},
            cwd=folder,
            check=True,
        )
    return made


class Asking:
    """Asks tools, and counts."""

    def __init__(self, runs: Runs) -> None:
        self.runs, self.calls = runs, 0

    def __call__(self, tool: str, **values: Any) -> Any:
        self.calls += 1
        assert self.calls <= 8
        text, good = self.runs.ask(
            tool, {"trace": "now.viz", **values} if "a" not in values else values
        )
        assert good, text
        assert len(text) <= CHARACTERS
        return json.loads(text)


@pytest.fixture
def ask(files: tuple[Path, Path]) -> Iterator[Asking]:
    runs = Runs(files, allow_run=True)
    yield Asking(runs)
    runs.close()


def kernel_of(ask: Asking, call: str) -> str:
    kernels = ask("overview")["kernels"]
    return next(kernel["name"] for kernel in kernels if call in kernel["calls"])


def test_which_rule_made_this_line_of_ptx(ask: Asking) -> None:
    kernel = kernel_of(ask, "matmul")
    text = ask("text", kernel=kernel, kind="ptx")
    lines = (
        text["numbered"]
        if "numbered" in text
        else [{"line": i + 1, "text": line} for i, line in enumerate(text["text"].split("\n"))]
    )
    line = next(one["line"] for one in lines if "fma.rn.f32" in one["text"])
    page = ask("node", node=f"ptx:{line}", kernel=kernel)
    made = [row for row in page["history"] if row["rule"]][-1]
    step = ask("step", **{"pass": str(made["rewrite"]), "step": made["step"]})
    assert step["rule"]["name"] == made["rule"]
    assert any(one["line"] == line for text in page["texts"] for one in text["lines"])


def test_why_is_this_kernel_slower_than_before(ask: Asking) -> None:
    """It has other optimisations: the first pass that differs is one of them."""
    found = ask("diff", a="before.viz", b="now.viz")
    pair = next(one for one in found["scopes"] if "matmul" in one["call"])
    assert pair["state"] == "changed"
    assert pair["steps"]["a"] < pair["steps"]["b"]
    gone = {one["name"] for one in found["passes"] if one["steps"]["a"] is None}
    assert any(name.startswith("optimize: UPCAST") for name in gone)


def test_which_of_my_lines_is_the_costliest_and_what_became_of_it(ask: Asking) -> None:
    kernel = ask("overview")["kernels"][0]
    sql = "SELECT origin, count(*) n FROM origins GROUP BY 1 ORDER BY n DESC"
    assert ask("query", sql=sql, kernel=str(kernel["id"]))["columns"] == ["origin", "n"]
    first = ask("kernel", kernel=str(kernel["id"]))["rows"][1]
    step = ask("step", **{"pass": str(first["id"]), "step": 1})
    assert "program.py" in step["calls"][0]
    node = ask("node", node=f"u{step['bindings'][0]['number']}", **{"pass": str(first["id"])})
    assert any("program.py" in line for line in node["lines"])
    assert node["texts"]


def test_what_ran(ask: Asking) -> None:
    said = ask("overview")
    sql = "SELECT count(*) FROM contexts WHERE kind = 'kernel'"
    assert [[len(said["kernels"])]] == ask("query", sql=sql)["rows"]


def test_which_pass_took_longest(ask: Asking) -> None:
    first = ask("overview")["passes"][0]
    rows = ask("query", sql="SELECT id FROM rewrites ORDER BY us DESC LIMIT 1")["rows"]
    assert rows == [[first["id"]]]


def test_which_rules_never_matched(ask: Asking) -> None:
    never = {row["id"] for row in ask("rules")["neverMatched"]}
    numbers = ", ".join(map(str, never))
    assert not ask("query", sql=f"SELECT * FROM matches WHERE rule IN ({numbers})")["rows"]


def test_why_did_a_rule_not_fire(ask: Asking) -> None:
    kernel = kernel_of(ask, "matmul")
    sql = "SELECT r.id, m.before FROM rewrites r JOIN matches m ON m.rewrite = r.id LIMIT 1"
    [[rewrite, node]] = ask("query", sql=sql, kernel=kernel)["rows"]
    other = ask("rules")["neverMatched"][0]["rule"]
    said = ask("why_not", node=f"u{node}", rule=other, **{"pass": str(rewrite)})
    assert said["kind"] != "fired" and said["said"]


def test_where_does_a_rule_nearly_fire(ask: Asking) -> None:
    sql = "SELECT m.rewrite, r.name FROM matches m JOIN rules r ON r.id = m.rule LIMIT 1"
    [[rewrite, rule]] = ask("query", sql=sql)["rows"]
    assert ask("why_not", rule=rule, **{"pass": str(rewrite)})["name"] == rule


def test_is_every_step_right(ask: Asking) -> None:
    said = ask("check", kernel=kernel_of(ask, "sum"))
    assert said["counts"]["differs"] == 0 and said["steps"] > 0


def test_in_which_kernels_did_this_rule_match(ask: Asking) -> None:
    sql = (
        "SELECT DISTINCT c.name FROM matches m JOIN rules r ON r.id = m.rule JOIN rewrites w"
        " ON w.id = m.rewrite JOIN contexts c ON c.id = w.context WHERE r.name = 'number_loops'"
    )
    names = {name for (name,) in ask("query", sql=sql)["rows"]}
    assert names == {kernel["name"] for kernel in ask("overview")["kernels"]}


def test_would_it_be_right_without_this_rule(ask: Asking) -> None:
    said = ask("what_if", kernel=kernel_of(ask, "sum"), skip="fold_bounds")
    assert said["error"] is None and said["outcome"]["equal"]


def test_which_match_made_a_result_wrong(ask: Asking) -> None:
    assert ask("bisect", kernel=kernel_of(ask, "sum"))["version"] == 1


QUESTIONS: tuple[tuple[str, dict[str, Any], list[str]], ...] = (
    ("overview", {}, ["show"]),
    ("kernel", {"kernel": "sum"}, ["show", "--kernel", "sum"]),
    ("text", {"kernel": "sum", "kind": "ptx"}, ["show", "--kernel", "sum", "--text", "ptx"]),
    ("step", {"pass": "15"}, ["show", "15"]),
    ("step", {"pass": "15", "step": 1}, ["show", "15", "1"]),
    ("find", {"text": "gep"}, ["find", "gep"]),
    ("node", {"node": "ptx:9", "kernel": "sum"}, ["node", "ptx:9", "--kernel", "sum"]),
    ("rules", {}, ["stats"]),
    ("why_not", {"pass": "15", "rule": "fold_bounds"}, ["why-not", "15", "fold_bounds"]),
    ("check", {"pass": "15"}, ["check", "--pass", "15", "--run-seconds", "0"]),
    ("query", {"sql": "SELECT * FROM matches"}, ["query", "SELECT * FROM matches"]),
    ("query", {"sql": "SELECT nothing"}, ["query", "SELECT nothing"]),
    ("step", {"pass": "none"}, ["show", "--pass", "none"]),
)


def printed(words: list[str], path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    main([words[0], str(path), *words[1:], "--json"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("tool", "values", "words"), QUESTIONS)
def test_answers_are_those_of_commands(
    files: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
    tool: str,
    values: dict[str, Any],
    words: list[str],
) -> None:
    runs = Runs(files[1:], allow_run=False)
    try:
        text, good = runs.ask(tool, values)
    finally:
        runs.close()
    capsys.readouterr()
    command = printed(words, files[1], capsys)
    made = json.loads(text)
    assert good == (set(command) != {"error"})
    for volatile in ("since", "bytes"):
        made.pop(volatile, None), command.pop(volatile, None)
    assert made == command
    assert {name for name, _, _ in QUESTIONS} | {"diff", "bisect", "what_if"} == {
        one.name for one in TOOLS
    }


def test_a_difference_is_that_of_the_command(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    runs = Runs(files, allow_run=False)
    text, _ = runs.ask("diff", {"a": "before.viz", "b": "now.viz"})
    runs.close()
    main(["diff", *map(str, files), "--json"])
    assert json.loads(text) == json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("tool", "values", "said"),
    [
        ("bisect", {}, "the tool bisect is off"),
        ("what_if", {"kernel": "sum"}, "the tool what_if is off"),
        ("export", {}, "there is no tool 'export'"),
        ("query", {"sql": "SELECT 1", "trace": "/etc/passwd"}, "there is no run '/etc/passwd'"),
        ("overview", {"executor": "dask://x"}, "overview has no parameter 'executor'"),
        ("find", {}, "find needs 'text'"),
        ("why_not", {"pass": "15", "rule": "--load=x.py"}, "this begins with a dash"),
        ("query", {"sql": "ATTACH 'x' AS y"}, "this query failed: a query only reads"),
        ("step", {"pass": "15", "step": "--help"}, "'--help' is not a whole number"),
        ("overview", {"trace": ["now.viz"]}, "there is no run \"['now.viz']\""),
        ("step", {"pass": "1", "step": "9" * CHARACTERS + "x"}, "9999"),
        ("rules", {"pass": "x" * CHARACTERS}, "x"),
    ],
)
def test_what_is_not_allowed_is_an_error_and_no_more(
    files: tuple[Path, Path], tool: str, values: dict[str, Any], said: str
) -> None:
    runs = Runs(files, allow_run=False)
    text, good = runs.ask(tool, values)
    runs.close()
    assert not good
    assert len(text) <= CHARACTERS
    assert said in json.loads(text)["error"]["what"]


def test_numbers_that_json_does_not_have_are_names(ask: Asking) -> None:
    assert ask("query", sql="SELECT 9e999, -9e999, 0.5")["rows"] == [["inf", "-inf", 0.5]]


def test_the_protocol(files: tuple[Path, Path]) -> None:
    """Over pipes, as a client starts it; an error does not end it."""
    client, pipes = import_module("mcp.client.session"), import_module("mcp.client.stdio")

    async def talk() -> list[Any]:
        command = pipes.StdioServerParameters(
            command=sys.executable,
            args=["-m", "viz", "mcp", *map(str, files)],
            cwd=str(ROOT),
        )
        async with (
            pipes.stdio_client(command) as (reading, writing),
            client.ClientSession(reading, writing) as session,
        ):
            await session.initialize()
            names = [tool.name for tool in (await session.list_tools()).tools]
            wrong = await session.call_tool("step", {"pass": "nothing"})
            right = await session.call_tool("find", {"text": "gep", "trace": "now.viz"})
            return [names, wrong, right]

    # in a thread of its own: a browser of other tests may have a loop in this one
    with ThreadPoolExecutor(1) as thread:
        names, wrong, right = thread.submit(asyncio.run, talk()).result()
    assert names == [tool.name for tool in TOOLS if not tool.runs_code]
    assert wrong.is_error and "error" in json.loads(wrong.content[0].text)
    assert not right.is_error and json.loads(right.content[0].text)["hits"]
