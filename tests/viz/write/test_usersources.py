"""Which of the user's own lines a recording keeps."""

from __future__ import annotations

import linecache
import subprocess
import sys
from pathlib import Path

import pytest

from viz.format.userlines import UserLines, pack_user_lines, unpack_user_lines
from viz.read.tracefile import TraceFile
from viz.recording.exceptions import OURS
from viz.trace import Recorder
from viz.write.texts import usersources
from viz.write.texts.usersources import UserSources, context_of

PROGRAM = """\
import os

SIZE = 3


@staticmethod
@property
def model(x):
    def inner(y):
        return y

    return inner(
        x
    )


class Layer:
    def forward(self, x):
        # a comment

        return x.relu()

    def other(self):
        pass


print(SIZE)
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (6, (1, 16)),  # a decorator is outside of any function
        (8, (6, 14)),
        (10, (9, 10)),  # the innermost function
        (12, (6, 14)),
        (13, (6, 14)),
        (14, (6, 14)),
        (18, (18, 21)),
        (21, (18, 21)),
        (27, (17, 27)),
        (3, (1, 13)),
    ],
)
def test_the_function_around_a_line_or_ten_lines_on_each_side(
    line: int, expected: tuple[int, int]
) -> None:
    assert context_of(PROGRAM.splitlines(keepends=True), line) == expected


def test_a_long_function_is_kept_around_the_line() -> None:
    lines = ["def f():\n", *(f"    x{i} = {i}\n" for i in range(400))]
    assert context_of(lines, 200) == (190, 210)


def test_each_line_is_kept_once(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("".join(f"x{i} = {i}\n" for i in range(1, 60)))
    sources = UserSources()
    for place in (f"{path}:20 relu", f"{path}:20", f"{path}:35 sum", f"{path}:900", "nothing"):
        sources.note(place)
    parts = sources.take()
    assert [(p.first, len(p.lines)) for p in parts] == [(10, 21), (31, 15)]
    assert parts[0].lines[10] == "x20 = 20"
    assert len({p.digest for p in parts}) == 1
    assert sources.take() == []


def test_files_of_the_compiler_are_no_user_files() -> None:
    sources = UserSources(ours=OURS)
    sources.note(f"{OURS[0]}tensor/base.py:20 relu")
    assert sources.take() == []


def test_a_cell_of_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a = 1\nb = a.relu()\n"
    name = "/tmp/ipykernel_1/2.py"
    monkeypatch.setitem(linecache.cache, name, (len(text), None, text.splitlines(True), name))
    sources = UserSources()
    sources.note(f"{name}:2 relu")
    (part,) = sources.take()
    assert part == UserLines(name, 1, text, part.digest, proof=part.proof)


@pytest.mark.parametrize("limit", ["FILE_BYTES", "ALL_BYTES"])
def test_what_is_too_much_is_cut_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(usersources, limit, 1000)
    path = tmp_path / "program.py"
    path.write_text("".join(f"x{i} = {'a' * 30}\n" for i in range(1, 200)))
    sources = UserSources()
    for line in (20, 60, 100):
        sources.note(f"{path}:{line}")
    parts = sources.take()
    assert [part.cut for part in parts] == [False, True]
    assert parts[1].text == ""


def test_a_block_and_back() -> None:
    parts = [UserLines("a.py", 3, "x\n\n\x0cy\n", "abc"), UserLines("b.py", 9, "", "", True)]
    assert unpack_user_lines(pack_user_lines(parts)) == parts
    assert parts[0].lines == ["x", "", "\x0cy"]
    assert parts[1].lines == []


def test_a_program_that_rewrites_itself(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import core\n"
        "def model():\n"
        "    return (core.Tensor.arange(4) + 1).relu()\n"
        "model().realize()\n"
        f"open({str(program)!r}, 'w').write('gone')\n"
    )
    trace = tmp_path / "t.viz"
    code = "import sys, runpy; from viz.trace import Recorder; r = Recorder(sys.argv[1]).start();"
    run = "runpy.run_path(sys.argv[2]); r.close()"
    subprocess.run([sys.executable, "-c", code + run, trace, program], check=True)
    assert program.read_text() == "gone"
    file = TraceFile(trace)
    try:
        file.refresh()
        mine = {p.first + i: s for p in file.user_lines for i, s in enumerate(p.lines)}
        assert {p.file for p in file.user_lines} == {str(program)}
    finally:
        file.close()
    assert mine[3] == "    return (core.Tensor.arange(4) + 1).relu()"
    assert mine[4] == "model().realize()"


def test_a_recording_without_tensors_has_no_lines(tmp_path: Path) -> None:
    Recorder(tmp_path / "t.viz").start().close()
    file = TraceFile(tmp_path / "t.viz")
    file.refresh()
    assert file.user_lines == []
    file.close()
