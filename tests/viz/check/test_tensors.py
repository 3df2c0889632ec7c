"""Steps of schedules that have no terms are judged by what they compute from random memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from core import Tensor, Variable
from core.dtype import DType, dtypes
from core.passes.schedule import lengths
from core.passes.schedule.multi import allreduce, movement
from core.passes.schedule.multi.regions import multi
from core.uop import Ops, UOp
from core.uop.call.parts import parts_of
from tests.viz.check.mutating import wrong
from viz.check.part import check_part
from viz.check.parts import Part
from viz.check.tensors import compare, compare_states
from viz.trace import Recorder
from viz.views.store import Store

TWO, THREE = ("CPU", "CPU:1"), ("CPU", "CPU:1", "CPU:2")


def counted(*shape: int) -> Tensor:
    return Tensor(np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape))


def cut(devices: tuple[str, ...]) -> Tensor:
    return counted(6, 4).shard(devices, 0)


PROGRAMS: dict[str, Callable[[], Tensor]] = {
    "sums of devices": lambda: cut(TWO).sum(0),
    "maxima of devices": lambda: cut(THREE).max(0),
    "flipped": lambda: cut(TWO).flip(0),
    "cut out": lambda: cut(THREE)[1:4],
    "padded": lambda: cut(TWO).pad(((2, 2), (0, 1))),
    "a product": lambda: cut(TWO) @ counted(4, 3).shard(TWO),
    "turned": lambda: cut(TWO).permute(1, 0).contiguous(),
    "copied": lambda: cut(THREE).to("CPU"),
    "lengths": lambda: counted(6, 4)[: Variable("n", 0, 6).bind(3)].max(0),
    "two lengths": lambda: counted(6, 4)[
        : Variable("n", 0, 6).bind(3), : Variable("m", 1, 4).bind(2)
    ].sum(),
}


def recorded(path: Path, program: Callable[[], Tensor]) -> dict[str, str]:
    recorder = Recorder(path).start()
    try:
        program().realize()
    finally:
        recorder.close()
    return wrong(path)


@pytest.mark.parametrize("name", PROGRAMS)
def test_right_steps_are_judged_and_right(name: str, tmp_path: Path) -> None:
    path = tmp_path / "run.viz"
    assert recorded(path, PROGRAMS[name]) == {}
    store = Store(path)
    rows = [row["id"] for row in store.tree()["rows"] if row["name"] in ("multi", "lengths")]
    store.close()
    assert rows
    for one in check_part(Part(str(path), tuple(rows))):
        kinds = {one["verdicts"][at]["kind"] for _, _, at in one["steps"]}
        assert kinds <= {"proved", "sampled", "assumes"}, one


def test_an_allreduce_of_all_but_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    naive = allreduce.naive

    def but_one(parts: Sequence[UOp], op: Ops) -> tuple[UOp, ...]:
        return naive(parts[1:], op) * len(parts)

    monkeypatch.setattr(allreduce, "naive", but_one)
    found = recorded(tmp_path / "run.viz", lambda: counted(4, 5).shard(TWO, 0).sum(0))
    assert list(found) == ["combine"]


def test_one_of_several_rules_of_a_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps that can be judged alone are, and the others of their pass are not blamed with them."""
    stays = movement.stays

    def flips_stay(move: UOp) -> bool:
        return move.op is Ops.FLIP or stays(move)

    monkeypatch.setattr(movement, "stays", flips_stay)
    found = recorded(
        tmp_path / "run.viz",
        lambda: (cut(TWO).flip(0) + 1).permute(1, 0).contiguous().to("CPU"),
    )
    assert list(found) == ["flip_in_parts"]


def test_what_lies_behind_a_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def zero(op: Ops, dtype: DType) -> int:
        return 0

    monkeypatch.setattr(lengths, "identity", zero)
    found = recorded(tmp_path / "run.viz", lambda: PROGRAMS["lengths"]() * -1)
    assert list(found) == ["reduce_to_length"]


def test_values_and_states() -> None:
    a, b = (UOp.new_buffer("CPU", 6, counted(1).uop.dtype) for _ in range(2))
    x, y = a.reshape((2, 3)), b.reshape((2, 3))
    same = compare(x + y, y + x)
    assert same is not None and same.kind == "sampled"
    other = compare(x + y, x + x)
    assert other is not None and other.kind == "differs" and other.before != other.after
    assert compare(x, a) is None  # of another shape
    found = compare_states(UOp.sink(x, x + y), UOp.sink(x, x - y))
    assert found is not None and found.kind == "differs"
    assert compare_states(UOp.sink(x), UOp.sink(x, y)) is None
    several = UOp.new_buffer(TWO, 6, a.dtype)
    parts = parts_of(several)
    whole = UOp(Ops.MULTI, a.dtype, parts, 0)
    picked = compare(UOp(Ops.MSELECT, a.dtype, (whole,), (1, 0)), parts[1])
    assert picked is not None and picked.kind == "sampled"


def test_memory_on_several_devices_is_that_of_each() -> None:
    whole = UOp.new_buffer(TWO, (6, 8), dtypes.float32)
    first, second = parts_of(whole)
    parts = [part.reshape((6, 4)) for part in (first, second)]
    found = compare(whole, multi(parts, 1))
    assert found is not None and found.kind == "assumes"
    for wrong_parts, axis in (([parts[0], parts[0]], 1), (parts[::-1], 1), (parts, 0)):
        found = compare(whole, multi(wrong_parts, axis))
        assert found is None or found.kind == "differs"


def test_copies_on_several_devices_hold_the_same() -> None:
    copies = [UOp.new_buffer(device, 6, dtypes.float32) for device in THREE]
    both = multi(copies, None)
    found = compare(
        both + both, multi([c + copies[0].copy_to_device(c.device) for c in copies], None)
    )
    assert found is not None and found.kind == "sampled"


def test_a_sink_of_values_in_parts() -> None:
    a, b, c = (UOp.new_buffer("CPU", 6, dtypes.float32) for _ in range(3))
    before = UOp.sink(multi([a, b], 0), c)
    found = compare(before, UOp.sink(a, b, c))
    assert found is not None and found.kind == "proved"
    assert compare(before, UOp.sink(b, a, c)) is None
