"""A run on several devices: a lane for each, and texts that name them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import viz
from core import Tensor
from viz.views.store import Store

TWO = ("CPU", "CPU:1")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path: Path = tmp_path_factory.mktemp("devices") / "t.viz"
    with viz.record(path):
        x = Tensor([[1.0, 2.0], [3.0, 4.0]]).shard(TWO, 0).realize()
        (x * 2).sum(0).realize()
    made = Store(path)
    yield made
    made.close()


def test_each_device_has_a_lane_and_its_memory(store: Store) -> None:
    timeline = store.timeline()
    tracks = timeline["tracks"]
    assert [t["name"] for t in tracks if t["kind"] == "device"] == [*TWO]
    assert {t["name"] for t in tracks if t["kind"] == "memory"} == {*TWO}
    ran = [n for t in tracks if t["kind"] == "device" for n in t["names"]]
    names = {timeline["names"][n] for n in ran}
    assert {"copy CPU to CPU:1", "copy CPU:1 to CPU"} <= names


def test_every_step_of_taking_apart_is_there(store: Store) -> None:
    rewrites = [row["name"] for row in store.tree()["rows"]]
    assert rewrites.count("multi") == 2
    assert rewrites.count("allreduce") == 1
    assert rewrites.count("multi: outputs") == 2


def test_the_order_of_kernels_names_devices(store: Store) -> None:
    rows = [r for r in store.tree()["rows"] if r["name"].startswith("schedule")]
    found = store.schedule(rows[-1]["id"])
    assert found is not None
    (order,) = [a["text"] for a in found["artifacts"] if a["kind"] == "order"]
    assert "kernel stores float32[2] CPU:1" in order
    assert "copy from CPU:1 stores float32[2] CPU," in order
