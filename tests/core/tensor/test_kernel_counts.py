"""How many kernels known programs become; docs/passes.md has the table with the reasons."""

from __future__ import annotations

import pytest

import core
from core.helpers import Context
from tests.bench.counted import PROGRAMS, Counted


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_kernels_of(program: Counted) -> None:
    with Context(**program.flags):
        first, *others = program.make(core)
        assert len(first.schedule(*others)) == program.kernels
