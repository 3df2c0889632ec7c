"""Who made a run, and what has become of its files and rules since."""

from __future__ import annotations

import socket
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.passes import lower
from viz.coredialect.adapter import DIALECT
from viz.files.sources import source_digest
from viz.format.schema import COMPILER, REDACTED
from viz.share.copy import write_trace
from viz.views.since.files import own_file
from viz.views.since.maker import own_version
from viz.views.since.rules import FileToday, RuleToday
from viz.views.store import Store
from viz.vouching import KEY, vouch
from viz.write.writer import TraceWriter

PROGRAM = "a = load()\nb = a.relu()\n"
RULE = '@rule(x + 0)\ndef add_zero(x):\n    """x + 0 -> x"""\n    return x\n'
RULES = f"import core\n\n\n{RULE}\n\nother = 1\n"
HERE = {"pid": 1, "start": 1, "host": socket.gethostname(), "main": True}


@pytest.fixture(autouse=True)
def _key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user with a key of their own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a program and the file of its rules."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "program.py").write_text(PROGRAM)
    (folder / "rules.py").write_text(RULES)
    return folder


def written(path: Path, project: Path, **more: Any) -> Path:
    """A trace of the project, made here by this version unless `more` says other things."""
    info = {"cwd": str(project), "process": HERE, "compiler": COMPILER}
    info |= {"versions": {COMPILER: own_version()}}
    with TraceWriter(path, info | more) as t:
        rules = str(project / "rules.py")
        t.rule("add_zero", rules, 4, source=RULE)
        t.rule("nameless", rules, 10, source="other = 1\n")
        t.rule("untold", rules, 1)
        t.rule("hidden", rules, 1, source=f"{REDACTED}\n")
        own = "/elsewhere/site-packages/core/passes/lower.py"
        t.rule("of_core", own, 1, source=Path(lower.__file__).read_text().splitlines()[0])
        t.rule("gone_of_core", own, 1, source="def gone_of_core(x):\n    return x\n")
        for name, text in (("program.py", PROGRAM), ("rules.py", "")):
            lines = (project / name).read_text().splitlines(keepends=True)
            file, digest = str(project / name), source_digest(lines)
            proof = vouch(file, digest)
            t.user_lines(file, 1, text, digest=digest, proof=proof)
    return path


@pytest.fixture
def path(tmp_path: Path, project: Path) -> Path:
    return written(tmp_path / "t.viz", project)


def since(path: Path) -> dict[str, Any]:
    store = Store(path)
    try:
        return store.since()
    finally:
        store.close()


def states(found: dict[str, Any]) -> dict[str, str]:
    return {one["file"]: one["state"] for one in found["files"]}


def rules(found: dict[str, Any]) -> dict[int, tuple[str, int]]:
    return {one["rule"]: (one["state"], one["line"]) for one in found["rules"]}


def said(found: dict[str, Any]) -> list[str]:
    return [note["what"] for note in found["notes"]]


GONE = "rule gone_of_core is gone from its file"
"""What the trace of this test says of `core`, whatever happens to the project."""


def test_nothing_has_changed(path: Path) -> None:
    found = since(path)
    assert found["maker"] == {
        "compiler": COMPILER,
        "version": own_version(),
        "own": True,
        "same": True,
        "here": True,
        "elsewhere": False,
        "reader": own_version(),
    }
    assert states(found) == {"program.py": "same", "rules.py": "same"}
    assert rules(found) == {6: ("gone", 0)}
    assert found["compared"] == 4, "two have no text that could be compared"
    assert said(found) == [GONE]


def test_rules_that_moved_changed_or_went(path: Path, project: Path) -> None:
    file = project / "rules.py"
    file.write_text("# a line\n" + RULES)
    found = since(path)
    assert rules(found) == {1: ("moved", 5), 2: ("moved", 11), 6: ("gone", 0)}
    assert said(found) == [GONE], "what has only moved needs no sentence"
    file.write_text("# a line\n" + RULES.replace("return x", "return x + 0"))
    found = since(path)
    assert rules(found)[1] == ("changed", 5)
    assert said(found) == ["rule add_zero has changed since the run", GONE]
    file.write_text("other = 2\n")
    found = since(path)
    assert rules(found) == {1: ("gone", 0), 2: ("changed", 1), 6: ("gone", 0)}
    assert said(found)[1] == "2 of 4 rules are gone from their files: add_zero, gone_of_core"
    file.unlink()
    assert rules(since(path))[1] == ("gone", 0)


def test_a_program_that_changed_or_went(path: Path, project: Path) -> None:
    (project / "program.py").write_text(PROGRAM + "c = 1\n")
    found = since(path)
    assert states(found)["program.py"] == "changed"
    assert said(found) == ["program.py has changed since the run", GONE]
    project.rename(project.with_name("moved"))
    found = since(path)
    assert states(found) == {"program.py": "gone", "rules.py": "gone"}
    assert said(found)[0] == "program.py is gone"


