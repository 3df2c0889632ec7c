"""What memory makes of one access of a warp: banks of shared memory, sectors of global memory.

A model, not a measurement: warps run in lockstep and caches hold nothing. Sources: NVIDIA, "CUDA
C++ Programming Guide", "Shared Memory" and "Global Memory" of compute capability 5.x and later: 32
banks of 4 bytes, sectors of 32 bytes; AMD, "CDNA3 Instruction Set Architecture" and "RDNA3
Instruction Set Architecture", chapters on the local data share: 32 banks of 4 bytes for a compute
unit.

Shared memory moves at most 128 bytes at once, so lanes are served in **phases** of as many
neighbours as ask for 128 bytes together: all 32 lanes at 4 bytes or less each, half a warp at 8, a
quarter at 16; a wave of 64 takes twice as many phases. Lanes of a phase that ask for the same word
of 4 bytes are served together. Different words of one bank are a conflict: each takes a
**wavefront** of its own. A phase takes as many wavefronts as its busiest bank has words; those
beyond one are extra.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from core.runtime.numeric import Array

SECTOR: Final = 32
"""Bytes that global memory moves at once."""
BANKS: Final = 32
"""Banks of shared memory."""
WORD: Final = 4
"""Bytes of a bank's word."""


@dataclass(frozen=True, slots=True)
class Hit:
    """`lanes` of the warp that are served together: in a bank, by one word in one wavefront (from
    0); in global memory, by one sector, counted from the first one that the warp touches."""

    place: int
    wavefront: int
    lanes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Served:
    """One access of a warp. In shared memory, `ways` is how many wavefronts its slowest phase
    takes, `extra` how many all take beyond one each, `first` the first wavefront of each phase. In
    global memory there are `least` sectors at the fewest for as many bytes."""

    hits: tuple[Hit, ...]
    first: tuple[int, ...] = (0,)
    ways: int = 1
    extra: int = 0
    least: int = 0


def wavefronts(warp: Array, lane: Array, wave: int, at: Array, width: int) -> Array:
    """How many wavefronts each phase of accesses of `width` bytes from the bytes `at` takes, by
    these lanes of these warps of `wave` lanes each; 0 for phases without a lane."""
    words = max(1, width // WORD)
    group = warp * phases(wave, width) + phase_of(lane, width)
    asked = [np.stack([group, at // WORD + i]) for i in range(words)]
    found = np.unique(np.concatenate(asked, axis=1), axis=1)
    bank = found[0] * BANKS + found[1] % BANKS
    size = (int(bank.max(initial=-1)) // BANKS + 1) * BANKS
    return np.bincount(bank, minlength=size).reshape(-1, BANKS).max(axis=1)


def conflicts(warp: Array, lane: Array, wave: int, at: Array, width: int) -> int:
    """The extra wavefronts of such accesses."""
    return extra(wavefronts(warp, lane, wave, at, width))


def extra(taken: Array) -> int:
    """How many of the wavefronts of some phases are beyond the first of each."""
    return int(np.maximum(taken - 1, 0).sum())


def phases(wave: int, width: int) -> int:
    """In how many phases a warp of `wave` lanes is served, of `width` bytes each."""
    return max(1, wave // _together(width))


def phase_of(lane: Array, width: int) -> Array:
    """The phase of each lane."""
    return lane // _together(width)


def _together(width: int) -> int:
    """Lanes that are served in one phase."""
    return max(1, BANKS // max(1, width // WORD))


def of_banks(lanes: Iterable[int], at: Iterable[int], width: int) -> Served:
    """How shared memory serves lanes of one warp, each with `width` bytes from its byte `at`."""
    words = max(1, width // WORD)
    asked: dict[int, dict[int, dict[int, list[int]]]] = {}
    for lane, start in zip(lanes, at, strict=True):
        of_phase = asked.setdefault(lane // _together(width), {})
        for word in range(start // WORD, start // WORD + words):
            of_phase.setdefault(word % BANKS, {}).setdefault(word, []).append(lane)
    hits: list[Hit] = []
    first: list[int] = []
    begins = ways = 0
    for _, of_phase in sorted(asked.items()):
        first.append(begins)
        for bank, of_bank in sorted(of_phase.items()):
            hits += [Hit(bank, begins + i, tuple(who)) for i, who in enumerate(of_bank.values())]
        taken = max(map(len, of_phase.values()))
        begins, ways = begins + taken, max(ways, taken)
    return Served(tuple(hits), tuple(first), ways, begins - len(first))


def of_sectors(lanes: Iterable[int], at: Iterable[int], width: int) -> Served:
    """Which sectors of global memory lanes of one warp touch, each with `width` bytes from its
    address `at`."""
    touched: dict[int, list[int]] = {}
    count = 0
    for lane, start in zip(lanes, at, strict=True):
        count += 1
        for sector in range(start // SECTOR, (start + width - 1) // SECTOR + 1):
            touched.setdefault(sector, []).append(lane)
    first = min(touched, default=0)
    hits = tuple(Hit(sector - first, 0, tuple(who)) for sector, who in sorted(touched.items()))
    return Served(hits, least=-(-count * width // SECTOR))
