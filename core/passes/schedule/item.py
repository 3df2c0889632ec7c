"""One step of a schedule, as the runtime takes it. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.uop import UOp


@dataclass(frozen=True)
class ScheduleItem:
    """A kernel (`ast` is a SINK) or a transfer (a COPY), on `bufs` in the order of its arguments.

    `bufs` are BUFFER nodes, or BUFFER_VIEW of one; outputs come first, and a transfer has (to,
    from). `metadata` are the user's lines and calls that asked for it ("model.py:12 relu"),
    `variables` the values bound to the AST's DEFINE_VARs, by name.
    """

    ast: UOp
    bufs: tuple[UOp, ...]
    metadata: tuple[str, ...] = ()
    variables: Mapping[str, int] = field(default_factory=lambda: dict[str, int]())
