"""What operations of MLIR and XLA call their operands, in their order: a table. An operation that
is not in it has operands without names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ORDER: Final = "order"
"""Of what is no operand: it must come before."""
REGION: Final = "region"

_NAMES: Final[Mapping[str, str]] = {
    "affine.load": "memref index*",
    "affine.store": "value memref index*",
    "arith.select": "condition true false",
    "cf.cond_br": "condition argument*",
    "linalg.matmul": "lhs rhs out",
    "llvm.load": "pointer",
    "llvm.store": "value pointer",
    "memref.load": "memref index*",
    "memref.store": "value memref index*",
    "scf.for": "lower upper step init*",
    "scf.if": "condition",
    "scf.while": "init*",
    "tensor.extract": "tensor index*",
    "tensor.insert": "value tensor index*",
    "tt.dot": "a b acc",
    "tt.load": "pointer mask other",
    "tt.store": "pointer value mask",
    "vector.contract": "lhs rhs acc",
    "vector.fma": "a b acc",
    "clamp": "min operand max",
    "compare": "lhs rhs",
    "convolution": "lhs rhs",
    "divide": "lhs rhs",
    "dot": "lhs rhs",
    "dot-general": "lhs rhs",
    "dynamic-slice": "operand start*",
    "dynamic-update-slice": "operand update start*",
    "gather": "operand indices",
    "pad": "operand padding",
    "power": "lhs rhs",
    "remainder": "lhs rhs",
    "select": "pred on_true on_false",
    "select-and-scatter": "operand source init",
    "shift-left": "lhs rhs",
    "shift-right-arithmetic": "lhs rhs",
    "shift-right-logical": "lhs rhs",
    "subtract": "lhs rhs",
    "triangular-solve": "a b",
    "while": "init*",
}
"""A name with `*` is that of all operands from its place on."""
_BOTH: Final = ("arith.div", "arith.rem", "arith.sub", "arith.cmp", "arith.sh")
"""Beginnings of operations whose two operands are a left and a right one."""
_HALVES: Final = ("reduce", "reduce-window")
"""As many operands as initial values."""
_DIALECTS: Final = ("stablehlo.", "mhlo.")
"""Operations of XLA by other names."""


def roles_of(op: str, count: int) -> list[str]:
    """The names of so many operands of an operation; "" where there is none."""
    for dialect in _DIALECTS:
        if op.startswith(dialect):
            op = op.removeprefix(dialect).replace("_", "-")
    if op in _HALVES and count % 2 == 0:
        return ["operand"] * (count // 2) + ["init"] * (count // 2)
    if count == 2 and op.startswith(_BOTH):
        return ["lhs", "rhs"]
    names = _NAMES.get(op, "").split()
    last = names[-1].removesuffix("*") if names and names[-1].endswith("*") else ""
    found = [name.removesuffix("*") for name in names[:count]]
    return found + [last] * (count - len(found))
