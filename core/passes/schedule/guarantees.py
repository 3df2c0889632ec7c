"""What passes over a graph of Tensors guarantee, as predicates over the graph that they leave.

Never changes a graph.
"""

from __future__ import annotations

from typing import Final

from core.passes.contract import Guarantee, each
from core.passes.schedule.kernels.kernelize import Kernels
from core.uop import GroupOp, Ops, UOp

_MEMORY: Final = frozenset({Ops.BUFFER, Ops.BUFFER_VIEW, Ops.AFTER, Ops.BIND})


def _is_one_view(u: UOp, notes: Kernels) -> bool:
    return u.op is not Ops.VIEW or u.src[0].op is not Ops.VIEW


def _is_view(u: UOp, notes: Kernels) -> bool:
    return u.op not in GroupOp.Movement


def _takes_memory(u: UOp, notes: Kernels) -> bool:
    return u.op is not Ops.KERNEL or all(m.op in _MEMORY for m in u.src[1:])


VIEWS: Final[Guarantee[Kernels]] = each("every movement is a VIEW", _is_view)
ONE_VIEW: Final[Guarantee[Kernels]] = each("a VIEW is of no other VIEW", _is_one_view)
KERNELS: Final[Guarantee[Kernels]] = each("a KERNEL takes memory and variables", _takes_memory)
