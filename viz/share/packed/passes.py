"""The passes of a run as entries of an exported file: made in one process, or in several at once.

Entries are the same either way. What the making of a pass tells about its rules (`NodeCounts`) is
taken over from other processes. Never packs one pass twice.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final

from core.errors import ServerError
from viz.share.packed.dense import dense
from viz.share.packed.entry import Packer
from viz.views.store import Store
from viz.workers.pool import Answered, Pool, processors

_WORKER: Final = "viz.share.packed.worker"
_TOGETHER: Final = 50
"""Passes of one request; entries end where it does."""
_WORTH: Final = 400
"""Passes from which on it pays to start processes."""
_SECONDS: Final = 600.0
"""What one request may take; each pass has a budget of its own."""
Counts = list[tuple[int, int, int]] | None


@dataclass(frozen=True)
class Packed:
    """Some entries: how many passes are in each, and the entry. `counts`: of these passes, in
    order, what `Store.node_counts` knows then."""

    entries: list[tuple[int, str]]
    counts: list[Counts]


def pack_passes(store: Store, numbers: Sequence[int]) -> Packed:
    """The entries of these passes."""
    entries: list[tuple[int, str]] = []
    packer, inside = Packer(), 0

    def close() -> None:
        nonlocal inside
        made = packer.close()
        if made is not None:
            entries.append((inside, made))
        inside = 0

    for number in numbers:
        if packer.is_full:
            close()
        bundle = store.bundle(number)
        packer.add(None if bundle is None else dense(bundle))
        inside += 1
    close()
    return Packed(entries, [store.node_counts(number) for number in numbers])


def packed_passes(store: Store, numbers: Sequence[int]) -> Generator[Packed]:
    """The entries of all these passes of a run that lies in files which do not change, in order.
    Where a process fails, this one does its work."""
    parts = [numbers[at : at + _TOGETHER] for at in range(0, len(numbers), _TOGETHER)]
    if len(numbers) < _WORTH or processors() == 1:
        for part in parts:
            yield pack_passes(store, part)
        return
    files = [(one.number, str(one.file.path)) for one in store.compilations]
    request = {"trace": str(store.path), "compiled": files}
    ready: dict[int, Answered[int]] = {}
    with ExitStack() as stack:
        pool = stack.enter_context(Pool[int](_WORKER, processors(), _SECONDS))
        for at, part in enumerate(parts):
            pool.ask(at, {**request, "passes": part})
        answers = pool.answers()
        for at, part in enumerate(parts):
            while at not in ready:
                answered = next(answers)
                ready[answered.key] = answered
            yield _taken(store, part, ready.pop(at))


def _taken(store: Store, numbers: Sequence[int], answered: Answered[int]) -> Packed:
    """What a process has made of some passes."""
    if isinstance(answered.error, ServerError):
        return pack_passes(store, numbers)
    value: dict[str, Any] = answered.value
    packed = Packed([(n, text) for n, text in value["entries"]], value["counts"])
    for number, counts in zip(numbers, packed.counts, strict=True):
        if counts is not None:
            store.take_node_counts(number, [(rule, plus, minus) for rule, plus, minus in counts])
    return packed
