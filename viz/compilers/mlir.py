"""The dialect of MLIR's text: how the ops of its own dialects, of Triton's and of XLA's are shown,
by the beginning of their names. Other names are plain ops.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from viz.dialect.dialect import Dialect, Group, Op, TextKind

VERSION: Final = 1
_GROUPS: Final[Mapping[Group, tuple[str, ...]]] = {
    "const": (
        *("arith.constant", "llvm.mlir.constant", "tosa.const", "stablehlo.constant"),
        *("index.constant", "tt.make_range", "value"),
    ),
    "range": (
        *("scf.for", "scf.forall", "scf.while", "scf.parallel", "affine.for", "affine.parallel"),
        *("stablehlo.iota", "argument", "gpu.thread_id", "gpu.block_id", "tt.get_program_id"),
    ),
    "arithmetic": (
        *("arith.", "math.", "index.", "complex.", "affine.apply", "stablehlo.", "tosa."),
        *("tt.addptr", "llvm."),
    ),
    "memory": (
        *("memref.", "bufferization.", "tt.load", "tt.store", "llvm.load", "llvm.store", "ttg."),
        *("llvm.alloca", "llvm.getelementptr", "affine.load", "affine.store", "vector.load"),
        *("vector.store", "vector.transfer_read", "vector.transfer_write"),
    ),
    "reduce": (
        *("linalg.matmul", "linalg.batch_matmul", "linalg.reduce", "vector.reduction"),
        *("vector.contract", "vector.multi_reduction", "tt.dot", "tt.reduce", "stablehlo.dot"),
        *("stablehlo.dot_general", "stablehlo.reduce", "stablehlo.convolution", "tosa.matmul"),
    ),
    "movement": (
        *("tensor.", "vector.", "linalg.", "tt.broadcast", "tt.expand_dims", "tt.splat"),
        *("tt.reshape", "tt.trans", "ttg.convert_layout", "memref.subview", "memref.cast"),
        *("stablehlo.broadcast_in_dim", "stablehlo.reshape", "stablehlo.transpose"),
        *("stablehlo.slice", "stablehlo.pad", "stablehlo.concatenate"),
    ),
    "control": (
        *("builtin.", "module", "func.", "cf.", "scf.", "return", "block", "llvm.func"),
        *("llvm.return", "llvm.br", "llvm.cond_br", "tt.func", "tt.return", "tt.call"),
        *("gpu.", "affine.yield", "linalg.yield", "stablehlo.return", "stablehlo.while"),
    ),
}
_COMMUTES: Final = frozenset(
    f"arith.{name}"
    for name in (
        *("addi", "addf", "muli", "mulf", "andi", "ori", "xori", "maximumf", "minimumf"),
        *("maxsi", "maxui", "minsi", "minui"),
    )
)


def _ops() -> dict[str, Op]:
    made: dict[str, Op] = {}
    for group, names in _GROUPS.items():
        for name in names:
            more: dict[str, Any] = {"named": "arg"} if group == "const" else {}
            made[name] = Op(group=group, **more)
    arithmetic = Op(group="arithmetic", commutes=True)
    return made | dict.fromkeys(sorted(_COMMUTES), arithmetic)


DIALECT: Final = Dialect(
    name="mlir",
    version=VERSION,
    title="MLIR",
    ops=_ops(),
    texts=(
        TextKind(name="ptx", title="PTX", language="ptx", ending=".ptx"),
        TextKind(name="amd_isa", title="AMD ISA", language="amd_isa", ending=".s"),
        TextKind(name="sass", title="SASS", language="sass", ending=".sass"),
    ),
)
XDSL: Final = replace(DIALECT, name="xdsl", title="xDSL")
"""The dialect of xDSL, whose ops are MLIR's."""
