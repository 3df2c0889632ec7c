"""Kernels run by a device of this machine: a driver, on whatever processor it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from core.target import Family
from core.toolchain.program import Program
from tests.on_targets.emulated import Ran
from tests.on_targets.subject import Subject

DEVICES: Final[Mapping[Family, str]] = {"webgpu": "WEBGPU", "opencl": "OPENCL"}
"""By family of targets; texts of the others are emulated."""


def execute(subject: Subject, program: Program) -> Ran:
    """Runs a kernel on its arguments. Raises what the device raises."""
    return Ran(subject.wrong(subject.run(program, DEVICES[program.target.family])), 1, 1)
