"""A run on several devices: a lane for each, and texts that name them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import viz
from core import Tensor
from viz.coredialect.adapter import DIALECT
from viz.format.schema import COMPILER
from viz.views.store import Store
from viz.write.writer import TraceWriter

TWO = ("CPU", "CPU:1")
THREE = (*TWO, "PTX:EMU")


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


def test_schedules_count_kernels_and_copies(store: Store) -> None:
    names = [r["name"] for r in store.tree()["rows"] if r["label"] == "schedule"]
    assert names == ["schedule 1 kernel, 1 copy", "schedule 4 kernels, 2 copies"]


def test_kernels_of_one_name_are_told_apart_by_target(tmp_path: Path) -> None:
    """One AST was compiled for two targets: launches belong to the one that their device runs."""
    with viz.record(tmp_path / "t.viz"):
        x = Tensor([[1.0], [2.0], [3.0]]).shard(THREE, 0).realize()
        (x * 1.625 + 0.375).realize()
    store = Store(tmp_path / "t.viz")
    rows = [r for r in store.tree()["rows"] if r["label"] == "kernel"]
    first, second = (r for r in rows if [o["name"] for o in rows].count(r["name"]) == 2)
    assert (first["arch"], second["arch"]) == ("x86-64", "sm_90")
    lines = {line["context"]: line for line in store.overview()["kernels"]}
    for row, devices in ((first, [*TWO]), (second, ["PTX:EMU"])):
        line, page = lines[row["id"]], store.kernel_page(row["id"])
        kernel = store.kernel(row["id"])
        assert page is not None and kernel is not None
        for one in (line, page):
            assert one["devices"] == devices
            assert (one["device"], one["launches"]) == (devices[0], len(devices))
        assert (kernel["device"], kernel["launches"]["count"]) == (devices[0], len(devices))
    copies = [line for line in lines.values() if line["name"].startswith("copy ")]
    assert all(line["context"] == -1 for line in copies)
    store.close()


def test_devices_that_are_not_known_may_run_anything() -> None:
    may_run = DIALECT.may_run
    assert may_run("CPU:3", "x86-64") and not may_run("CPU:3", "sm_90")
    assert may_run("CUDA:1", "sm_90") and may_run("PTX:EMU:SM_80", "sm_80")
    assert may_run("AMD:EMU", "gfx942") and not may_run("AMD", "sm_90")
    assert not may_run("REFERENCE", "x86-64")
    assert may_run("TPU:1", "sm_90") and may_run("CPU", "unheard-of") and may_run("CPU", "")


def test_launches_on_devices_without_a_kernel_have_a_row(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "t.viz", {"compiler": COMPILER}) as t:
        kernel = t.context_begin("k", "kernel")
        t.kernel(kernel, "k", target="x86-64")
        t.context_end(kernel)
        for device in ("CPU", "REFERENCE", "CPU:1"):
            t.launch("k", device, 10, 20_000, 8)
    store = Store(tmp_path / "t.viz")
    made = store.overview()
    rows = {(k["context"], *k["devices"]): k["launches"] for k in made["kernels"]}
    assert rows == {(1, "CPU", "CPU:1"): 2, (-1, "REFERENCE"): 1}
    assert (made["whole"], made["devices"]) == (60, ["CPU", "REFERENCE", "CPU:1"])
    store.close()


def test_nodes_say_where_they_are(store: Store) -> None:
    passes = [r for r in store.tree()["rows"] if r["name"] == "multi"]
    bundle = store.bundle(passes[-1]["id"])
    assert bundle is not None
    nodes = bundle["nodes"]
    where: dict[str, set[str]] = {}
    for op, device in zip(nodes["op"], nodes["device"], strict=True):
        text = bundle["devices"][device] if device >= 0 else ""
        where.setdefault(bundle["ops"][op], set()).add(text)
    assert "CPU and CPU:1, cut along axis 0" in where["MULTI"]
    assert {*TWO} <= where["BUFFER"]
    assert where["ALLREDUCE"] == {"CPU and CPU:1"}
    assert where["DEVICE"] == where["UNIQUE"] == {""}
