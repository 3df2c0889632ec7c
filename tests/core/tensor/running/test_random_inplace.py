"""Random programs that write in place: after every statement each Tensor is what NumPy says.

`pytest tests/core/tensor/running/test_random_inplace.py --fuzz 5000` runs that many on each
device, from a new seed.
"""

from __future__ import annotations

import pytest

from tests.core.tensor.running.inplace_model import Program
from tests.fuzzing import seeds

STATEMENTS = 12


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("device", "count"), [("CPU", 50), ("REFERENCE", 50), (("CPU", "CPU:1"), 20)]
)
def test_programs_agree_with_numpy(
    device: str | tuple[str, ...], count: int, pytestconfig: pytest.Config
) -> None:
    for seed in seeds(pytestconfig, count, 0):
        program = Program(seed, device)
        try:
            program.run(STATEMENTS)
        except Exception as error:
            lines = "\n".join(program.lines)
            pytest.fail(f"Program({seed}, {device!r}).run({STATEMENTS})\n{lines}\n{error}")
