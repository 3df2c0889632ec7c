"""The order of kernels and the memory plan of a schedule, as they are recorded, and made wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import viz
from core import Tensor
from core.passes.schedule import linearize, memoryplan
from core.passes.schedule.kernels import kernelize
from core.passes.schedule.linearize import kernels_of
from core.uop import UOp
from core.uop.engine.observe import NullObserver, observing
from viz.bisect.search import bisect_run
from viz.check.message import message
from viz.check.part import check_part
from viz.check.parts import Part
from viz.check.plan import MEMORY, ORDER, Item, fault_of
from viz.views.store import Store


class Plans(NullObserver):
    """The kernels of schedules with their memory, and the last graph of each."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.graph: UOp | None = None

    def rewrite_end(
        self, result: UOp | None, error: object, rule: object, node: UOp | None
    ) -> None:
        if result is not None and any(k for k in kernels_of(result)):
            self.graph = result

    def artifact(
        self,
        kind: str,
        target: str,
        text: str,
        lines: Sequence[Sequence[UOp]],
        facts: Mapping[str, str],
    ) -> None:
        if kind == "order":
            self.items = [Item(line[0], tuple(line[1:])) for line in lines if line]


def array(*shape: int) -> Tensor:
    return Tensor(np.arange(np.prod(shape), dtype=np.float32).reshape(shape)).realize()


def chain() -> Tensor:
    x = y = array(8, 8)
    for _ in range(3):
        y = (y @ x * 0.2).contiguous() + y.sum(1, keepdim=True).contiguous()
    return y


def overwritten() -> list[Tensor]:
    a = array(6, 4)
    t = a.T.contiguous()
    a.assign(a.flip(0).contiguous() * 2)
    return [a, t.sum(0).contiguous()]


def plan_of(*wanted: Tensor) -> tuple[UOp, list[Item]]:
    plans = Plans()
    with observing(plans):
        wanted[0].schedule(*wanted[1:])
    assert plans.graph is not None
    return plans.graph, plans.items


def test_a_right_plan_has_no_fault() -> None:
    for tensors in ([chain()], overwritten()):
        graph, items = plan_of(*tensors)
        assert len(items) > 2
        assert fault_of(graph, items) is None


def test_any_two_buffers_that_are_alive_together_are_told_apart() -> None:
    graph, items = plan_of(chain())
    places = dict.fromkeys(m for item in items for m in item.memory)
    faults = 0
    for one in places:
        for other in places:
            if one is other or one.size != other.size:
                continue
            shared = [
                Item(i.kernel, tuple(one if m is other else m for m in i.memory)) for i in items
            ]
            faults += (found := fault_of(graph, shared)) is not None
            if found is not None:
                assert found.name == MEMORY
                assert "overlap while both live (kernel" in found.says
    assert faults > 3


def test_every_order_is_judged_by_who_needs_whom() -> None:
    graph, items = plan_of(*overwritten())
    before = linearize.needs([item.kernel for item in items])
    for at in range(len(items) - 1):
        swapped = [*items]
        swapped[at], swapped[at + 1] = swapped[at + 1], swapped[at]
        found = fault_of(graph, swapped)
        if items[at].kernel in before[items[at + 1].kernel]:
            assert found is not None
            assert found.name in (ORDER, MEMORY)
        else:
            assert found is None or found.name == MEMORY


def checked(path: Path, *wanted: Tensor) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    with viz.record(path):
        wanted[0].schedule(*wanted[1:])
    store = Store(path)
    try:
        numbers = tuple(r["id"] for r in store.tree()["rows"] if r["kind"] == "rewrite")
        return message(store, check_part(Part(str(path), numbers)))["undone"], bisect_run(store)
    finally:
        store.close()


def test_memory_that_is_given_back_too_early_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def first_use(items: Sequence[Any], own: Any) -> dict[UOp, tuple[int, int]]:
        found: dict[UOp, tuple[int, int]] = {}
        for n, item in enumerate(items):
            for buf in item.bufs:
                if buf in own:
                    found.setdefault(buf, (n, n))
        return found

    assert checked(tmp_path / "right.viz", chain())[0] == []
    monkeypatch.setattr(memoryplan, "lifetimes", first_use)
    (left,), found = checked(tmp_path / "wrong.viz", chain())
    assert left["pass"] == MEMORY
    assert left["said"].startswith("the memory plan: buffers ")
    assert found["wrong"]
    assert [one["said"] for one in found["steps"]["undone"]] == [left["said"]]


def test_a_reader_that_runs_after_what_overwrites_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert checked(tmp_path / "right.viz", *overwritten())[0] == []
    monkeypatch.setattr(linearize, "overwrites", lambda kernels: iter(()))  # pyright: ignore[reportUnknownLambdaType]
    (left,), _ = checked(tmp_path / "wrong.viz", *overwritten())
    assert left["pass"] == ORDER
    assert "which overwrites what it reads" in left["said"]


def test_a_kernel_that_reads_what_it_overwrites_is_named_with_its_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flipped() -> Tensor:
        a = array(6, 4)
        a.assign(a.flip(0) * 2)
        return a

    assert checked(tmp_path / "right.viz", flipped())[0] == []
    monkeypatch.setattr(kernelize, "_reads_what_it_overwrites", lambda store, found: False)  # pyright: ignore[reportUnknownLambdaType]
    (left,), found = checked(tmp_path / "wrong.viz", flipped())
    assert (left["pass"], left["rule"]) == ("kernelize", "store_assign")
    assert "made by store_assign" in left["said"]
    assert found["wrong"]
