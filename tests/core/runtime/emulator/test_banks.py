"""Banks and sectors against cases computed by hand; both ways of counting against each other."""

from __future__ import annotations

import numpy as np
import pytest

from core.runtime.emulator.memory.banks import (
    Hit,
    conflicts,
    extra,
    of_banks,
    of_sectors,
    phases,
    wavefronts,
)

ALL = range(32)


@pytest.mark.parametrize(
    ("stride", "ways", "extra_ones"),
    [
        (4, 1, 0),
        (8, 2, 1),
        (16, 4, 3),
        (32, 8, 7),
        (128, 32, 31),
        (132, 1, 0),
        (0, 1, 0),
        (1, 1, 0),
    ],
)
def test_words_at_a_stride(stride: int, ways: int, extra_ones: int) -> None:
    """A stride of 32 bytes: lanes 0, 4, ... 28 are in bank 0, so 8 words of one bank."""
    found = of_banks(ALL, [stride * n for n in ALL], 4)
    assert (found.ways, found.extra, found.first) == (ways, extra_ones, (0,))


def test_which_lanes_hit_which_bank_in_which_wavefront() -> None:
    """Stride 64: banks 0 and 16 answer 16 lanes each, one lane per wavefront."""
    found = of_banks(ALL, [64 * n for n in ALL], 4)
    assert (found.ways, found.extra) == (16, 15)
    assert [h for h in found.hits if h.place == 0][:3] == [
        Hit(0, 0, (0,)),
        Hit(0, 1, (2,)),
        Hit(0, 2, (4,)),
    ]
    assert {h.place for h in found.hits} == {0, 16}


def test_lanes_of_one_word_are_served_together() -> None:
    """Halves of a word, and one word for all lanes, are no conflict."""
    pairs = of_banks(ALL, [2 * n for n in ALL], 2)
    assert (pairs.ways, pairs.extra) == (1, 0)
    assert pairs.hits[0] == Hit(0, 0, (0, 1))
    assert of_banks(ALL, [20] * 32, 4).hits == (Hit(5, 0, tuple(ALL)),)


def test_wide_accesses_take_phases() -> None:
    """16 bytes each: a quarter of the warp fills all banks; 8 bytes: half of it."""
    quarters = of_banks(ALL, [16 * n for n in ALL], 16)
    assert (quarters.first, quarters.ways, quarters.extra) == ((0, 1, 2, 3), 1, 0)
    assert [h for h in quarters.hits if 9 in h.lanes] == [Hit(b, 1, (9,)) for b in (4, 5, 6, 7)]
    halves = of_banks(ALL, [8 * n for n in ALL], 8)
    assert (halves.first, halves.ways, halves.extra) == ((0, 1), 1, 0)


def test_conflicts_of_each_phase_count() -> None:
    """16 bytes at a stride of 32: in the phase of lanes 0 to 7, banks 0 to 3 answer lanes 0 and 4,
    so each of the 4 phases takes 2 wavefronts."""
    found = of_banks(ALL, [32 * n for n in ALL], 16)
    assert (found.ways, found.extra, found.first) == (2, 4, (0, 2, 4, 6))
    assert [h for h in found.hits if h.place == 0 and h.wavefront < 2] == [
        Hit(0, 0, (0,)),
        Hit(0, 1, (4,)),
    ]


def test_a_wave_of_64_lanes_takes_twice_as_many_phases() -> None:
    found = of_banks(range(64), [4 * n for n in range(64)], 4)
    assert (found.first, found.ways, found.extra) == ((0, 1), 1, 0)
    assert (phases(64, 4), phases(32, 4), phases(32, 16)) == (2, 1, 4)


def test_lanes_that_do_not_take_part() -> None:
    """Phases without a lane take no wavefront."""
    found = of_banks([3, 30], [0, 128], 16)
    assert (found.first, found.ways, found.extra) == ((0, 1), 1, 0)
    assert of_banks([], [], 4).extra == 0


@pytest.mark.parametrize(
    ("stride", "width", "sectors", "least"),
    [(4, 4, 4, 4), (8, 4, 8, 4), (128, 4, 32, 4), (0, 4, 1, 4), (16, 16, 16, 16), (40, 8, 32, 8)],
)
def test_sectors_at_a_stride(stride: int, width: int, sectors: int, least: int) -> None:
    found = of_sectors(ALL, [1024 + stride * n for n in ALL], width)
    assert (len(found.hits), found.least) == (sectors, least)


def test_sectors_count_from_the_first_one() -> None:
    """8 lanes of 4 bytes lie in a sector; one access may lie in two."""
    found = of_sectors(ALL, [64 + 4 * n for n in ALL], 4)
    assert found.hits[1] == Hit(1, 0, tuple(range(8, 16)))
    across = of_sectors([5], [30], 4)
    assert across.hits == (Hit(0, 0, (5,)), Hit(1, 0, (5,)))


def test_all_warps_at_once_count_what_each_counts() -> None:
    seed = 20
    rng = np.random.default_rng(seed)
    for wave in (32, 64):
        for width in (1, 2, 4, 8, 16):
            count = int(rng.integers(1, 3 * wave))
            chosen = np.sort(rng.choice(3 * wave, count, replace=False))
            warp, lane = chosen // wave, chosen % wave
            at = rng.integers(0, 256, count) * width
            parts = [warp == w for w in range(3)]
            each = [of_banks(lane[p].tolist(), at[p].tolist(), width) for p in parts if p.any()]
            taken = wavefronts(warp, lane, wave, at, width)
            assert extra(taken) == conflicts(warp, lane, wave, at, width), seed
            assert extra(taken) == sum(s.extra for s in each), seed
            assert int(taken.max()) == max(s.ways for s in each), seed
