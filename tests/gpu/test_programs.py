"""Every kernel of whole programs, and training, on one real device."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.compile import compile_kernel
from core.errors import UopvizError
from core.runtime.base import ComputeDevice
from core.uop import UOp
from tests.core.runtime.test_digits import losses
from tests.on_targets.collect import PROGRAMS, ROOT, kernel_of, lines_of
from tests.on_targets.subject import subject_of


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_kernel_of_a_program_agrees_with_the_reference(
    program: str, name: str, device: ComputeDevice, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "tests.on_targets.collect", program, str(tmp_path)]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "DEV": "CPU"}, check=True,
                   capture_output=True)  # fmt: skip
    kernels = [kernel_of(line) for line in lines_of(tmp_path).values()]
    assert kernels
    wrong = [found for ast in kernels if (found := what_is_wrong(ast, name, device))]
    print(f"{program}: {len(kernels) - len(wrong)} of {len(kernels)} kernels agree")
    assert not wrong, "\n".join(wrong)


def what_is_wrong(ast: UOp, name: str, device: ComputeDevice) -> str:
    """What a kernel, loaded and run on random arguments, gives that the reference does not."""
    assert device.target is not None
    subject = subject_of(ast)
    try:
        found = subject.wrong(subject.run(compile_kernel(ast, device.target), name))
    except UopvizError as error:
        found = str(error)
    return f"{subject.name}: {found}" if found else ""


def test_digits_are_learned_as_on_the_cpu(name: str) -> None:
    wanted, found = losses("CPU", 12), losses(name, 12)
    assert len(set(wanted)) == 12  # it trains
    np.testing.assert_allclose(found, wanted, atol=1e-3)
