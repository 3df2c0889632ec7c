"""Which cases a fuzz test tries: those of `--fuzz N`, of FUZZ_SEED, or always the same few."""

from __future__ import annotations

import os
from collections.abc import Sequence
from random import SystemRandom

import pytest

from core.dtype import dtypes
from core.runtime.device import Device


def cases(config: pytest.Config, count: int) -> int:
    """How many cases each fuzz test tries, a test with parameters for each of them."""
    return config.getoption("--fuzz") or count


def seeds(config: pytest.Config, count: int, base: int) -> list[int]:
    """The seeds of a test: from `base` on without `--fuzz`, from a random one on with it."""
    if "FUZZ_SEED" in os.environ:
        return [int(os.environ["FUZZ_SEED"])]
    first = SystemRandom().randrange(1 << 30) if config.getoption("--fuzz") else base
    return list(range(first, first + cases(config, count)))


def has_float64() -> bool:
    """Whether the default device computes with it. Devices of OpenCL need not, and WebGPU has
    nothing in its place."""
    target = Device[Device.DEFAULT].target
    return target is None or target.supports(dtypes.float64)


def computed(names: Sequence[str]) -> tuple[str, ...]:
    """The dtypes that the default device computes with."""
    return tuple(name for name in names if name != "float64" or has_float64())
