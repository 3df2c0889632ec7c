"""A kernel that nobody vouches for runs on OPENCL in a process of its own, and is compared."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from core.isolation.isolate import run_isolated
from tests.core.runtime.asts import add


def test_a_kernel_runs_in_a_process_of_its_own() -> None:
    found = run_isolated(add(64), "OPENCL", 2, timeout=300)
    assert found.equal
    assert len(found.us) == 2


def test_a_driver_may_write_what_it_compiles(tmp_path: Path) -> None:
    """In a worker that writes no other files."""
    code = (
        "from core.isolation.limits import DRIVER_FILE, limit_files\n"
        "limit_files(DRIVER_FILE)\n"
        "from core import Tensor\n"
        "print((Tensor([1.0, 2.0], device='OPENCL') * 3).tolist())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "POCL_CACHE_DIR": str(tmp_path)},
        capture_output=True, text=True, timeout=250, check=False,
    )  # fmt: skip
    assert done.stdout == "[3.0, 6.0]\n", done.stderr
