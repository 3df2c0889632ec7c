"""Flags of the environment, contexts, and the small functions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import EnvError
from core.helpers import DEBUG, OPT, TRAINING, Context, Flag, argsort, ceildiv, flatten, prod


def test_small_functions() -> None:
    assert prod(()) == 1
    assert prod((2, 3, 4)) == 24
    assert ceildiv(7, 2) == 4
    assert ceildiv(-7, 2) == -3
    assert argsort((2, 0, 1)) == (1, 2, 0)
    assert flatten([[1], [], [2, 3]]) == [1, 2, 3]


def test_context_sets_and_restores() -> None:
    assert TRAINING.value == 0
    with Context(TRAINING=1, OPT=2):
        assert TRAINING.value == 1
        assert OPT.value == 2
        with Context(TRAINING=0):
            assert not TRAINING
        assert TRAINING
    assert TRAINING.value == 0
    assert OPT.value == 3


def test_context_restores_after_an_error() -> None:
    def fails() -> None:
        with Context(DEBUG=2):
            assert DEBUG.value == 2
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert DEBUG.value == 0


def test_context_as_decorator_can_nest() -> None:
    @Context(DEBUG=1)
    def inner(depth: int) -> int:
        return inner(depth - 1) if depth else DEBUG.value

    assert inner(3) == 1
    assert DEBUG.value == 0


def test_unknown_flag_and_bad_value() -> None:
    with pytest.raises(EnvError, match="no flag called NOPE"):
        Context(NOPE=1)
    with pytest.raises(EnvError, match=r"takes an integer 0\.\.3"):
        Context(OPT=4)


def test_every_flag_has_a_sentence() -> None:
    assert all(flag.doc for flag in Flag.table.values())


def test_a_bad_environment_value_is_one_clear_error() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import core.helpers"],
        env={"OPT": "fast", "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "OPT='fast' is not a value that OPT takes" in done.stderr
    assert "OPT takes an integer 0..3" in done.stderr
    assert len(done.stderr.splitlines()) == 2


@pytest.mark.parametrize(
    ("setting", "code", "said"),
    [
        ({"VIZ": "banana"}, "import core", "VIZ='banana' is not a value that VIZ takes"),
        ({"DEV": "NOPE"}, "import core; core.Tensor([1])", "DEV='NOPE' is not a device"),
        (
            {"VIZ": "1", "UOPVIZ_PORT": "x"},
            "import core; core.Tensor([1])",
            "UOPVIZ_PORT='x' is not a port",
        ),
    ],
)
def test_a_wrong_setting_ends_the_program_without_frames(
    setting: dict[str, str], code: str, said: str, tmp_path: Path
) -> None:
    kept = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), **setting}
    done = subprocess.run([sys.executable, "-c", code], env=kept, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == said
    assert "Traceback" not in done.stderr
    assert "hint: " in done.stderr


def test_other_exceptions_after_a_wrong_setting_go_the_usual_way() -> None:
    code = "\n".join(
        [
            "from core import Tensor",
            "from core.errors import EnvError",
            "try: Tensor([1])",
            "except EnvError: pass",
            "1 / 0",
        ]
    )
    kept = {**os.environ, "DEV": "NOPE"}
    done = subprocess.run([sys.executable, "-c", code], env=kept, capture_output=True, text=True)
    assert "Traceback" in done.stderr
    assert "ZeroDivisionError" in done.stderr


def test_a_wrong_value_in_the_program_says_where() -> None:
    code = "from core.helpers import Context\nwith Context(DEBUG=99): pass"
    kept = {**os.environ, "DEBUG": "0"}
    done = subprocess.run([sys.executable, "-c", code], env=kept, capture_output=True, text=True)
    assert "line 2, in <module>" in done.stderr
    assert "DEBUG='99' is not a value that DEBUG takes" in done.stderr
