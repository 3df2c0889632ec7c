"""Bad input to every command: one clear line and a hint, an exit code, never a traceback."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.viz.test_cli import run

ROOT = Path(__file__).resolve().parents[2]
READERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("open", ("--no-browser",)),
    ("serve", ()),
    ("export", ()),
    ("show", ()),
    ("stats", ()),
    ("timeline", ()),
    ("query", ("SELECT 1",)),
    ("graph", ("2",)),
)
IDS = [name for name, _ in READERS]


def check(code: int, out: str, err: str, *said: str) -> None:
    """One line and a hint, on standard error only."""
    assert (code, out) == (2, ""), err
    lines = err.splitlines()
    assert lines[0].startswith("uopviz: ")
    assert 1 <= len(lines) <= 2 and all(line.startswith("hint: ") for line in lines[1:])
    assert "Traceback" not in err and "defect" not in err
    for text in said:
        assert text in err


@pytest.fixture
def work(trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with a trace `run.viz` and things that are none."""
    made = tmp_path / "work"
    made.mkdir()
    whole = trace.read_bytes()
    (made / "run.viz").write_bytes(whole)
    (made / "empty.viz").touch()
    (made / "text.viz").write_text("no trace\n" * 1000)
    (made / "cut.viz").write_bytes(whole[:700])
    (made / "page.html").write_text("<!doctype html><html><body>a page</body></html>")
    (made / "folder.viz").mkdir()
    os.mkfifo(made / "pipe.viz")
    (made / "loop.viz").symlink_to("loop.viz")
    monkeypatch.chdir(made)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "platform", "linux")
    return made


@pytest.mark.sampled(3)
@pytest.mark.usefixtures("work")
@pytest.mark.parametrize(("command", "rest"), READERS, ids=IDS)
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing.viz", "there is no such trace"),
        ("missing", "there is no such trace"),
        ("-9", "there is no trace yet"),
        ("folder.viz", "this is a folder"),
        ("empty.viz", "this file is not a trace"),
        ("text.viz", "this file is not a trace"),
        ("page.html", "is no export of uopviz"),
        ("pipe.viz", "this is a pipe"),
        ("loop.viz", "cannot be read"),
        ("x" * 5000 + ".viz", "cannot be read"),
    ],
)
def test_no_trace(
    capsys: pytest.CaptureFixture[str], command: str, rest: Sequence[str], name: str, said: str
) -> None:
    check(*run(capsys, command, name, *rest), said)


@pytest.mark.parametrize(("command", "rest"), READERS[2:], ids=IDS[2:])
@pytest.mark.usefixtures("dist")
def test_a_trace_that_is_cut_off(
    work: Path, capsys: pytest.CaptureFixture[str], command: str, rest: Sequence[str]
) -> None:
    """What can be read is shown, with what is wrong; nothing is a crash."""
    for size in (700, 5_000, 12_000):
        (work / "cut.viz").write_bytes((work / "run.viz").read_bytes()[:size])
        code, _, err = run(capsys, command, "cut.viz", *rest)
        assert code in (0, 2)
        assert "defect" not in err and "Traceback" not in err
        assert len(err.splitlines()) <= 2


@pytest.mark.usefixtures("work")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "run.viz", "--kernel", "kernel_7"), ("did you mean kernel_",)),
        (("show", "run.viz", "--kernel", "zzz"), ("its kernels are", "kernel_0")),
        (("show", "run.viz", "--kernel", ""), ("2 kernels answer to ''",)),
        (("show", "run.viz", "--pass", "simplifi"), ("did you mean simplify?",)),
        (("show", "run.viz", "--pass", "simplify#9"), ("there is no pass 'simplify#9'",)),
        (("show", "run.viz", "--pass", "simplify#0"), ("there is no pass 'simplify#0'",)),
        (("show", "run.viz", "999"), ("there is no pass 999", "--tree")),
        (("show", "run.viz", "999999999999999"), ("there is no pass",)),
        (("show", "run.viz", "2", "9999"), ("there is no step 9999", "0 (the input graph) to")),
        (("graph", "run.viz", "2", "9999"), ("there is no step 9999", "0 (the input graph) to")),
        (("graph", "run.viz", "--kernel", "kernel_1"), ("is a group of passes",)),
        (("graph", "run.viz", "2", "-o", "x.png"), ("as .svg, .dot or .gv",)),
        (("query", "run.viz", "SELECT 1", "--kernel", "nothing"), ("there is no kernel",)),
        (("query", "run.viz", "SELECT name FROM passes"), ("no such table: passes", "rewrites")),
        (("query", "run.viz", "DROP TABLE rules"), ("a query only reads",)),
        (("export", "run.viz", "--kernel", "kernel_7"), ("did you mean kernel_",)),
        (("export", "run.viz", "--targets", "sm_900"), ("there is no target 'sm_900'", "sm_90")),
    ],
)
def test_names_and_numbers_that_nothing_has(
    capsys: pytest.CaptureFixture[str], arguments: Sequence[str], said: Sequence[str]
) -> None:
    check(*run(capsys, *arguments), *said)


