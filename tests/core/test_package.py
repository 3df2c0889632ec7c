"""What `import core` gives, and what it does not load."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import core

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("Context", "Device", "Tensor", "TinyJit", "UOp", "Variable", "dtypes", "nn")


def said(program: str) -> str:
    """What a program prints that runs in a process of its own."""
    environment = {k: v for k, v in os.environ.items() if k != "VIZ"} | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program]
    return subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True
    ).stdout.strip()


def test_rewriting_loads_no_tensors() -> None:
    program = "import sys, core.uop; print('core.tensor' in sys.modules, 'core.nn' in sys.modules)"
    assert said(program) == "False False"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_there_when_it_is_asked_for(name: str) -> None:
    assert name in dir(core)
    assert said(f"import core; print(core.{name} is not None)") == "True"
    assert said(f"from core import {name}; print({name} is not None)") == "True"


def test_other_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'tensors'"):
        core.__getattr__("tensors")


def test_the_command_line_waits_for_no_arrays() -> None:
    """Help and mistakes on the command line come at once: NumPy takes most of the time of all."""
    program = "import sys, viz.cli; sys.exit('numpy' in sys.modules or 'importlib.metadata' in"
    assert said(program + " sys.modules)") == ""
