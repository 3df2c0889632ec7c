"""What every command of `uopviz` keeps to, as docs/cli.md says: which trace is meant, exit codes,
names that nothing has, what files are called, and that no name is cut at 80 columns."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import viz
from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from tests.viz.samples import random_graph, rules
from viz.cli import main
from viz.command import serving
from viz.command.line.parser import build_parser, commands_of
from viz.terminal import clean

COMMANDS = commands_of(build_parser())
SERVING = ("open", "serve")
OF_ONE_TRACE = [
    name
    for name in COMMANDS
    if name not in ("diff", "completion", "import", "mcp", "pack", "record", "since", *SERVING)
]
WORDS = {
    "why-not": ["tidy", "mul_one"],
    "graph": ["--pass", "tidy#1"],
    "query": ["select 1"],
    "find": ["tidy"],
    "node": ["u5"],
    "what-if": ["--kernel", "kernel_0"],
}
"""What a command needs beside a trace."""
QUICKLY = {
    "export": ["-o", "{}/x.html", "--texts-for", "none"],
    "timeline": ["-o", "{}/x.json"],
    "script": ["--kernel", "nosuch"],
    "why-not": ["--kernel", "kernel_0"],
    "what-if": ["--no-run", "--no-keep"],
}
"""What has it done soon, and written to a folder."""
LONG = "a_kernel_whose_name_has_as_many_letters_as_names_may"


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only trace of the cache."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    path = folder / "uopviz" / "only-20260101-000000-1.viz"
    path.parent.mkdir(parents=True, mode=0o700)
    folder.chmod(0o700)
    with viz.record(path):
        for name in ("kernel_0", LONG):
            with context(name, "kernel"):
                graph_rewrite(random_graph(5), rules, name="tidy")
    return path


def words_of(name: str, *arguments: object) -> list[str]:
    """A command with a trace, or with nothing, and what it needs."""
    needed = WORDS.get(name, [])
    return [name, *map(str, arguments), *needed]


@pytest.mark.parametrize("name", OF_ONE_TRACE)
def test_a_trace_that_is_not_there(
    name: str, trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words_of(name, trace.parent / "no.viz")) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "there is no such trace" in err
    assert "hint: " in err
    assert "TRACE" not in err


ODD_NAMES = (b"\xff\xfe.viz", b"new\nline 'and' $HOME.viz")


@pytest.mark.sampled(5)
@pytest.mark.parametrize("odd", ODD_NAMES)
@pytest.mark.parametrize("name", [*OF_ONE_TRACE, *SERVING, "diff"])
def test_a_trace_whose_name_cannot_be_shown(
    name: str,
    odd: bytes,
    trace: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stopped(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(serving.Server, "run", stopped)
    path = tmp_path / os.fsdecode(odd)
    words = words_of(name, path, *[trace] * (name == "diff"))
    assert main(words) == 2
    _, err = capsys.readouterr()
    assert f"there is no such trace ({clean(path)})" in err
    shutil.copy(trace, path)
    code = main([*words, *(word.format(tmp_path) for word in QUICKLY.get(name, ()))])
    out, err = capsys.readouterr()
    assert code in (0, 1, 2)
    assert "no such trace" not in err
    assert "a defect of uopviz" not in err
    assert "\\udc" not in out + err


@pytest.mark.parametrize("odd", ODD_NAMES)
def test_a_path_is_spelled_alike_in_a_message_and_in_a_command(
    odd: bytes, trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / os.fsdecode(odd)
    shutil.copy(trace, path)
    with pytest.raises(SystemExit, match="2"):
        main([str(path)])
    message, hint = capsys.readouterr().err.splitlines()
    spelled = message.removeprefix("uopviz: there is no command '").removesuffix("'")
    word, quoted = hint.removeprefix("hint: uopviz open "), spelled.replace("'", "\\'")
    assert word == f"$'{quoted}'"
    pasted = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, check=True)
    assert pasted.stdout == os.fsencode(path)


@pytest.mark.parametrize("name", OF_ONE_TRACE)
def test_without_a_trace_the_youngest_is_meant(
    name: str, trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([*words_of(name), *(word.format(tmp_path) for word in QUICKLY.get(name, ()))])
    _, err = capsys.readouterr()
    assert str(trace) in err, "it is named"
    assert "no such trace" not in err
    assert code in (0, 1, 2)


@pytest.mark.parametrize(
    "name", [n for n in OF_ONE_TRACE if any(a.dest == "kernel" for a in COMMANDS[n]._actions)]
)
def test_a_kernel_that_nothing_has(
    name: str, trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["--pass", "tidy"] if name == "stats" else []
    words = [word for word in WORDS.get(name, []) if word not in ("--kernel", "kernel_0")]
    assert main([name, str(trace), *words, "--kernel", "nosuch", *more]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "nosuch" in err
    assert "hint: " in err


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        (["mul_one"], "PASS or RULE is missing"),
        ([], "PASS and RULE are missing"),
        (["x.viz", "mul_one"], "PASS or RULE is missing"),
    ],
)
def test_what_is_missing_is_named(
    words: Sequence[str], missing: str, trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["why-not", *words])
    assert ended.value.code == 2
    assert missing in capsys.readouterr().err


def test_words_of_why_not_are_told_apart(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With and without a trace, with and without a node."""
    for words in (["tidy#1", "mul_one"], [str(trace), "tidy#1", "mul_one"]):
        assert main(["why-not", *words]) == 0
        assert capsys.readouterr().out.startswith("mul_one in tidy")
    for words in (["tidy#1", "u1", "mul_one"], [str(trace), "tidy#1", "u1", "mul_one"]):
        assert main(["why-not", *words]) == 0
        assert "u1 = " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        (["export", "-o"], ".html or .viz"),
        (["timeline", "-o"], ".json"),
        (["graph", "--pass", "tidy#1", "-o"], ".svg, .dot or .gv"),
        (["script", "--kernel", "kernel_0", "-o"], ".py"),
        (["diff", "{trace}", "--html"], ".html"),
        (["replay", "-o"], "names a folder"),
    ],
)
def test_a_file_is_called_what_it_is(
    words: Sequence[str],
    allowed: str,
    trace: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command, *rest = (str(trace) if word == "{trace}" else word for word in words)
    file = tmp_path / "x.pdf"
    assert main([command, str(trace), *rest, str(file)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert allowed in err
    assert not file.exists()


def in_terminal(*words: object) -> str:
    """What a command prints to a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    command = [
        sys.executable,
        "-P",
        "-m",
        "viz",
        *map(str, words),
        "--no-pager",
        "--color",
        "never",
    ]
    env = {**os.environ, "COLUMNS": "80", "LINES": "60", "TERM": "xterm"}
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.PIPE, env=env) as process:
        os.close(theirs)
        said = b""
        try:
            while part := os.read(ours, 1 << 16):
                said += part
        except OSError:  # the end of a terminal
            pass
        err = process.stderr.read().decode() if process.stderr else ""
    os.close(ours)
    assert "Traceback" not in err
    return said.decode()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("words", [["stats"], ["stats", "--pass", "tidy#1"], ["check"]])
def test_names_are_whole_at_80_columns(words: Sequence[str], trace: Path) -> None:
    names = {
        rule.name for rule in rules.rules if rule.name in in_terminal(words[0], trace, *words[1:])
    }
    for line in in_terminal(words[0], trace, *words[1:]).splitlines():
        assert len(line) <= 80
    assert names, "rules that matched are named in full"


def test_what_takes_long_says_how_far_it_is_and_raises_nothing(
    trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line of progress is drawn by a thread of its own, where nobody sees an exception."""
    monkeypatch.setattr("viz.terminal._AFTER", 0.0)
    monkeypatch.setattr("viz.terminal._EVERY", 0.001)
    monkeypatch.setattr("viz.terminal.is_terminal", sys.stderr.__eq__)
    for words in (
        ["check"],
        ["bisect"],
        ["replay"],
        ["stats"],
        ["export", "-o", str(trace.with_suffix(".html"))],
    ):
        main([words[0], str(trace), *words[1:]])
        _, err = capsys.readouterr()
        assert "Traceback" not in err
        assert "Exception" not in err
