"""Kernels that are run together again and again: one by one at first, then as one graph of their
device, if it has graphs. Each launch costs a few microseconds of the processor; a graph costs one
launch for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from core.helpers import DEBUG
from core.launch.run import Item, Kernel, kernel_for, run_schedule
from core.runtime.awaited import awaited, concerns
from core.runtime.base import Graph
from core.runtime.buffer import buffer_of
from core.runtime.counters import GlobalCounters
from core.runtime.device import Device
from core.uop.engine.observe import attached
from core.uop.ops import Ops
from core.uop.patterns.policy import in_force
from core.uop.uop import UOp

Moved = Callable[[], Sequence[Item]]
"""Makes the items of a batch for other memory."""


class Batch:
    """Items whose memory stays in place between runs, except for what is moved."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._first = items
        self._items: Sequence[Item] | Moved = items
        self._ran = False
        self._graph: Graph | None = None
        self._kept: list[Kernel] = []
        self._flops = self._bytes = 0
        self._memory: Mapping[UOp, UOp] = {}
        """The BUFFERs that there are in place of those at first."""
        self._values: Mapping[str, int] = {}
        self._moves = all(Device[buffer_of(u).device].graphs_move for i in items for u in i.bufs)
        self._plain = len(items) < 2 and not self._moves

    @property
    def items(self) -> Sequence[Item]:
        """The items, of the memory that they are for now."""
        if callable(self._items):
            self._items = self._items()
        return self._items

    def move(self, items: Moved, memory: Mapping[UOp, UOp], values: Mapping[str, int]) -> None:
        """Replaces the items by those that `items` gives, with other BUFFERs for some and other
        values of variables."""
        self._items, self._memory, self._values = items, memory, values
        if self._graph is None:
            self._ran = self._ran and self._moves
        elif not self._moved(self._graph):
            self._graph, self._ran = None, False

    def _moved(self, graph: Graph) -> bool:
        memory = {buffer_of(old): buffer_of(new).allocate() for old, new in self._memory.items()}
        return graph.move(memory, self._values)

    def run(self) -> None:
        """Runs the items in order; one by one where an observer sees each, or where they concern
        memory whose content is awaited. Raises as `run_schedule` does."""
        watched = attached() is not None or DEBUG or in_force()
        if awaited and not watched:
            watched = concerns(self.items)
            # a captured launch counts as run, on the captured memory
            watched = watched or (self._graph is None and concerns(self._first))
        if self._plain or not self._ran or watched:
            run_schedule(self.items)
            self._ran = True
            return
        if self._graph is None:
            self._graph = self._captured()
        if self._graph is None:
            self._plain = True
            run_schedule(self.items)
        else:
            GlobalCounters.launched(len(self._kept), self._flops, self._bytes)
            self._graph()

    def _captured(self) -> Graph | None:
        """The graph of all items, which ran before and so are compiled and have memory."""
        devices = {buffer_of(u).device for item in self.items for u in item.bufs}
        if len(devices) != 1 or any(item.ast.op is Ops.COPY for item in self.items):
            return None
        (device,) = devices
        self._kept = [kernel_for(item.ast, device) for item in self.items]
        self._flops = sum(kernel.flops for kernel in self._kept)
        self._bytes = sum(kernel.bytes for kernel in self._kept)
        graph = Device[device].capture(self._record)
        if graph is not None and self._moves:
            self._moved(graph)
        return graph

    def _record(self) -> None:
        # memory that is at two places now may be at one of them next time: so that at first
        run_schedule(self._first if self._moves else self.items)
        GlobalCounters.launched(-len(self._kept), -self._flops, -self._bytes)  # none of it ran