def test_a_folder_in_the_place_of_a_file_tells_nothing(path: Path, project: Path) -> None:
    (project / "program.py").unlink()
    (project / "program.py").mkdir()
    assert "program.py" not in states(since(path))


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"compiler": "mycc", "versions": {"mycc": "2"}}, "recorded by mycc 2, not by uopviz"),
        ({"compiler": "mycc"}, "recorded by mycc, not by uopviz"),
        ({"compiler": 7}, "recorded by another compiler, not by uopviz"),
        (
            {"versions": {COMPILER: "0.0.1"}},
            f"recorded with uopviz 0.0.1, read with uopviz {own_version()}",
        ),
        (
            {"versions": "many"},
            f"recorded with uopviz of an unknown version, read with uopviz {own_version()}",
        ),
        (
            {"process": HERE | {"host": "far"}},
            "recorded elsewhere: on another machine, or by another user",
        ),
    ],
)
def test_what_was_made_elsewhere_says_so_and_is_no_problem(
    tmp_path: Path, project: Path, more: dict[str, Any], sentence: str
) -> None:
    path = written(tmp_path / "t.viz", project, **more)
    store = Store(path)
    found, problems = store.since(), store.run()["problems"]
    store.close()
    maker = found["maker"]
    assert said(found)[0] == sentence
    assert not (maker["own"] and maker["same"] and maker["here"])
    assert problems == []


def test_rules_of_another_compiler_are_compared_with_nothing_of_this_one(
    tmp_path: Path, project: Path
) -> None:
    found = since(written(tmp_path / "t.viz", project, compiler="mycc"))
    assert found["compared"] == 2, "only those of the project, which this user vouches for"
    assert GONE not in said(found)


def test_a_copy_says_nothing_of_files_that_it_cannot_find(path: Path, tmp_path: Path) -> None:
    store = Store(path)
    write_trace(store, tmp_path / "redacted.viz", redact=True)
    write_trace(store, tmp_path / "published.viz", published=True)
    store.close()
    for name in ("redacted", "published"):
        found = since(tmp_path / f"{name}.viz")
        assert found["files"] == []
        assert (found["maker"]["here"], found["maker"]["elsewhere"]) == (False, False)
        assert not any("elsewhere" in sentence for sentence in said(found))


def _another_user(path: Path, project: Path, tmp_path: Path) -> None:
    (tmp_path / "cache" / "uopviz" / KEY).write_bytes(bytes(32))


def _stranger(path: Path, project: Path, tmp_path: Path) -> None:
    """Knows the names of files and what is in them, and of another file a signature."""
    digest = source_digest(PROGRAM.splitlines(keepends=True))
    proof = vouch(str(tmp_path / "other.py"), digest)
    with TraceWriter(path, {"process": HERE, "compiler": COMPILER}) as t:
        t.user_lines(str(project / "program.py"), 1, PROGRAM, digest=digest, proof=proof)
        t.user_lines(str(project / "rules.py"), 1, "x\n", digest="0" * 32, proof=proof)
        for at, parts in enumerate(((), ("core", ".."), ("core", "secret"))):
            t.rule(f"r{at}", "/".join((str(project), *parts, "rules.py")), 4, source=RULE)


@pytest.mark.parametrize("sent", [_another_user, _stranger])
def test_no_file_is_opened_that_this_user_did_not_record(
    path: Path,
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    sent: Callable[[Path, Path, Path], None],
) -> None:
    sent(path, project, tmp_path)
    opened: list[Path] = []

    def note(file: str | Path, *_: object) -> None:
        opened.append(Path(file))

    monkeypatch.setattr("viz.views.since.files.file_state", note)
    monkeypatch.setattr("viz.views.since.files.lines_today", note)
    found = since(path)
    assert [file for file in opened if file.is_relative_to(tmp_path)] == []
    assert (found["files"], found["maker"]["here"]) == ([], False)


def test_files_of_another_installation() -> None:
    here, inside = Path(lower.__file__), ("core", "passes", "lower.py")

    def own(path: str) -> Path | None:
        return own_file(path, DIALECT.sources)

    for parts in (inside, ("", "a", "core", *inside)):
        assert (
            own_file("/".join(parts), DIALECT.sources)
            == own_file("\\".join(("C:", *parts)), DIALECT.sources)
            == here
        )
    assert own_file("/".join(("", *inside[:2], "gone.py")), DIALECT.sources) == here.with_name(
        "gone.py"
    )
    for parts in (
        ("", "a", "lower.py"),
        ("", "a", "core", "mine", "lower.py"),
        ("core", "passes", "..", "..", "x.py"),
        ("core",),
        ("core", "passes.txt"),
    ):
        assert own("/".join(parts)) is None
        assert own_file("/".join(inside), None) is None


def test_the_nearest_of_several_places_is_the_one_that_a_rule_moved_to() -> None:
    text = "def f(x):\n    return x\n"
    today = FileToday([line + "\n" for line in ("a", "b", "c", *text.splitlines()) * 3])
    assert today.find("f", text, 4) == RuleToday("same", 4)
    assert today.find("f", text, 8) == RuleToday("moved", 9)
    assert today.find("f", "", 4) is None


def test_the_first_lines_of_a_long_rule_are_compared() -> None:
    body = textwrap.indent("y = 1\n" * 5, "    ")
    today = FileToday(f"def f(x):\n{body}    return y\n".splitlines(keepends=True))
    cut = f"def f(x):\n{body}... (1 more lines)\n"
    assert today.find("f", cut, 1) == RuleToday("same", 1)
    assert today.find("f", cut.replace("y = 1", "y = 2"), 1) == RuleToday("changed", 1)
