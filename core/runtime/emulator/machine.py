"""`execute`: all blocks of a launch, many at once, each instruction on all of their threads.

Threads that part ways wait for each other at the immediate post-dominator. Knows no language.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.runtime.emulator.memory import Region
from core.runtime.emulator.program import Code, Dim


@dataclass(frozen=True, eq=False)
class Launch:
    """What a kernel is started with: blocks, threads per block, the bytes of its parameters (laid
    out as `Code.parameters` says) and the memory that it may touch."""

    grid: Dim
    block: Dim
    params: bytes
    regions: tuple[Region, ...]


def execute(code: Code, launch: Launch) -> None:
    """Runs a kernel to its end; memory is changed in place.

    Raises FaultError for what a GPU leaves undefined or answers with an error, with the line, its
    text, the block and the thread.
    """
    raise NotImplementedError
