"""Memory that is to be written by kernels that have not run yet: reading it is an error.

`Tensor.schedule` leaves kernels to the caller, and a run may end between two of them. Until each
kernel that writes some memory has run, its contents are undefined. The table is empty but
for such memory, so that launches look nothing up. Never runs anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol
from weakref import WeakKeyDictionary

from core.errors import RunError
from core.runtime.buffer import Buffer, buffer_of
from core.uop.kernels import output_count
from core.uop.uop import UOp


class Item(Protocol):
    """What is known of a ScheduleItem here."""

    @property
    def ast(self) -> UOp:
        """A kernel's SINK, or a COPY."""
        ...

    @property
    def bufs(self) -> tuple[UOp, ...]:
        """The BUFFER behind each argument, those that are written first."""
        ...


class _Content:
    """The outstanding writes to some memory: how many launches, and which schedules hold them."""

    __slots__ = ("begun", "hint", "launches", "why")

    def __init__(self, why: str, hint: str, begun: bool) -> None:
        self.why, self.hint = why, hint
        self.begun = begun
        """Whether it had some value before, or has a part of this one."""
        self.launches = 0


awaited: Final[WeakKeyDictionary[Buffer, _Content]] = WeakKeyDictionary()
"""The memory whose content has to be computed; of parts of a buffer, that buffer."""


def expect(items: Iterable[Item], why: str, hint: str) -> None:
    """Marks what `items` write as not computed yet."""
    for item in items:
        for u in _written(item):
            buffer = _whole(buffer_of(u))
            found = awaited.get(buffer)
            if found is None:
                found = awaited[buffer] = _Content(why, hint, buffer.allocated)
            found.launches += 1


def expect_rest(items: Sequence[Item], failed: Item, error: BaseException) -> None:
    """A run of `items` ended in `failed`: what it and later ones write does not exist."""
    start = next(k for k, item in enumerate(items) if item is failed)
    rest = [i for i in items[start:] if not any(_whole(buffer_of(u)) in awaited for u in i.bufs)]
    why = f"the run that was to compute it ended with {type(error).__name__}"
    expect(rest, why, "compute it anew from Tensors that have their values")


def check(buffer: Buffer, where: str = "") -> None:
    """Raises RunError where the content of a buffer has yet to be computed."""
    found = awaited.get(_whole(buffer))
    if found is not None:
        raise RunError(f"a value that was never computed: {found.why}", where, found.hint)


def concerns(items: Iterable[Item]) -> bool:
    """Whether some of `items` reads or writes memory whose content has to be computed."""
    return bool(awaited) and any(
        _whole(buffer_of(u)) in awaited for item in items for u in item.bufs
    )


def before(item: Item) -> None:
    """Raises RunError where an item that is about to run reads what nothing has written yet."""
    for u in item.bufs[output_count(item.ast) :]:
        found = awaited.get(_whole(buffer_of(u)))
        if found is not None and not found.begun:
            check(buffer_of(u))


def after(item: Item) -> None:
    """An item has run."""
    for u in _written(item):
        buffer = _whole(buffer_of(u))
        if (found := awaited.get(buffer)) is not None:
            found.begun = True
            found.launches -= 1
            if found.launches <= 0:
                del awaited[buffer]


def _written(item: Item) -> tuple[UOp, ...]:
    return item.bufs[: output_count(item.ast)]


def _whole(buffer: Buffer) -> Buffer:
    while buffer.base is not None:
        buffer = buffer.base
    return buffer
