"""What a kernel did that a GPU leaves undefined, as errors: line, its text, block and thread.

`FaultError` itself is with all errors in core/errors.py. Decides nothing about what is a fault.
"""

from __future__ import annotations

from typing import Final, Protocol

from core.errors import FaultError
from core.runtime.emulator.program import Code, Dim, Instruction

HINTS: Final = {
    "bounds": "check the index, or the gate of this access",
    "alignment": "an access of n bytes needs an address that n divides",
    "uninitialised": "write it first, on every path that leads here",
    "race": "put a barrier between the two accesses",
    "in flight": "wait for the group of the copy before (cp.async.wait_group); other threads need "
    "a barrier after that",
    "barrier": "all threads of a block must reach the barrier: move it out of the branch",
    "read-only": "only memory that is not an input may be written",
    "space": "the address must lie in the memory that the instruction names",
    "collective": "all threads of a warp must run this instruction together",
    "undefined": "the language says nothing of what follows: guard the operands, or drop the flag",
    "endless": "a loop does not end, or the launch is too large for an emulator",
}
"""Every kind of fault, with what to do about it."""


class Threads(Protocol):
    """What an error needs to know of a batch of threads."""

    code: Code

    def place(self, lane: int) -> tuple[Dim, Dim]:
        """(block, thread) of a lane."""
        ...


def fault(s: Threads, instruction: Instruction, kind: str, what: str, lane: int) -> FaultError:
    """The error for the thread in `lane` of a batch. `kind` is one of HINTS."""
    block, thread = s.place(lane)
    code = s.code
    where = (
        f"line {instruction.line}: {code.line(instruction.line)}\n"
        f"block {_dim(block)}, thread {_dim(thread)} of kernel {code.name}"
    )
    error = FaultError(what, where, HINTS[kind])
    error.kind, error.line, error.block, error.thread = kind, instruction.line, block, thread
    return error


def _dim(value: Dim) -> str:
    return f"({value[0]}, {value[1]}, {value[2]})"
