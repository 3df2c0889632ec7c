"""Random programs that write in place: after every statement each Tensor is what NumPy says.

`pytest tests/core/tensor/test_random_inplace.py --fuzz 5000` runs that many.
"""

from __future__ import annotations

from random import SystemRandom

import pytest

from tests.core.tensor.inplace_model import Program

STATEMENTS = 12


@pytest.mark.parametrize("device", ["CPU", "REFERENCE"])
def test_programs_agree_with_numpy(device: str, pytestconfig: pytest.Config) -> None:
    count = (pytestconfig.getoption("--fuzz") or 200) // 2
    first = SystemRandom().randrange(1 << 30) if pytestconfig.getoption("--fuzz") else 0
    for seed in range(first, first + count):
        program = Program(seed, device)
        try:
            program.run(STATEMENTS)
        except Exception as error:
            lines = "\n".join(program.lines)
            pytest.fail(f"Program({seed}, {device!r}).run({STATEMENTS})\n{lines}\n{error}")
