"""The flags of a recording that change what `core` makes of a graph: read strictly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from core import helpers
from core.errors import EnvError
from core.hardware.host import settings_of
from core.helpers import CPU_MACHINE, Context
from viz.format.cells import as_int

COMPILING: Final = tuple(flag.name for flag in helpers.COMPILING)
"""Those that the code of a kernel depends on, besides its AST and target."""
SCHEDULING: Final = (
    "OPT", "DONT_GROUP_REDUCES", "DONT_REALIZE_EXPAND", "PUSH_CONTIGUOUS", "FUSE_CONV_BW",
    "SPLIT_REDUCE", "SPLIT_REDUCE_PARTS", "SPLIT_REDUCE_SIZE", "MAX_BUFFERS", "RING",
    "MEMORY_PLANNER",
)  # fmt: skip
"""Those that a schedule depends on, besides its graph."""


Flags = Mapping[str, int | str]
"""Numbers, and the text of CPU_MACHINE."""


def flags_in(data: object, names: Sequence[str] = COMPILING) -> dict[str, int | str]:
    """The values of flags in what a trace, or a request, says of them."""
    if not isinstance(data, dict):
        return {}
    known = cast("dict[str, object]", data)
    numbers = {name: as_int(known[name]) for name in names if name in known}
    return {**numbers, **machine_in(known)}


def machine_in(meta: Mapping[str, object]) -> dict[str, str]:
    """The processor that opts were chosen for, in what a trace, or a request, says of a kernel;
    nothing where it does not say, or says what is no figure of one."""
    text = meta.get(CPU_MACHINE.name)
    try:
        settings_of(text if isinstance(text, str) else "?")
    except EnvError:
        return {}
    return {CPU_MACHINE.name: str(text)}


def context_of(flags: object, names: Sequence[str] = COMPILING) -> Context:
    """A block with these flags; with those of this process where they are no values of flags."""
    try:
        return Context(**cast("dict[str, Any]", flags_in(flags, names)))
    except EnvError:
        return Context()


def flags_of(request: Mapping[str, Any]) -> Context:
    """A block with the flags of a request that code depends on."""
    return context_of(request.get("flags"))
