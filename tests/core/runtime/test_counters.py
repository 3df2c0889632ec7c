"""What has run is counted: launches, operations, bytes."""

from __future__ import annotations

from core import GlobalCounters, Tensor, TinyJit


def test_what_ran_is_counted() -> None:
    a = Tensor.arange(64).float().realize()
    GlobalCounters.reset()
    used = GlobalCounters.mem_used
    b = (a * 2 + 1).realize()
    assert (GlobalCounters.kernel_count, GlobalCounters.global_mem) == (1, 2 * 64 * 4)
    assert GlobalCounters.global_ops >= 2 * 64
    assert GlobalCounters.mem_used == used + b.nbytes()
    b.realize()
    assert GlobalCounters.kernel_count == 1
    GlobalCounters.reset()
    assert (GlobalCounters.kernel_count, GlobalCounters.global_ops) == (0, 0)
    assert (GlobalCounters.global_mem, GlobalCounters.time_sum_s) == (0, 0.0)


def test_replayed_kernels_are_counted() -> None:
    @TinyJit
    def step(x: Tensor) -> tuple[Tensor, Tensor]:
        return (x + 1).realize(), x.sum().realize()

    for _ in range(5):
        x = Tensor([1, 2, 3]).realize()
        GlobalCounters.reset()
        step(x)
        assert GlobalCounters.kernel_count == 2
