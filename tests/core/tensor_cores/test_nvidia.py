"""Every lane of every fragment of `mma.sync`, against the formulas of the PTX manual."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from core.target import targets
from core.tensor_cores import Fragment, TensorCore

Place = tuple[int, int]
Formula = Callable[[int, int, int], Place]
"""(groupID, threadID_in_group, i) -> (row, column), in the words of the manual."""


def _a_1688_f16(group: int, thread: int, i: int) -> Place:
    row = group if i in (0, 1) else group + 8
    return row, thread * 2 + (i & 1)


def _b_1688_f16(group: int, thread: int, i: int) -> Place:
    return thread * 2 + i, group


def _a_1688_tf32(group: int, thread: int, i: int) -> Place:
    row = group if i in (0, 2) else group + 8
    return row, thread if i in (0, 1) else thread + 4


def _b_1688_tf32(group: int, thread: int, i: int) -> Place:
    return thread if i == 0 else thread + 4, group


def _a_16816(group: int, thread: int, i: int) -> Place:
    row = group if 0 <= i < 2 or 4 <= i < 6 else group + 8
    return row, thread * 2 + (i & 1) + (8 if i >= 4 else 0)


def _b_16816(group: int, thread: int, i: int) -> Place:
    return thread * 2 + (i & 1) + (8 if i >= 2 else 0), group


def _a_16832(group: int, thread: int, i: int) -> Place:
    row = group if 0 <= i < 4 or 8 <= i < 12 else group + 8
    return row, thread * 4 + (i & 3) + (16 if i >= 8 else 0)


def _b_16832(group: int, thread: int, i: int) -> Place:
    return thread * 4 + (i & 3) + (16 if i >= 4 else 0), group


def _c_16(group: int, thread: int, i: int) -> Place:
    return group if i < 2 else group + 8, thread * 2 + (i & 1)


def _a_8816(group: int, thread: int, i: int) -> Place:
    return group, thread * 4 + i


def _b_8816(group: int, thread: int, i: int) -> Place:
    return thread * 4 + i, group


def _c_8816(group: int, thread: int, i: int) -> Place:
    return group, thread * 2 + i


MANUAL: Final[dict[tuple[str, int], tuple[Formula, Formula, Formula]]] = {
    ("m16n8k8", 16): (_a_1688_f16, _b_1688_f16, _c_16),
    ("m16n8k8", 32): (_a_1688_tf32, _b_1688_tf32, _c_16),
    ("m16n8k16", 16): (_a_16816, _b_16816, _c_16),
    ("m16n8k32", 8): (_a_16832, _b_16832, _c_16),
    ("m8n8k16", 8): (_a_8816, _b_8816, _c_8816),
}
ROWS: Final = sorted(
    {core for t in targets.values() if t.family == "nvidia" for core in t.tensor_cores}, key=str
)


def check(part: Fragment, letters: tuple[str, str], formula: Formula) -> None:
    for lane in range(32):
        for i in range(part.count):
            place = tuple(part.coordinate(letter, lane, i) for letter in letters)
            assert place == formula(lane >> 2, lane % 4, i), (lane, i)


@pytest.mark.parametrize("core", ROWS, ids=str)
def test_every_lane_is_where_the_manual_says(core: TensorCore) -> None:
    a, b, c = MANUAL[core.name.split(".")[3], core.dtype_in.bits]
    check(core.a, ("m", "k"), a)
    check(core.b, ("k", "n"), b)
    check(core.c, ("m", "n"), c)


def test_what_each_target_has() -> None:
    """PTX ISA, "mma", target ISA notes; ptxas accepts each of them for its target."""

    def shapes(name: str) -> set[str]:
        return {
            ".".join((*core.name.split(".")[3:4], *core.name.split(".")[6:8]))
            for core in targets[name].tensor_cores
        }

    turing = {"m16n8k8.f32.f16", "m16n8k8.f16.f16", "m8n8k16.s32.s8", "m8n8k16.s32.u8"}
    ampere = {
        "m16n8k16.f32.f16",
        "m16n8k16.f16.f16",
        "m16n8k16.f32.bf16",
        "m16n8k8.f32.tf32",
        "m16n8k32.s32.s8",
        "m16n8k32.s32.u8",
    }
    ada = ampere | {"m16n8k32.f32.e4m3", "m16n8k32.f32.e5m2"}
    assert shapes("sm_75") == turing
    assert shapes("sm_80") == shapes("sm_86") == ampere
    assert shapes("sm_89") == shapes("sm_90") == shapes("sm_100") == ada