@pytest.mark.parametrize(
    "arguments",
    [
        ("opne",),
        ("show", "run.viz", "--color", "blue"),
        ("show", "run.viz", "--depth", "0"),
        ("show", "run.viz", "two"),
        ("show", "run.viz", "-1"),
        ("show", "run.viz", "2", "1", "1"),
        ("show", "run.viz", "--step", "1"),
        ("show", "run.viz", "2", "--kernel", "kernel_1"),
        ("graph", "run.viz"),
        ("query", "run.viz"),
        ("export", "run.viz", "--format", "pdf"),
        ("export", "run.viz", "--budget", "none"),
        ("open", "run.viz", "--port", "http"),
        ("completion", "tcsh"),
        ("completion",),
    ],
    ids=" ".join,
)
@pytest.mark.usefixtures("work")
def test_a_wrong_command_line(capsys: pytest.CaptureFixture[str], arguments: Sequence[str]) -> None:
    with pytest.raises(SystemExit) as error:
        run(capsys, *arguments)
    out = capsys.readouterr()
    assert isinstance(error.value.code, int)
    check(error.value.code, out.out, out.err, "hint: ")


WRITERS = (
    ("export", ("-o", "{}.viz")),
    ("export", ("-o", "{}.html")),
    ("timeline", ("-o", "{}.json")),
    ("graph", ("2", "-o", "{}.svg")),
    ("graph", ("2", "-o", "{}.dot")),
)
WRITER_IDS = [rest[-1].format(command) for command, rest in WRITERS]


@pytest.mark.usefixtures("dist")
@pytest.mark.parametrize(("command", "rest"), WRITERS, ids=WRITER_IDS)
def test_where_nothing_can_be_written(
    work: Path, capsys: pytest.CaptureFixture[str], command: str, rest: Sequence[str]
) -> None:
    name = rest[-1].format("x")
    (work / "file").write_text("a file")
    (work / name).write_text("something else")
    (work / f"y{name}").mkdir()
    before = sorted(work.iterdir())
    for place in (name, f"y{name}", f"file/{name}", f"run.viz/{name}"):
        check(*run(capsys, command, "run.viz", *rest[:-1], place))
    assert (work / name).read_text() == "something else"
    assert sorted(work.iterdir()) == before


@pytest.mark.usefixtures("dist")
@pytest.mark.parametrize(("command", "rest"), WRITERS, ids=WRITER_IDS)
def test_a_full_disk(
    work: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    command: str,
    rest: Sequence[str],
) -> None:
    """A limit on the size of files, which the system enforces as it does a full disk."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    before = sorted(work.iterdir())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, hard))
    try:
        done = run(capsys, command, "run.viz", *rest[:-1], rest[-1].format("new"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    check(*done)
    assert sorted(work.iterdir()) == before


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("command", "rest"), READERS[3:], ids=IDS[3:])
@pytest.mark.parametrize("extra", [(), ("--json",)], ids=["lines", "json"])
@pytest.mark.usefixtures("work")
def test_output_that_nobody_takes(command: str, rest: Sequence[str], extra: Sequence[str]) -> None:
    """A pipe whose reader has left ends quietly; a full disk is said."""
    words = [sys.executable, "-m", "viz", command, "run.viz", *rest, *extra]
    if command == "timeline":
        words += ["-o", "made.json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    reader, writer = os.pipe()
    os.close(reader)
    for stream, wanted in ((writer, (0, "")), (os.open("/dev/full", os.O_WRONLY), (2, None))):
        done = subprocess.run(
            words, env=environment, stdout=stream, stderr=subprocess.PIPE, text=True, check=False
        )
        os.close(stream)
        assert done.returncode == wanted[0], done.stderr
        assert wanted[1] is None or done.stderr == wanted[1]
        assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr
        if wanted[0]:
            check(done.returncode, "", done.stderr, "No space left on device")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("command", "rest"), READERS[3:], ids=IDS[3:])
@pytest.mark.usefixtures("work")
def test_no_streams_at_all(command: str, rest: Sequence[str]) -> None:
    """As under a service manager that closes them."""
    words = " ".join(
        f"'{word}'" for word in (sys.executable, "-m", "viz", command, "run.viz", *rest)
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["sh", "-c", f"{words} <&- >&- 2>&-"], env=environment, check=False, timeout=60
    )
    assert done.returncode in (0, 2)
    done = subprocess.run(
        ["sh", "-c", f"{words} >&-"],
        env=environment,
        check=False,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    assert "Traceback" not in done.stderr and "defect" not in done.stderr
