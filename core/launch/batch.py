"""Kernels that are run together again and again: one by one at first, then as one graph of their
device, if it has graphs. A launch of each costs a few microseconds of the processor; a graph's, one
of them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.helpers import DEBUG
from core.launch.run import Item, Kernel, kernel_for, run_schedule
from core.runtime.awaited import concerns
from core.runtime.buffer import buffer_of
from core.runtime.counters import GlobalCounters
from core.runtime.device import Device
from core.uop.engine.observe import attached
from core.uop.ops import Ops
from core.uop.patterns.policy import in_force


class Batch:
    """Items with memory that stays where it is between runs."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        self._ran = False
        self._plain = len(items) < 2
        self._graph: Callable[[], None] | None = None
        self._kept: list[Kernel] = []
        self._flops = self._bytes = 0

    def run(self) -> None:
        """Runs the items in order; one by one where somebody watches each, or where they concern
        memory whose content is awaited. Raises as `run_schedule` does."""
        watched = attached() is not None or DEBUG or in_force() or concerns(self.items)
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

    def _captured(self) -> Callable[[], None] | None:
        """The graph of all items, which ran before and so are compiled and have memory."""
        devices = {buffer_of(u).device for item in self.items for u in item.bufs}
        if len(devices) != 1 or any(item.ast.op is Ops.COPY for item in self.items):
            return None
        (device,) = devices
        self._kept = [kernel_for(item.ast, device) for item in self.items]
        self._flops = sum(kernel.flops for kernel in self._kept)
        self._bytes = sum(kernel.bytes for kernel in self._kept)
        return Device[device].capture(self._record)

    def _record(self) -> None:
        run_schedule(self.items)
        GlobalCounters.launched(-len(self._kept), -self._flops, -self._bytes)  # none of it ran
