"""The dialect of tinygrad, 0.11 to 0.14: what its ops are to the eye, and how they are written.

Shapes and bounds follow from nodes as in tinygrad (`viz/compilers/tinygradfacts.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from viz.compilers.tinygradfacts import TinygradFacts
from viz.dialect.dialect import Action, Dialect, Group, Op, TextKind

VERSION: Final = 1
_GROUPS: Final[Mapping[Group, str]] = {
    "memory": "DEFINE_GLOBAL DEFINE_LOCAL DEFINE_REG DEFINE_VAR BUFFER BUFFER_VIEW PARAM INDEX "
    "LOAD STORE ASSIGN AFTER GETADDR",
    "range": "RANGE SPECIAL",
    "const": "CONST VCONST BIND UNIQUE LUNIQUE PYLITERAL",
    "reduce": "REDUCE REDUCE_AXIS ALLREDUCE WMMA SHAPED_WMMA",
    "movement": "RESHAPE PERMUTE EXPAND PAD SHRINK FLIP MULTI UNSHARD VIEW VALID VECTORIZE STACK "
    "GEP UNROLL CONTRACT CAT VCAT PTRCAT",
    "control": "SINK NOOP GROUP KERNEL CUSTOM_KERNEL IF ENDIF END ENDRANGE BARRIER WAIT FUNCTION "
    "CALL PROGRAM LINEAR SOURCE BINARY TUPLE GETTUPLE CUSTOM_FUNCTION REWRITE_ERROR BLOCK "
    "BLOCKSTART BLOCKEND BLOCKFINAL CHILD CHILDREN PRECAST",
    "device": "DEVICE COPY CONTIGUOUS CONTIGUOUS_BACKWARD DETACH FUSE BUFFERIZE STAGE MSELECT "
    "MSTACK ENCDEC",
    "arithmetic": "CAST BITCAST EXP2 LOG2 SIN SQRT RECIP RECIPROCAL NEG TRUNC ADD MUL SHL SHR IDIV "
    "CDIV FLOORDIV MAX MOD CMOD FLOORMOD CMPLT CMPNE CMPEQ XOR OR AND THREEFRY SUB FDIV POW WHERE "
    "MULACC CUSTOM CUSTOMI INS",
}
_SHORT: Final = {
    "DEFINE_GLOBAL": "GLOBAL",
    "DEFINE_LOCAL": "LOCAL",
    "DEFINE_REG": "REG",
    "DEFINE_VAR": "VAR",
    "REDUCE_AXIS": "REDUCE",
    "CONTIGUOUS": "CONTIG",
    "CONTIGUOUS_BACKWARD": "CONTIG BW",
    "RECIPROCAL": "RECIP",
    "VECTORIZE": "VECTOR",
    "REWRITE_ERROR": "ERROR",
    "CUSTOM_FUNCTION": "CUSTOM FN",
}
_COMMUTES: Final = frozenset(("ADD", "MUL", "MAX", "CMPNE", "CMPEQ", "XOR", "OR", "AND"))
_JOINS: Final = _COMMUTES - {"CMPNE", "CMPEQ"}
_SPELLED: Final[Mapping[str, tuple[str, int]]] = {
    "WHERE": ("{} ? {} : {}", 0),
    "OR": ("{} | {}", 1),
    "XOR": ("{} ^ {}", 2),
    "AND": ("{} & {}", 3),
    "CMPEQ": ("{} == {}", 4),
    "CMPNE": ("{} != {}", 4),
    "CMPLT": ("{} < {}", 5),
    "SHL": ("{} << {}", 6),
    "SHR": ("{} >> {}", 6),
    "ADD": ("{} + {}", 7),
    "SUB": ("{} - {}", 7),
    "MUL": ("{}*{}", 8),
    **dict.fromkeys(("IDIV", "CDIV", "FLOORDIV"), ("{}/{}", 8)),
    **dict.fromkeys(("MOD", "CMOD", "FLOORMOD"), ("{}%{}", 8)),
    "NEG": ("-{}", 9),
}
_MORE: Final[Mapping[str, Mapping[str, Any]]] = {
    "INDEX": {"addresses": (1, -1)},
    "CONST": {"named": "arg"},
    "VCONST": {"named": "arg"},
    "SPECIAL": {"named": "word"},
    "DEFINE_VAR": {"named": "word"},
    "UNIQUE": {"counted": True},
    "LUNIQUE": {"counted": True},
}


def _op(name: str, group: Group) -> Op:
    spelled, binds = _SPELLED.get(name, ("", 10))
    return Op(
        group=group,
        short=_SHORT.get(name, ""),
        commutes=name in _COMMUTES,
        joins=name in _JOINS,
        computes=group in ("arithmetic", "reduce"),
        spelled=spelled,
        binds=binds,
        **_MORE.get(name, {}),
    )


DIALECT: Final = Dialect(
    name="tinygrad",
    version=VERSION,
    title="tinygrad",
    ops={name: _op(name, group) for group, names in _GROUPS.items() for name in names.split()},
    facts=TinygradFacts,
    actions=frozenset((Action.CHECK, Action.BISECT)),
    texts=(TextKind(name="source", title="Source", language="c", ending=".c"),),
)
