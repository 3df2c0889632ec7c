"""What a command imports: everything else would be waited for before the page is there."""

from __future__ import annotations

import subprocess
import sys

import pytest

COMPILER = ("core.compile", "core.passes.pipeline", "core.render.ptx", "core.tensor", "llvmlite")
RECORDER = ("viz.trace", "viz.write.writer")


@pytest.mark.parametrize(
    ("module", "without"),
    [
        ("viz.command.serving", (*COMPILER, *RECORDER)),
        ("viz.command.printed.show", (*COMPILER, *RECORDER, "flask")),
        ("viz.command.line.parser", (*COMPILER, *RECORDER, "flask", "importlib.metadata")),
    ],
)
def test_a_command_does_not_wait_for_what_it_does_not_use(
    module: str, without: tuple[str, ...]
) -> None:
    script = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert not set(without) & set(done.stdout.split())
