"""Whether the kernels of a schedule run in an order, and in memory, in which each finds what it
reads.

The graph of KERNELs says which state of which memory each kernel needs: a BUFFER as it was, or
AFTER a kernel. The recorded plan is walked in its order, with the state that each memory is then
in. Shares nothing with what orders kernels and plans memory. Runs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.kernelname import kernel_name
from core.uop import Ops, UOp
from core.uop.kernels import output_count

MEMORY: Final = "memory plan"
ORDER: Final = "linear schedule"
TITLES: Final = {MEMORY: "the memory plan", ORDER: "the order of kernels"}
_STATES: Final = frozenset({Ops.BUFFER, Ops.BUFFER_VIEW, Ops.AFTER})


def whole_of(memory: UOp) -> UOp:
    """The BUFFER that some memory is, or is a part of, whatever was stored in it."""
    while memory.op in (Ops.AFTER, Ops.BUFFER_VIEW):
        memory = memory.src[0]
    return memory


@dataclass(frozen=True)
class Item:
    """A KERNEL, and the memory that it takes when it runs, in the order of its arguments."""

    kernel: UOp
    memory: tuple[UOp, ...]

    @property
    def name(self) -> str:
        """As in the run."""
        ast = self.kernel.src[0]
        return "a copy" if ast.op is Ops.COPY else kernel_name(ast)


@dataclass(frozen=True)
class Fault:
    """What is wrong with a plan: `name` says whether it is the memory or the order; `node`: the
    memory, or the KERNEL."""

    name: str
    says: str
    node: UOp


def fault_of(graph: UOp, items: Sequence[Item]) -> Fault | None:
    """The first fault of a plan for the KERNELs of a graph; None where there is none."""
    return _Walk(items).run(graph)


def _state(memory: UOp) -> UOp:
    """The state of a whole memory that an argument needs."""
    return memory.src[0] if memory.op is Ops.BUFFER_VIEW else memory


def _is_part(state: UOp) -> bool:
    """Whether a state is that of a part of memory: of the rest it says nothing."""
    while state.op is Ops.AFTER:
        state = state.src[0]
    return state.op is Ops.BUFFER_VIEW


class _Walk:
    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        self._place = {item.kernel: n for n, item in enumerate(items)}
        self._held: dict[UOp, UOp] = {}
        """By memory that is used, the state that is in it; that of a part stands for anything."""
        self._made: dict[UOp, int] = {}
        """By state, the item that made it."""
        self._where: dict[UOp, UOp] = {}
        """By state, the memory that it was made in."""

    def run(self, graph: UOp) -> Fault | None:
        for n, item in enumerate(self._items):
            if (found := self._item(n, item)) is not None:
                return found
        last = len(self._items)
        for source in graph.src:
            base = source.base
            if base.op not in _STATES:
                continue
            state, place = _state(base), whole_of(base)
            if (found := self._needed(last, state, self._where.get(state, place))) is not None:
                return found
        return None

    def _item(self, n: int, item: Item) -> Fault | None:
        kernel = item.kernel
        arguments = [m for m in kernel.src[1:] if m.op is not Ops.BIND]
        count = output_count(kernel.src[0])
        if len(arguments) != len(item.memory):
            return Fault(ORDER, f"item {n} takes other arguments than {item.name}", kernel)
        places = [*map(whole_of, item.memory)]
        for at, (memory, place) in enumerate(zip(arguments, places, strict=True)):
            state = _state(memory)
            if at < count and state.op is Ops.BUFFER:
                continue  # what was in new memory does not matter
            if (found := self._needed(n, state, place)) is not None:
                return found
        for output in range(count):
            for other in range(len(places)):
                same = whole_of(arguments[output]) is whole_of(arguments[other])
                if places[output] is places[other] and not same:
                    return self._overlap(arguments[other], arguments[output], n, n)
        for memory, place in zip(arguments[:count], places[:count], strict=True):
            made = memory.after(kernel)
            self._held[place], self._made[made], self._where[made] = made, n, place
        return None

    def _needed(self, n: int, state: UOp, place: UOp) -> Fault | None:
        """What is wrong where item `n`, or what follows the last one, needs a state in a place."""
        held = self._held.get(place, place)
        if held is state or _is_part(held) or _is_part(state):
            return None
        if state.op is Ops.AFTER and state not in self._made:
            kernel, maker = self._items[n].kernel if n < len(self._items) else state, state.src[1]
            if (at := self._place.get(maker)) is None:
                return Fault(ORDER, f"{self._by(n)} needs a kernel that is not run", kernel)
            return Fault(ORDER, f"{self._by(n)} runs before {self._by(at)}, whose result it reads",
                         kernel)  # fmt: skip
        if whole_of(held) is not whole_of(state):
            return self._overlap(state, held, self._made.get(state, 0), n)
        writer = self._made.get(held, 0)
        says = f"{self._by(n)} runs after {self._by(writer)}, which overwrites what it reads"
        return Fault(ORDER, says, self._items[min(n, len(self._items) - 1)].kernel)

    def _overlap(self, state: UOp, other: UOp, first: int, last: int) -> Fault:
        a, b = whole_of(state), whole_of(other)
        shown = f"{_shown(a)} and {_shown(b)}"
        last = min(last, len(self._items) - 1)
        items = f"{self._by(first)} to {self._by(last)}" if first != last else self._by(last)
        return Fault(MEMORY, f"buffers {shown} overlap while both live ({items})", a)

    def _by(self, n: int) -> str:
        if n >= len(self._items):
            return "what is computed"
        return f"kernel {n} ({self._items[n].name})"


def _shown(buffer: UOp) -> str:
    number = buffer.src[0].arg if buffer.src else "?"
    return f"{number} of {buffer.dtype}[{buffer.size}]"
