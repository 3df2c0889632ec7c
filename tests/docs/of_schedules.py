"""How many kernels known programs become, as tests/core/tensor/test_kernel_counts.py holds it."""

from __future__ import annotations

from tests.bench.counted import PROGRAMS
from tests.docs.markdown import table


def count_table() -> str:
    """A row for each program."""
    rows = [(p.name, p.kernels, "-" if p.tinygrad is None else p.tinygrad, p.why) for p in PROGRAMS]
    return table(("program", "kernels", "tinygrad 0.14.0", "what they are"), rows)
