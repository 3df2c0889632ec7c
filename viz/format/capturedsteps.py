"""Values of a captured step of the run, captured on request: blocks of kind CAPTURED_STEPS.

Such a block describes them; blocks of kind VALUES hold the bytes, as for kernels
(`viz/format/captured.py`). Never interprets bytes as anything but numbers of the dtype that is
named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, cast

from core.errors import TraceError
from viz.budget import take
from viz.format.captured import MAX_BYTES, CapturedArgument, argument_of
from viz.format.cells import as_int, as_list, as_text
from viz.format.pack import pack_json, unpack_json

_NAME: Final = 200
MOST: Final = 10_000
"""Buffers of a step at most."""
_BYTES: Final = 600
"""Bytes that are kept of a step or buffer."""


@dataclass(frozen=True, slots=True)
class CapturedStep:
    """What is known of a replay of the step whose text is in the context `context`: its name, the
    device, which replay it was, counted from 1, and memory by its number in that text: what it held
    `before` the step, and `after` it. `why`: some of these values are missing, because of this."""

    context: int
    name: str
    device: str
    replay: int = 1
    before: tuple[CapturedArgument, ...] = ()
    after: tuple[CapturedArgument, ...] = ()
    why: str = ""

    @property
    def all(self) -> tuple[CapturedArgument, ...]:
        """The values before, then those after."""
        return self.before + self.after

    @property
    def bytes(self) -> int:
        """Bytes of all its values."""
        return sum(one.bytes for one in self.all)


FIELDS: Final = ("context", "name", "device", "replay", "before", "after", "why", "values")
"""The keys of a step in a block of kind CAPTURED_STEPS, and the values themselves."""


def pack_steps(steps: Sequence[CapturedStep]) -> bytes:
    """A block of kind CAPTURED_STEPS."""
    return pack_json([asdict(step) for step in steps])


def unpack_steps(data: bytes) -> list[CapturedStep]:
    """What `pack_steps` made; what makes no sense is left out. Raises TraceError and
    BudgetError."""
    items = unpack_json(data)
    if not isinstance(items, list):
        raise TraceError("a block of values of captured steps is damaged")
    objects = [
        cast("dict[str, Any]", item) for item in cast("list[Any]", items) if isinstance(item, dict)
    ]
    found = [step for step in map(_step, objects) if step is not None]
    count = sum(1 + len(step.all) for step in found)
    take(count, _BYTES * count)
    return found


def _step(item: dict[str, Any]) -> CapturedStep | None:
    before, after = (
        [argument_of(one) for one in as_list(item.get(key))[:MOST]] for key in ("before", "after")
    )
    kept = [[one for one in some if one is not None] for some in (before, after)]
    step = CapturedStep(
        as_int(item.get("context")),
        as_text(item.get("name"), _NAME),
        as_text(item.get("device"), _NAME),
        max(1, as_int(item.get("replay"), 1)),
        tuple(kept[0]),
        tuple(kept[1]),
        as_text(item.get("why"), _NAME),
    )
    whole = len(step.all) == len(before) + len(after)
    return step if whole and step.bytes <= MAX_BYTES else None
