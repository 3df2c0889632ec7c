"""How output looks: colour, the pager, the width of the terminal, and the screen of a run."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.viz.pseudoterminal import in_terminal

ROOT = Path(__file__).resolve().parents[2]
UNSET = {"NO_COLOR": "", "FORCE_COLOR": "", "CLICOLOR": "", "CLICOLOR_FORCE": "", "PAGER": "cat"}
CODE = re.compile(r"\x1b\[[\d;]*m")
COMMAND = sys.executable, "-m", "viz"


def shown(*arguments: object, columns: int = 100, rows: int = 60, **environment: str) -> str:
    """What a command writes to a terminal, without progress: a busy machine takes a second."""
    words = (*COMMAND, *map(str, arguments))
    text = in_terminal(*words, columns=columns, rows=rows, **{**UNSET, **environment})
    return re.sub(r"\r[^\r\n]*\x1b\[K", "", text)


def piped(*arguments: object, **environment: str) -> str:
    """What a command writes to a pipe."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **UNSET, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("environment", "options", "terminal", "pipe"),
    [
        ({}, (), True, False),
        ({"NO_COLOR": "1"}, (), False, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, (), False, False),
        ({"NO_COLOR": "1"}, ("--color", "always"), True, True),
        ({"FORCE_COLOR": "1"}, (), True, True),
        ({"FORCE_COLOR": "0"}, (), True, False),
        ({"CLICOLOR_FORCE": "1"}, (), True, True),
        ({"CLICOLOR": "0"}, (), False, False),
        ({"CLICOLOR": "1"}, (), True, False),
        ({"TERM": "dumb"}, (), False, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, (), True, True),
        ({"FORCE_COLOR": "1"}, ("--color", "never"), False, False),
    ],
)
def test_colour(
    trace: Path,
    environment: Mapping[str, str],
    options: Sequence[str],
    terminal: bool,
    pipe: bool,
) -> None:
    assert bool(CODE.search(shown("show", trace, *options, **environment))) is terminal
    assert bool(CODE.search(piped("show", trace, *options, **environment))) is pipe


def test_colour_changes_no_text(trace: Path) -> None:
    coloured = piped("show", trace, "--color", "always")
    assert CODE.sub("", coloured) == piped("show", trace)


def test_messages_are_coloured_for_themselves(tmp_path: Path) -> None:
    """Each stream by what it is: a hint in a terminal, whatever becomes of the output."""
    missing = tmp_path / "missing.viz"
    assert CODE.search(shown("show", missing))
    assert not CODE.search(shown("show", missing, NO_COLOR="1"))


@pytest.fixture
def pager(tmp_path: Path) -> Path:
    """A pager that says that it was there."""
    program = tmp_path / "my pager"
    program.write_text('#!/bin/sh\necho "PAGED $# $1"\ncat\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def test_the_pager_shows_what_is_longer_than_the_screen(trace: Path, pager: Path) -> None:
    chosen = {"PAGER": f"'{pager}' -x"}
    text = shown("show", trace, rows=10, **chosen)
    assert text.startswith("PAGED 1 -x\r\n")
    assert CODE.search(text), "in colour"
    for options, rows, environment in (
        ((), 60, chosen),
        (("--no-pager",), 10, chosen),
        (("--json",), 10, chosen),
        ((), 10, {"PAGER": ""}),
        ((), 10, {"PAGER": "cat"}),
        ((), 10, {"PAGER": "/there/is/no/such/pager"}),
    ):
        text = shown("show", trace, *options, rows=rows, **environment)
        assert "PAGED" not in text
        assert "schedule 2 kernels" in text or "tidy" in text


def test_a_pipe_has_no_pager(trace: Path, pager: Path) -> None:
    assert "PAGED" not in piped("show", trace, PAGER=f"'{pager}'")


def test_without_less_all_is_printed(trace: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    program = "import os; del os.environ['PAGER']; from viz.cli import main; main()"
    text = in_terminal(
        *(sys.executable, "-c", program, "show", str(trace)), columns=100, PATH=str(empty), **UNSET
    )
    assert "Go on with" in text


def test_a_pager_that_is_left_early(trace: Path, tmp_path: Path) -> None:
    program = tmp_path / "leaves"
    program.write_text("#!/bin/sh\nhead -1\n")
    program.chmod(0o755)
    text = shown("show", trace, rows=10, PAGER=str(program))
    assert text.count("\n") == 1
    assert "Broken" not in text and "defect" not in text


@pytest.mark.sampled(3)
@pytest.mark.parametrize("columns", [40, 80, 160])
def test_lines_are_cut_to_the_terminal(trace: Path, columns: int) -> None:
    for arguments in (
        ("show", trace),
        ("show", trace, "--tree"),
        ("stats", trace),
        ("graph", trace, 2),
    ):
        lines = CODE.sub("", shown(*arguments, columns=columns)).split("\r\n")
        assert max(map(len, lines)) <= columns
        whole = CODE.sub("", shown(*arguments, "--wide", columns=columns)).split("\r\n")
        said = "for want of room"  # which columns a narrow table does not have
        kept = [line for line in lines if not line.lstrip().startswith(said)]
        assert len(lines) - len(kept) in (0, 1)
        for line, full in zip(kept, whole, strict=False):
            *words, last = line.split() or [""]
            there = iter(full.split())  # a narrow table has fewer columns, and a text is cut
            assert all(word in there for word in words), (line, full)
            assert any(word.startswith(last.removesuffix("…")) for word in [*there, ""])


def test_the_screen_of_a_run(trace: Path) -> None:
    """In order: the run, what took the time, which rules cost, and what can be asked next."""
    text = CODE.sub("", shown("show", trace, columns=160)).replace("\r", "")
    head, counts, *rest = text.splitlines()
    assert re.match(r"\S.* \d{4}-\d\d-\d\d \d\d:\d\d:\d\d  [\d.]+ s$", head)
    assert re.match(r"2 kernels, 3 passes, \d+ steps, 0 launches, 1 process, [\d.]+ kB$", counts)
    titles = [line for line in rest if re.match(r"[A-Z]", line)]
    assert titles == ["Kernels by compile time", "Slowest passes", "Costliest rules", "Go on with"]
    assert rest[-1].split() == ["uopviz", "open", str(trace), "the", "same", "in", "the", "browser"]
    commands = [
        found[1].split() for line in rest if (found := re.match(r"  uopviz (show .*?)  ", line))
    ]
    assert len(commands) == 4
    for command in commands:
        assert piped(*command)
