"""The flags of a recording that change what `core` makes of a graph: read strictly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from core import helpers
from core.errors import EnvError
from core.helpers import Context
from viz.format.cells import as_int

COMPILING: Final = tuple(flag.name for flag in helpers.COMPILING)
"""Those that the code of a kernel depends on, besides its AST and target."""
SCHEDULING: Final = (
    "OPT", "DONT_GROUP_REDUCES", "DONT_REALIZE_EXPAND", "PUSH_CONTIGUOUS", "FUSE_CONV_BW",
    "SPLIT_REDUCE", "SPLIT_REDUCE_PARTS", "SPLIT_REDUCE_SIZE", "MAX_BUFFERS", "RING",
    "MEMORY_PLANNER",
)  # fmt: skip
"""Those that a schedule depends on, besides its graph."""


def flags_in(data: object, names: Sequence[str] = COMPILING) -> dict[str, int]:
    """The values of flags in what a trace, or a request, says of them."""
    if not isinstance(data, dict):
        return {}
    known = cast("dict[str, object]", data)
    return {name: as_int(known[name]) for name in names if name in known}


def context_of(flags: object, names: Sequence[str] = COMPILING) -> Context:
    """A block with these flags; with those of this process where they are no values of flags."""
    try:
        return Context(**cast("dict[str, Any]", flags_in(flags, names)))
    except EnvError:
        return Context()


def flags_of(request: Mapping[str, Any]) -> Context:
    """A block with the flags of a request that code depends on."""
    return context_of(request.get("flags"))
