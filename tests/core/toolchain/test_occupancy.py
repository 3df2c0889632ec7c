"""How many warps fit: against figures worked out by hand from the vendors' tables."""

from __future__ import annotations

import pytest

from core.toolchain.occupancy import amd_occupancy, nvidia_occupancy


@pytest.mark.parametrize(
    ("arch", "threads", "registers", "shared", "filled"),
    [
        ("sm_90", 256, 32, 0, "64 of 64 warps"),
        ("sm_90", 256, 64, 0, "32 of 64 warps"),
        ("sm_90", 256, 255, 0, "8 of 64 warps"),
        ("sm_90", 96, 16, 0, "63 of 64 warps"),  # 21 blocks of 3 warps
        ("sm_90", 1, 16, 0, "32 of 64 warps"),  # 32 blocks are the most
        ("sm_90", 1024, 65, 0, "0 of 64 warps"),  # no such block can start
        ("sm_75", 1024, 64, 0, "32 of 32 warps"),
        ("sm_75", 64, 16, 64 << 10, "2 of 32 warps"),
        ("sm_80", 128, 32, 48 << 10, "12 of 64 warps"),  # 3 blocks of 49 KiB in 164
        ("sm_86", 128, 32, 48 << 10, "8 of 48 warps"),
        ("sm_89", 32, 32, 0, "24 of 48 warps"),
        ("sm_100", 512, 40, 0, "48 of 64 warps"),
        ("sm_100", 0, 40, 0, ""),
        ("sm_61", 128, 32, 0, ""),
        ("", 128, 32, 0, ""),
    ],
)
def test_warps_of_a_processor(
    arch: str, threads: int, registers: int, shared: int, filled: str
) -> None:
    assert nvidia_occupancy(arch, threads, registers, shared) == filled


@pytest.mark.parametrize(
    ("arch", "vgprs", "filled"),
    [
        ("gfx942", 64, "8 of 8 waves"),
        ("gfx942", 65, "7 of 8 waves"),
        ("gfx950", 512, "1 of 8 waves"),
        ("gfx1100", 96, "16 of 16 waves"),
        ("gfx1201", 97, "12 of 16 waves"),
    ],
)
def test_waves_of_a_simd(arch: str, vgprs: int, filled: str) -> None:
    assert amd_occupancy(arch, vgprs) == filled
