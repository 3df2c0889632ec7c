"""A kernel that nobody vouches for runs on OPENCL in a process of its own, and is compared."""

from __future__ import annotations

from core.isolation.isolate import run_isolated
from tests.core.runtime.asts import add


def test_a_kernel_runs_in_a_process_of_its_own() -> None:
    found = run_isolated(add(64), "OPENCL", 2, timeout=300)
    assert found.equal
    assert len(found.us) == 2
