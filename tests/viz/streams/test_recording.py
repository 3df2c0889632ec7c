"""`uopviz record`: a program runs as it does without, and its rewriting is a trace. The compiler is
a stand-in with the names that the tap uses (`programs/tinygrad`)."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from viz.views.store import Store

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The program and the stand-in, as a user's own."""
    shutil.copytree(PROGRAMS, tmp_path / "own", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "own"


def recorded(
    folder: Path, *command: str, **setting: str
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """What `uopviz record` does with a command in the folder, and the trace that it is to make."""
    path = folder.parent / "run.viz"
    own = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from viz.cli import main; sys.exit(main())"
    )
    arguments = [sys.executable, "-c", own, "record", "-o", str(path), *command]
    environment = {**os.environ, "PYTHONPATH": str(folder), **setting}
    done = subprocess.run(
        arguments, cwd=folder.parent, env=environment, capture_output=True, text=True
    )
    return done, path


def test_the_program_runs_as_without(folder: Path) -> None:
    """Same output, same exit code; all steps, the rule with its pattern, the text."""
    done, path = recorded(folder, sys.executable, "own/program.py", "3")
    assert (done.stdout, done.returncode) == ("[-6, 9]\n", 3)
    assert "run.viz: 3 matches of tinygrad" in done.stderr
    store = Store(path)
    rows = store.tree()["rows"]
    assert [(row["name"], row["label"], row["steps"]) for row in rows] == [
        ("kernel_3", "kernel", 3),
        ("fold", "pass", 3),
    ]
    assert not store.compiles
    assert store.dialect.title == "tinygrad" and store.dialect.op("ADD").group == "arithmetic"
    bundle = store.bundle(rows[1]["id"])
    assert bundle is not None and len(bundle["steps"]) == 3 and not bundle["truncated"]
    rules = {rule["name"]: rule for rule in store.rules()}
    assert set(rules) >= {"add_constants"}
    assert rules["add_constants"]["pattern"]["op"] == ["ADD"]
    assert rules["add_constants"]["pattern"]["src"]["kind"] == "ordered"
    kernel = store.kernel(rows[0]["id"])
    assert kernel is not None
    assert kernel["artifacts"][0]["text"].startswith("the text\n")
    store.close()


def test_what_fails_is_shown_at_its_rule(folder: Path) -> None:
    done, path = recorded(folder, "--", sys.executable, "own/program.py", "fail")
    assert done.returncode == 1 and "ValueError: 13 is not added" in done.stderr
    store = Store(path)
    (row,) = [row for row in store.tree()["rows"] if row["label"] == "pass"]
    bundle = store.bundle(row["id"])
    assert bundle is not None and "13 is not added" in bundle["error"]["message"]
    names = {rule["id"]: rule["name"] for rule in store.rules()}
    assert names[bundle["error"]["rule"]] == "add_constants"
    store.close()


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_what_a_killed_program_told_is_kept(folder: Path) -> None:
    done, path = recorded(folder, sys.executable, "own/program.py", "kill")
    assert done.returncode == 128 + 9
    store = Store(path)
    said = [problem["what"] for problem in store.run()["problems"]]
    assert "a process did not say that it ended: its last events may be missing" in said
    assert "fold" in [row["name"] for row in store.tree()["rows"]]
    store.close()
    done, _ = recorded(folder, sys.executable, "-c", "import os; os.kill(os.getpid(), 9)")
    assert done.returncode == 2
    assert "nothing was recorded: no known compiler was loaded" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="forks")
def test_a_process_that_was_forked_is_recorded_as_well(folder: Path) -> None:
    done, path = recorded(folder, sys.executable, "own/program.py", "fork")
    assert done.returncode == 0, done.stderr
    assert "9 matches" in done.stderr
    store = Store(path)
    kernels = [row["name"] for row in store.tree()["rows"] if row["label"] == "kernel"]
    assert sorted(kernels) == ["kernel_3", "kernel_3", "kernel_5"]
    assert not [problem["what"] for problem in store.run()["problems"]]
    store.close()


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_the_program_decides_what_ctrl_c_does(folder: Path) -> None:
    path = folder.parent / "run.viz"
    own = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    own += "from viz.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", own, "record", "-o", str(path), sys.executable]
    with subprocess.Popen(
        [*command, "own/program.py", "wait"],
        cwd=folder.parent,
        env={**os.environ, "PYTHONPATH": str(folder)},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(60) == 7
    store = Store(path)
    assert [row["steps"] for row in store.tree()["rows"] if row["label"] == "pass"] == [3, 3]
    store.close()


def test_a_trace_that_cannot_be_written_is_nothing_to_the_program(folder: Path) -> None:
    (folder.parent / "run.viz").mkdir()
    done, _ = recorded(folder, sys.executable, "own/program.py", "3")
    assert done.stdout == "[-6, 9]\n"
    assert done.returncode == 2 and "run.viz" in done.stderr


def test_a_tap_whose_target_has_changed_leaves_the_program_alone(folder: Path) -> None:
    ops = folder / "tinygrad" / "uop" / "ops.py"
    text = ops.read_text().replace("def rewrite(self, uop, ctx=None)", "def rewrite(self, uop, *c)")
    ops.write_text(text.replace("made = match(uop, ctx)", "made = match(uop, None)"))
    done, path = recorded(folder, sys.executable, "own/program.py", "3")
    assert done.stdout == "[-6, 9]\n"
    assert done.returncode == 2 and not path.exists()
    assert "PatternMatcher.rewrite is not as expected" in done.stderr


def test_the_users_own_sitecustomize_and_settings_stay(folder: Path) -> None:
    (folder / "sitecustomize.py").write_text("import builtins; builtins.custom = 'mine'\n")
    (folder / "core.py").write_text("word = 'the core of the user'\n")
    code = "import core, os, tinygrad.uop.ops; print(custom, core.word, os.environ.get('VIZ'))"
    done, _ = recorded(folder, sys.executable, "-c", code, VIZ="1")
    assert done.stdout == "mine the core of the user None\n"
    assert "nothing was recorded: no graph was rewritten" in done.stderr


def test_what_cannot_be_run_is_said(folder: Path) -> None:
    done, path = recorded(folder, "no-such-program")
    assert done.returncode == 2 and not path.exists()
    assert "cannot run no-such-program: No such file or directory" in done.stderr
    done, _ = recorded(folder)
    assert done.returncode == 2 and "give the program to record" in done.stderr
