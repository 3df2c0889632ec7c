"""Completion: the words that are offered, and the scripts in the shells themselves."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.viz.test_cli import run
from viz.command.line.parser import build_parser, commands_of
from viz.views.store import Store

ROOT = Path(__file__).resolve().parents[2]
TYPED: tuple[tuple[str, str], ...] = (
    ("uopviz sh", "show"),
    ("uopviz show --ker", "--kernel"),
    ("uopviz show run.viz --kernel kernel_", "kernel_0 kernel_1"),
    ("uopviz show run.viz --kernel kernel_1 --pass s", "simplify"),
    ("uopviz graph run.viz --kernel kernel_1 --pass s", "simplify"),
    ("uopviz show run.viz --color n", "never"),
    ("uopviz export run.viz --format t", "trace"),
    ("uopviz export -o no", "notes.txt"),
    ("uopviz show ru", "run.viz"),
    ("uopviz stats old-r", "old-run"),
    ("uopviz completion z", "zsh"),
)
"""What is typed before the key that completes, and what it then may be."""


@pytest.fixture
def shell_environment(trace: Path, tmp_path: Path) -> dict[str, str]:
    """A folder with a trace and another file, another trace in the cache, and `uopviz` to run."""
    work, cache, programs = tmp_path / "work", tmp_path / "cache" / "uopviz", tmp_path / "bin"
    for folder in (work, cache, programs):
        folder.mkdir(parents=True)
    (work / "notes.txt").touch()
    shutil.copy(trace, cache / "old-run.viz")
    trace.rename(work / "run.viz")
    program = programs / "uopviz"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m viz "$@"\n')
    program.chmod(0o755)
    return {
        **os.environ,
        "PWD": str(work),
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm",
    }


def needs(shell: str) -> str:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    return program


def output(environment: dict[str, str], program: str, *options: str, script: str) -> list[str]:
    done = subprocess.run(
        [program, *options, script],
        cwd=environment["PWD"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_bash(shell_environment: dict[str, str]) -> None:
    tries = "\n".join(f"try {typed}" for typed, _ in TYPED)
    script = f"""
eval "$(uopviz completion bash)"
compopt() {{ :; }}  # it only works while a key is handled
try() {{ COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _uopviz; echo "${{COMPREPLY[*]}}"; }}
{tries}
"""
    found = output(shell_environment, needs("bash"), "-c", script=script)
    assert found == [offered for _, offered in TYPED]


def test_fish(shell_environment: dict[str, str]) -> None:
    tries = "\n".join(f"echo (complete -C '{typed}' | string split -f 1 \\t)" for typed, _ in TYPED)
    script = f"uopviz completion fish | source\n{tries}"
    found = output(shell_environment, needs("fish"), "--no-config", "-c", script=script)
    assert found == [offered for _, offered in TYPED]


ZSH = """
autoload -Uz compinit && compinit -u -D
source <(uopviz completion zsh)
keep() { print -r -- "$BUFFER" >> kept; BUFFER=''; }
zle -N keep
bindkey '^X' keep
bindkey '^N' menu-complete
PS1=''
touch ready
"""


def test_zsh(shell_environment: dict[str, str]) -> None:
    """The keys are pressed: each press offers the next word."""
    program = needs("zsh")
    work = Path(shell_environment["PWD"])
    (work.parent / "setup.zsh").write_text(ZSH)
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [program, "-f", "-i"],
        cwd=work,
        env=shell_environment,
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    )
    os.close(follower)

    def wait_for(file: str, lines: int) -> list[str]:
        deadline = time.monotonic() + 60
        path = work / file
        while not path.exists() or len(path.read_text().splitlines()) < lines:
            assert time.monotonic() < deadline, file
            if select.select([leader], [], [], 0.05)[0]:
                os.read(leader, 65536)
        return path.read_text().splitlines()

    kept: list[str] = []
    try:
        os.write(leader, b"source ../setup.zsh\n")
        wait_for("ready", 0)
        for typed, offered in TYPED:
            begun = typed.rpartition(" ")[0]
            for times, word in enumerate(offered.split(), 1):
                os.write(leader, typed.encode() + b"\x0e" * times + b"\x18")
                kept = wait_for("kept", len(kept) + 1)
                assert kept[-1].rstrip() == f"{begun} {word}"
    finally:
        process.kill()
        process.wait()
        os.close(leader)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_knows_every_command_and_option(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, script, _ = run(capsys, "completion", shell)
    for name, command in commands_of(build_parser()).items():
        assert name in script
        for action in command._actions:
            for option in action.option_strings if action.help != "==SUPPRESS==" else ():
                said = option.lstrip("-") if shell == "fish" else option
                assert said in script, f"{name} {option}"
    assert "--live" not in script and "_complete'" not in script


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("traces",), ["younger", "older run"]),
        (("kernels", "--", "{trace}"), ["kernel_0", "kernel_1"]),
        (("passes", "--", "{trace}"), ["tidy", "simplify"]),
        (("passes", "--", "{trace}", "--kernel", "kernel_1"), ["simplify"]),
        (("passes", "--", "{trace}", "--kernel", "nonsense"), []),
        (("kernels", "--", "missing.viz"), []),
        (("kernels", "--", ""), ["kernel_0", "kernel_1"]),
        (("kernels", "--", "--kernel", "k"), ["kernel_0", "kernel_1"]),
        (("kernels", "--", "-2"), ["kernel_0", "kernel_1"]),
        (("kernels", "--", "-3"), []),
        (("kernels", "--", __file__), []),
    ],
)
def test_the_words_that_are_offered(
    trace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: Sequence[str],
    offered: list[str],
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    cache = tmp_path / "uopviz"
    cache.mkdir()
    for age, name in enumerate(("younger", "older run")):
        shutil.copy(trace, cache / f"{name}.viz")
        os.utime(cache / f"{name}.viz", (10_000 - age, 10_000 - age))
    code, out, err = run(capsys, "_complete", *(word.format(trace=trace) for word in words))
    assert (code, out.splitlines(), err) == (0, offered, "")


def test_a_completion_that_fails_says_nothing(
    trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its words would come into the line that is typed."""

    def fail(_: Store) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr(Store, "tree", fail)
    assert run(capsys, "_complete", "kernels", "--", trace)[1] == ""
