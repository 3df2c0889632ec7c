"""The reference device: kernels evaluated by NumPy (kernel.py). It compiles nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from core.runtime.base import ComputeDevice
from core.runtime.buffer import Buffer
from core.runtime.host import HostAllocator
from core.runtime.reference.kernel import evaluate_kernel
from core.target import Target
from core.toolchain.program import Program
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp

INTERPRETER: Final = Target(
    "reference",
    "cpu",
    "reference",
    "NumPy, op by op",
    GroupOp.ALU | {Ops.CAST, Ops.BITCAST},
    vector_bytes=1 << 16,
    simd_bytes=1 << 16,
    has_local=True,
    shared_bytes=1 << 30,
    global_max=(1 << 31, 1 << 31, 1 << 31),
    local_max=(1 << 16, 1 << 16, 1 << 16),
    threads_max=1 << 16,
)
"""What the reference runs, as data: every op, and work groups of any size."""


class ReferenceRunner:
    """A kernel that NumPy evaluates."""

    def __init__(self, ast: UOp) -> None:
        self._ast = ast

    def __call__(
        self, buffers: Sequence[Buffer], variables: Mapping[str, int], wait: bool = False
    ) -> float | None:
        """Runs the kernel. Its time says nothing about any device."""
        evaluate_kernel(self._ast, [b.as_array() for b in buffers], variables)
        return None


class ReferenceDevice(ComputeDevice):
    """NumPy's meaning of each op. Compiles nothing."""

    def __init__(self, name: str) -> None:
        super().__init__(name, None, HostAllocator())

    @property
    def written_for(self) -> Target:
        return INTERPRETER

    def load(self, program: Program) -> ReferenceRunner:
        return ReferenceRunner(program.ast)

    def load_ast(self, ast: UOp, name: str) -> ReferenceRunner:
        return ReferenceRunner(ast)
