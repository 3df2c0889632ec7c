"""Names of registers in PTX, which say what a register is for: %load2, %acc0, %addr1, %cond3.

A family of registers has one type. Where a role has registers of an unusual type, their family
names it: %alu0 is float32, %alu_r0 has 32 bits of an integer. Knows no instruction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.dtype import dtypes
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp

_ROLES: Final = {
    Ops.LOAD: "load",
    Ops.LDMATRIX: "load",
    Ops.STORE: "out",
    Ops.CAST: "cast",
    Ops.BITCAST: "cast",
    Ops.ADDRESS: "addr",
    Ops.DEFINE_REG: "acc",
    Ops.WMMA: "tile",
    Ops.END: "more",
    Ops.RANGE: "none",
}
_USUAL: Final = {
    "addr": "rd", "idx": "r", "word": "r", "half": "h", "cond": "p", "more": "p", "none": "p"
}  # fmt: skip
"""The default class of a role's registers; for other roles, that of float32."""


def indices_of(uops: Sequence[UOp]) -> frozenset[UOp]:
    """The integers that addresses are made of."""
    found: set[UOp] = set()
    for u in reversed(uops):
        if u.op is Ops.ADDRESS:
            found.update(u.src[1:])
        elif u in found and u.op in GroupOp.Elementwise:
            found.update(s for s in u.src if dtypes.is_int(s.dtype))
    return frozenset(found)


def role_of(u: UOp, indices: frozenset[UOp]) -> str:
    """What the registers of a node are called, before their number."""
    if u in indices:
        return "idx"
    if dtypes.is_bool(u.dtype) and u.op in GroupOp.Elementwise:
        return "cond"
    if u.op is Ops.BITCAST and u.dtype.count != u.src[0].dtype.count:
        return "half" if u.dtype.count > 1 else "word"
    return _ROLES.get(u.op, "alu")


def family(role: str, kind: str) -> str:
    """The name of the registers of a class in a role."""
    return role if _USUAL.get(role, "f") == kind else f"{role}_{kind}"
