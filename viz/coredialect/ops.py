"""Each op of `core` for the explorer: its group, and how it is written and folded."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from core.uop.engine.origin import COMPUTING
from core.uop.ops import GroupOp, Ops
from viz.dialect.dialect import Op

_GROUPS: Final[Mapping[str, frozenset[Ops]]] = {
    "memory": GroupOp.Defines
    | {
        *(Ops.DEFINE_VAR, Ops.BUFFER, Ops.BUFFER_VIEW, Ops.ASSIGN, Ops.AFTER, Ops.OUTPUT),
        *(Ops.INDEX, Ops.ADDRESS, Ops.LOAD, Ops.LDMATRIX, Ops.STORE, Ops.COPY_ASYNC),
    },
    "range": frozenset({Ops.RANGE, Ops.SPECIAL, Ops.IOTA}),
    "const": frozenset({Ops.CONST, Ops.VCONST, Ops.BIND, Ops.UNIQUE}),
    "reduce": frozenset({Ops.REDUCE, Ops.REDUCE_AXIS, Ops.ALLREDUCE, Ops.WMMA}),
    "movement": GroupOp.Movement
    | {
        *(Ops.VIEW, Ops.MULTI, Ops.LENGTH, Ops.SHUFFLE),
        *(Ops.VECTORIZE, Ops.GEP, Ops.UNROLL, Ops.CONTRACT),
    },
    "control": frozenset(
        {
            *(Ops.SINK, Ops.NOOP, Ops.GROUP, Ops.KERNEL, Ops.IF, Ops.ENDIF, Ops.END),
            *(Ops.BARRIER, Ops.COMMIT, Ops.WAIT),
        }
    ),
    "device": frozenset(
        {
            *(Ops.DEVICE, Ops.COPY, Ops.CONTIGUOUS, Ops.CONTIGUOUS_BACKWARD, Ops.FUSE),
            *(Ops.DETACH, Ops.DERIVATIVE, Ops.GRADIENT, Ops.MSELECT),
        }
    ),
    "arithmetic": GroupOp.Elementwise,
}
_SHORT: Final[Mapping[Ops, str]] = {
    Ops.DEFINE_GLOBAL: "GLOBAL",
    Ops.DEFINE_LOCAL: "LOCAL",
    Ops.DEFINE_REG: "REG",
    Ops.DEFINE_VAR: "VAR",
    Ops.REDUCE_AXIS: "REDUCE",
    Ops.CONTIGUOUS: "CONTIG",
    Ops.CONTIGUOUS_BACKWARD: "CONTIG BW",
    Ops.RECIPROCAL: "RECIP",
    Ops.GRADIENT: "GRAD",
    Ops.VECTORIZE: "VECTOR",
}
_SPELLED: Final[Mapping[Ops, tuple[str, int]]] = {
    Ops.WHERE: ("{} ? {} : {}", 0),
    Ops.OR: ("{} | {}", 1),
    Ops.XOR: ("{} ^ {}", 2),
    Ops.AND: ("{} & {}", 3),
    Ops.CMPEQ: ("{} == {}", 4),
    Ops.CMPNE: ("{} != {}", 4),
    Ops.CMPLT: ("{} < {}", 5),
    Ops.SHL: ("{} << {}", 6),
    Ops.SHR: ("{} >> {}", 6),
    Ops.ADD: ("{} + {}", 7),
    Ops.SUB: ("{} - {}", 7),
    Ops.MUL: ("{}*{}", 8),
    Ops.IDIV: ("{}/{}", 8),
    Ops.MOD: ("{}%{}", 8),
    Ops.NEG: ("-{}", 9),
    Ops.CAST: ("{dtype}({})", 10),
}
_MORE: Final[Mapping[Ops, Mapping[str, Any]]] = {
    Ops.INDEX: {"addresses": (1, -1)},
    Ops.ADDRESS: {"addresses": (1, -1)},
    Ops.LOAD: {"addresses": (0, 0)},
    Ops.STORE: {"addresses": (0, 0)},
    Ops.CONST: {"named": "arg"},
    Ops.VCONST: {"named": "arg"},
    Ops.RANGE: {"named": "range"},
    Ops.SPECIAL: {"named": "word"},
    Ops.DEFINE_VAR: {"named": "word"},
    Ops.UNIQUE: {"counted": True, "named": "arg"},
    Ops.BIND: {"named": "arg"},
    Ops.ADD: {"on_bool": "OR"},
    Ops.MUL: {"on_bool": "AND"},
    Ops.CMPNE: {"negates": "True"},
    Ops.SINK: {"passing": True},  # the name of its kernel
}


def _op(op: Ops) -> Op:
    spelled, binds = _SPELLED.get(op, ("", 10))
    return Op(
        group=next(group for group, ops in _GROUPS.items() if op in ops),  # type: ignore[arg-type]
        short=_SHORT.get(op, ""),
        commutes=op in GroupOp.Commutative,
        joins=op in GroupOp.Associative,
        computes=op in COMPUTING,
        spelled=spelled,
        binds=binds,
        **_MORE.get(op, {}),
    )


OPS: Final[Mapping[str, Op]] = MappingProxyType({op.name: _op(op) for op in Ops})
