"""The passes of a run as entries of an exported file: made in one process, or in several at once.

Entries are the same either way. What the making of a pass tells about its rules (`NodeCounts`) is
taken over from other processes. Never packs one pass twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

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


class PassPacking:
    """The entries of all these passes of a run that lies in files which do not change, in order:
    begun at once, in processes where there are many. Where a process fails, this one does its
    work."""

    def __init__(self, store: Store, numbers: Sequence[int]) -> None:
        self._store = store
        self._parts = [numbers[at : at + _TOGETHER] for at in range(0, len(numbers), _TOGETHER)]
        self._pool: Pool[int] | None = None
        if len(numbers) < _WORTH or processors() == 1:
            return
        self._pool = Pool(_WORKER, processors(), _SECONDS)
        for at, part in enumerate(self._parts):
            self._pool.ask(at, {"trace": str(store.path), "passes": part})

    def __enter__(self) -> PassPacking:
        return self

    def __exit__(self, *_: object) -> None:
        """Ends all processes."""
        if self._pool is not None:
            self._pool.close()

    def __iter__(self) -> Iterator[Packed]:
        if self._pool is None:
            for part in self._parts:
                yield pack_passes(self._store, part)
            return
        ready: dict[int, Answered[int]] = {}
        answers = self._pool.answers()
        for at, part in enumerate(self._parts):
            while at not in ready:
                answered = next(answers)
                ready[answered.key] = answered
            yield self._taken(part, ready.pop(at))

    def _taken(self, numbers: Sequence[int], answered: Answered[int]) -> Packed:
        """What a process has made of some passes."""
        if answered.error is not None:
            return pack_passes(self._store, numbers)
        value: dict[str, Any] = answered.value
        packed = Packed([(n, text) for n, text in value["entries"]], value["counts"])
        for number, counts in zip(numbers, packed.counts, strict=True):
            if counts is not None:
                told = [(rule, added, removed) for rule, added, removed in counts]
                self._store.take_node_counts(number, told)
        return packed
