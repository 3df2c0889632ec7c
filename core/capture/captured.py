"""Captured kernels, copies and random draws, to be run again for other inputs.

`jit.py` captures them, and settles what waits for their memory. Never compiles anything.
"""

from __future__ import annotations

import functools
import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any, cast

from core.helpers import JIT
from core.launch.batch import Batch
from core.passes.schedule import ScheduleItem
from core.realize import Step, run_batch, run_now, run_schedule
from core.uop.kernels import output_count
from core.uop.ops import Ops
from core.uop.uop import UOp

_numbers = itertools.count(1)
BeforeReplay = Callable[["Replay"], Callable[[], None]]
"""Is called with a replay that is about to run; what it gives is called once it has run."""


class _Watching:
    """Who is called before replays: replaced as a whole, so that reading needs no lock."""

    calls: tuple[BeforeReplay, ...] = ()
    lock = threading.Lock()


def watch_replays(call: BeforeReplay) -> None:
    """`call` is called before each replay, in all threads, while memory holds what the replay
    begins with. It must not change that, nor raise."""
    with _Watching.lock:
        _Watching.calls = (*_Watching.calls, call)


def unwatch_replays(call: BeforeReplay) -> None:
    """Ends `watch_replays`; nothing where it was not called."""
    with _Watching.lock:
        _Watching.calls = tuple(c for c in _Watching.calls if c != call)


