"""Every lane of every fragment of WMMA and MFMA, against the formulas of AMD's manuals."""

from __future__ import annotations

import pytest

from core.target import targets
from core.tensor_cores import TensorCore

ROWS = [
    pytest.param(name, core, id=f"{name}-{core}")
    for name, target in targets.items()
    if target.family == "amd"
    for core in target.tensor_cores
]


def places(core: TensorCore) -> list[tuple[tuple[int, int], tuple[int, int], tuple[int, int]]]:
    """By lane and position as far as each fragment goes: (row, k) of A, (k, column) of B, (row,
    column) of C."""
    found: list[tuple[tuple[int, int], tuple[int, int], tuple[int, int]]] = []
    for lane in range(core.threads):
        for i in range(max(part.count for part in core.fragments)):
            a, b, c = (min(i, part.count - 1) for part in core.fragments)
            found.append(
                (
                    (core.a.coordinate("m", lane, a), core.a.coordinate("k", lane, a)),
                    (core.b.coordinate("k", lane, b), core.b.coordinate("n", lane, b)),
                    (core.c.coordinate("m", lane, c), core.c.coordinate("n", lane, c)),
                )
            )
    return found


def manual(
    name: str, core: TensorCore
) -> list[tuple[tuple[int, int], tuple[int, int], tuple[int, int]]]:
    """The same from the formulas: lane l, position i."""
    found: list[tuple[tuple[int, int], tuple[int, int], tuple[int, int]]] = []
    for lane in range(core.threads):
        for i in range(max(part.count for part in core.fragments)):
            at, cell = min(i, core.a.count - 1), min(i, core.c.count - 1)
            group = lane // core.m
            if name == "gfx1100":  # RDNA3: both halves of the warp hold all of k, rows alternate
                k, row = at, 2 * cell + lane // 16
            elif name == "gfx1201":  # RDNA4: each half holds 8 neighbours of k and 8 rows
                k, row = 8 * (lane // 16) + at, 8 * (lane // 16) + cell
            elif core.m == 16:  # MFMA: lanes of one row in 4 groups, 4 neighbouring rows each
                k, row = core.a.count * group + at, 4 * group + cell
            else:  # MFMA of 32 rows: blocks of 8 rows, 4 for each half of the warp
                k, row = core.a.count * group + at, 8 * (cell // 4) + 4 * group + cell % 4
            found.append(((lane % core.m, k), (k, lane % core.n), (row, lane % core.n)))
    return found


@pytest.mark.parametrize(("name", "core"), ROWS)
def test_every_lane_is_where_the_manual_says(name: str, core: TensorCore) -> None:
    assert places(core) == manual(name, core)


@pytest.mark.parametrize(("name", "core"), ROWS)
def test_warps_are_those_of_the_processor(name: str, core: TensorCore) -> None:
    assert core.threads == (64 if name in ("gfx942", "gfx950") else 32)
    assert core.a.count == core.b.count


def test_fp8_is_left_out_where_its_bits_mean_other_numbers() -> None:
    assert not [core for core in targets["gfx942"].tensor_cores if "8_bf8" in core.name]
    assert [core for core in targets["gfx950"].tensor_cores if core.name.endswith("fp8_fp8")]
