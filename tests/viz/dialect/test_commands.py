"""Commands about a trace of another compiler: what its dialect lacks and what is its own."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_layers import ROOT
from viz.cli import main
from viz.command.line.parser import build_parser, commands_of

EXAMPLES = ROOT / "examples"
ARGUMENTS = {
    "check": [],
    "bisect": [],
    "replay": [],
    "variants": [],
    "script": ["--kernel", "a"],
    "what-if": ["--kernel", "a", "--skip", "add_zero"],
}


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """A trace of the toy compiler, whose dialect is known."""
    path = tmp_path / "toy.viz"
    runpy.run_path(str(EXAMPLES / "toycc.py"))["main"](str(path))
    capsys.readouterr()
    monkeypatch.setenv("UOPVIZ_DIALECTS", str(EXAMPLES / "toycc_dialect.py"))
    return str(path)


def test_every_command_that_needs_an_action_is_tried_here() -> None:
    needing = {
        name for name, parser in commands_of(build_parser()).items() if parser.get_default("needs")
    }
    assert needing == ARGUMENTS.keys()


@pytest.mark.parametrize("command", ARGUMENTS)
def test_a_command_whose_action_the_dialect_lacks_says_so(
    toy: str, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert main([command, toy, *ARGUMENTS[command]]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    sentence, hint = said.err.splitlines()
    assert "this trace is of the dialect toycc, which has no action" in sentence
    assert hint == f"hint: `uopviz show {toy}` shows what it holds, and what can be done with it"


def test_a_trace_without_a_dialect_has_no_actions(
    toy: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("UOPVIZ_DIALECTS")
    assert main(["check", toy]) == 2
    assert "of no known dialect, which has no action 'check'" in capsys.readouterr().err
    assert main(["show", toy]) == 0
    assert "--action" not in capsys.readouterr().out


def test_actions_of_the_compilers_own(toy: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", toy]) == 0
    listed = next(line for line in capsys.readouterr().out.splitlines() if "--action" in line)
    assert listed.split() == [
        "uopviz",
        "show",
        toy,
        *["--kernel", "a", "--action", "evaluate", "Evaluate"],
    ]
    assert main(["show", toy, "--kernel", "a", "--action", "evaluate"]) == 0
    assert capsys.readouterr().out == "-40, where each variable is 10\n"
    assert main(["show", toy, "--kernel", "a", "--action", "evaluate", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"text": "-40, where each variable is 10"}
    assert main(["show", toy, "--kernel", "a", "--action", "fly"]) == 2
    assert "it has evaluate" in capsys.readouterr().err
    assert main(["show", toy, "--action", "evaluate"]) == 2
    assert "name it with --kernel" in capsys.readouterr().err


def test_the_parser_imports_no_compiler() -> None:
    """Help, completion and errors of the command line do not wait for one."""
    program = (
        "import sys\nfrom viz.command.line.parser import build_parser\nbuild_parser()\n"
        "print(*(n for n in ('core.uop.uop', 'numpy', 'flask', 'viz.coredialect.adapter') "
        "if n in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == "\n"