class Replay:
    """Kernels and random draws in order, with the memory of the inputs that they are for; the
    BUFFERs that they only read, and those that they write. `first`: the captured one, where this is
    for other inputs."""

    def __init__(
        self,
        steps: tuple[Step, ...] | Callable[[], tuple[Step, ...]],
        inputs: tuple[UOp, ...],
        read: frozenset[UOp],
        written: frozenset[UOp],
        first: Replay | None = None,
    ) -> None:
        self._first = first
        self.name = ""
        """Of the one that was captured, what it is called."""
        self._steps = steps
        self.inputs, self.read, self.written = inputs, read, written
        self._parts: tuple[Batch | Callable[[], None], ...] | None = None

    @property
    def steps(self) -> tuple[Step, ...]:
        """Kernels, copies and draws."""
        if callable(self._steps):
            self._steps = self._steps()
        return self._steps

    @classmethod
    def of(cls, steps: Sequence[Step], inputs: tuple[UOp, ...]) -> Replay:
        """Works out what the steps read and write."""
        read, written = touched(steps)
        return cls(tuple(steps), inputs, read, written)

    @property
    def first(self) -> Replay:
        """As it was captured. Not a reference of its own: what a replay keeps goes when it does."""
        return self._first or self

    @functools.cached_property
    def number(self) -> int:
        """Names the one that was captured among all of this process, from 1."""
        return next(_numbers)

    @functools.cached_property
    def _own(self) -> frozenset[UOp]:
        return (self.read | self.written).difference(self.inputs)

    def clashes(self, inputs: tuple[UOp, ...]) -> bool:
        """Whether other inputs are memory that the steps use anyway, and one of the two is written:
        the order of the steps, and what each copies first, is not made for that."""
        return any(
            new in self._own and (new in self.written or old in self.written)
            for old, new in zip(self.inputs, inputs, strict=True)
        )

    def on(
        self, inputs: tuple[UOp, ...], variables: Mapping[str, int], last: Replay | None = None
    ) -> Replay:
        """The same for other inputs and values of variables. `last`: one of these that does not run
        again, whose graphs are used once more."""
        new = dict(zip(self.inputs, inputs, strict=True))

        def steps() -> tuple[Step, ...]:
            return tuple(
                replace(
                    step,
                    bufs=tuple(_renamed(b, new) for b in step.bufs),
                    variables={name: variables.get(name, n) for name, n in step.variables.items()},
                )
                if isinstance(step, ScheduleItem)
                else step
                for step in self.steps
            )

        read, written = (self._with(some, new) for some in (self.read, self.written))
        made = Replay(steps, inputs, read - written, written, self.first)
        if last is not None:
            made._parts = last._parts or self.parts
            for at, part in enumerate(made._parts):
                if isinstance(part, Batch):
                    part.move(functools.partial(made.items_of, at), new, variables)
        return made

    def _with(self, some: frozenset[UOp], new: Mapping[UOp, UOp]) -> frozenset[UOp]:
        moved = [u for u in self.inputs if u in some]
        return some.difference(moved).union([new[u] for u in moved]) if moved else some

    @property
    def parts(self) -> tuple[Batch | Callable[[], None], ...]:
        """The steps, kernels and copies that follow each other together."""
        if self._parts is None:
            found: list[Batch | Callable[[], None]] = []
            for kernels, steps in self._grouped():
                some = [Batch(cast("list[ScheduleItem]", steps))] if kernels else cast("Any", steps)
                found += some
            self._parts = tuple(found)
        return self._parts

    def items_of(self, part: int) -> list[ScheduleItem]:
        """The kernels and copies of a part."""
        found: list[list[ScheduleItem]] = []
        for kernels, steps in self._grouped():
            found += [cast("list[ScheduleItem]", steps)] if kernels else [[] for _ in steps]
        return found[part]

    def _grouped(self) -> Iterator[tuple[bool, list[Step]]]:
        for kernels, group in groupby(self.steps, lambda step: isinstance(step, ScheduleItem)):
            yield kernels, list(group)

    def pruned(self, before: UOp) -> Replay:
        """Without the steps that would compute again what they computed when they were captured.

        A kernel or copy is left out if it reads no input, no random state, and nothing that a step
        which stays writes; and if it writes memory that was made after the BUFFER `before`, and
        that no other step writes. So what it wrote is still there.
        """
        items = {i: s for i, s in enumerate(self.steps) if isinstance(s, ScheduleItem)}
        uses = {i: touched((item,)) for i, item in items.items()}
        writers = Counter(buffer for _, written in uses.values() for buffer in written)
        drawn = {arg for step in self.steps if isinstance(step, partial) for arg in step.args}
        out = {
            i
            for i, (_, written) in uses.items()
            if all(_newer(b, before) and writers[b] == 1 for b in written)
            and written.isdisjoint(_whole(items[i])[len(written) :])
        }
        while True:
            stay = (written for i, (_, written) in uses.items() if i not in out)
            changing = drawn.union(self.inputs, *stay)
            back = {i for i in out if not changing.isdisjoint(uses[i][0])}
            if not back:
                kept = [step for i, step in enumerate(self.steps) if i not in out]
                return Replay.of(kept, self.inputs)
            out -= back

    def run(self) -> None:
        """Runs the steps. What waits to use their memory has been settled before."""
        watched = [call(self) for call in _Watching.calls]
        self._run()
        for ended in watched:
            ended()

    def _run(self) -> None:
        if JIT.value > 1:
            for step in self.steps:
                if isinstance(step, ScheduleItem):
                    run_schedule((step,))
                else:
                    run_now(step)
            return
        for part in self.parts:
            if isinstance(part, Batch):
                run_batch(part)
            else:
                run_now(part)


def _renamed(memory: UOp, new: Mapping[UOp, UOp]) -> UOp:
    """A BUFFER, or BUFFER_VIEW of one, with new names for BUFFERs."""
    if memory.op is Ops.BUFFER_VIEW and memory.src[0] in new:
        return memory.rebuild((new[memory.src[0]],))
    return new.get(memory, memory)


def touched(steps: Sequence[Step]) -> tuple[frozenset[UOp], frozenset[UOp]]:
    """The BUFFERs that kernels and copies among `steps` only read, and those that they write."""
    written: set[UOp] = set()
    used: set[UOp] = set()
    for item in steps:
        if not isinstance(item, ScheduleItem):
            continue
        bufs = _whole(item)
        used.update(bufs)
        written.update(bufs[: output_count(item.ast)])
    return frozenset(used - written), frozenset(written)


def _whole(item: ScheduleItem) -> list[UOp]:
    """The BUFFER of each argument."""
    return [b.src[0] if b.op is Ops.BUFFER_VIEW else b for b in item.bufs]


def _newer(buffer: UOp, other: UOp) -> bool:
    return buffer.src[0].arg > other.src[0].arg
