"""The order in which Tensors are found is that in which they were made, wherever they lie."""

from __future__ import annotations

from core.dtype import dtypes
from core.tensor.state.live import Live
from core.uop.ops import Ops
from core.uop.uop import UOp


class Held:
    """As much of a Tensor as is asked for."""

    __slots__ = ("__weakref__", "uop")

    def __init__(self, uop: UOp) -> None:
        self.uop = uop


def test_one_that_takes_the_place_of_another_in_memory_comes_last() -> None:
    device = UOp(Ops.DEVICE, dtypes.void, arg="CPU")
    buffer = UOp(Ops.BUFFER, dtypes.float, (UOp(Ops.UNIQUE, dtypes.void, arg=-7), device), 4)
    reused = 0
    for _ in range(50):
        live: Live[Held] = Live()
        gone = Held(buffer)
        place = id(gone)
        live.add(gone)
        first = Held(buffer)
        live.add(first)
        del gone
        last = Held(buffer)
        reused += id(last) == place
        live.add(last)
        assert live.elements_of(buffer) == [first, last]
    assert reused, "memory is used again, or this test shows nothing"
