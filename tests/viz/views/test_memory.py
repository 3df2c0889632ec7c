"""What a device's memory holds: each allocation of a recorded program, with the kernel and the
lines that it was taken for."""

from __future__ import annotations

import gc
from itertools import accumulate
from pathlib import Path
from typing import Any

import viz
from core import Tensor
from core.uop.engine.observe import MemoryChange
from viz.trace import Recorder
from viz.views.store import Store
from viz.write.writer import TraceWriter


def memory_of(path: Path) -> dict[str, Any]:
    """The memory track of the only device, its names as texts."""
    store = Store(path)
    try:
        made = store.timeline()
    finally:
        store.close()
    (track,) = (t for t in made["tracks"] if t["kind"] == "memory")
    for column in ("kernels", "lines"):
        track[column] = [made["names"][number] for number in track[column]]
    return track


def alive(track: dict[str, Any], item: int) -> dict[int, tuple[int, str, str]]:
    """Of each allocation that lasts after a change: bytes, kernel, lines."""
    found: dict[int, tuple[int, str, str]] = {}
    columns = ("numbers", "taken", "kernels", "lines")
    for i in range(item + 1):
        number, *rest = (track[column][i] for column in columns)
        if found.pop(number, None) is None:
            found[number] = (rest[0], rest[1], rest[2])
    return found


def test_the_peak_is_made_of_the_buffers_of_the_program(tmp_path: Path) -> None:
    """Sizes follow from shapes, lines from this file."""
    gc.collect()  # what other tests have left on other devices
    with viz.record(tmp_path / "t.viz"):
        x = Tensor([[1.0] * 256] * 256)
        y = (x @ x).realize()  # 256 kB, as x
        z = (y.sum(1) + 1).realize()  # 1 kB
        del y
        gc.collect()
        z.tolist()
    track = memory_of(tmp_path / "t.viz")
    peak = max(range(len(track["bytes"])), key=lambda i: track["bytes"][i])
    held = alive(track, peak)
    assert sorted(size for size, *_ in held.values())[-3:] == [1024, 1 << 18, 1 << 18]
    (product,) = (one for one in held.values() if one[0] == 1 << 18 and one[1])
    assert "test_memory.py" in product[2]
    assert "matmul" in product[2]
    assert sum(size for size, *_ in held.values()) <= track["bytes"][peak]
    last = alive(track, len(track["bytes"]) - 1)
    assert product not in last.values(), "it was given back"


def test_an_allocation_from_before_the_recording(tmp_path: Path) -> None:
    """It ends without having begun: the bytes are right, and nothing is made up."""
    recorder = Recorder(tmp_path / "t.viz").start()
    recorder.memory(MemoryChange("CPU", 8, 2, "kernel", ("a.py:1 add",), 108))
    recorder.memory(MemoryChange("CPU", -100, 1, allocated=8))
    recorder.memory(MemoryChange("CPU", -8, 2, allocated=0))
    recorder.memory(MemoryChange("CPU", 4, 2, allocated=4))  # the key is used again
    recorder.close()
    track = memory_of(tmp_path / "t.viz")
    assert track["bytes"] == [108, 8, 0, 4]
    assert track["numbers"] == [1, 0, 1, 2]
    assert track["taken"] == [8, 0, 0, 4]
    assert track["lines"][0] == "a.py:1 add"


def test_a_trace_that_says_sizes_only(tmp_path: Path) -> None:
    """As other recorders may write them."""
    with TraceWriter(tmp_path / "t.viz", {}) as t:
        t.memory("GPU", 10, at=1)
        t.memory("GPU", 4, at=3)
    track = memory_of(tmp_path / "t.viz")
    assert list(accumulate(track["start"])) == [1, 3]
    assert track["bytes"] == [10, 4]
    assert track["numbers"] == [0, 0]
