"""Random Tensor programs against PyTorch, forward and gradient.

Gradients are compared where they are well defined: float data lies on no kink or tie, and nothing
is rounded to whole numbers or written in place on the way (`smooth` operations). `--fuzz N` runs N
programs per test from a new seed, and `FUZZ_SEED=seed` one alone.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
import torch

from tests.conformance.torch_functions import TorchFunctions
from tests.core.tensor.random_programs.draft import Array, Rules
from tests.core.tensor.random_programs.program import Program, tolerance
from tests.core.tensor.random_programs.running import (
    How,
    cotangent,
    draw_how,
    forward,
    fuzz_all,
    gradients,
    is_differentiable,
)  # fmt: skip
from tests.fuzzing import computed, seeds

DTYPES = computed(
    ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")
)
ALL = Rules((*DTYPES, "float32"))
SMOOTH = Rules(computed(("bool", "int32", "float32", "float32", "float64")), smooth=True)
OWN, WIDE = TorchFunctions(wide=False), TorchFunctions(wide=True)


def torch_values(program: Program, f: TorchFunctions, leaves: bool = False) -> list[torch.Tensor]:
    """The values of all statements; float data requires a gradient if `leaves`."""

    def leaf(_: int, data: Array) -> torch.Tensor:
        made = f.data(data)
        return made.requires_grad_() if leaves and data.dtype.kind == "f" else made

    return program.run(lambda o: o.model, {"f": f, "np": np}, leaf)


def check_values(program: Program, how: How) -> None:
    theirs = torch_values(program, OWN)
    for k, have in zip(program.outputs, forward(program, how), strict=True):
        value, want = program.statements[k].value, theirs[k].numpy()
        assert have.shape == want.shape, f"v{k}: shape {have.shape}, PyTorch has {want.shape}"
        if value.kind != "f":
            np.testing.assert_array_equal(have, want, f"v{k}")
            continue
        near = 0 if value.exact else 2 * tolerance(value)
        np.testing.assert_allclose(
            have.astype(np.float64), want.astype(np.float64), rtol=0, atol=near, err_msg=f"v{k}"
        )


def torch_gradients(program: Program, f: TorchFunctions, at: list[int]) -> list[Array]:
    values = torch_values(program, f, leaves=True)
    total: Any = torch.zeros((), dtype=torch.float64)
    for k in program.outputs:
        if values[k].dtype.is_floating_point:
            weight = torch.from_numpy(cotangent(tuple(values[k].shape)))
            total = total + (values[k].to(torch.float64) * weight).sum()
    if total.requires_grad:
        total.backward()
    return [
        np.zeros(values[k].shape) if (grad := values[k].grad) is None else grad.double().numpy()
        for k in at
    ]


def check_gradients(program: Program, how: How) -> None:
    if not is_differentiable(program):
        return
    found, leaves = gradients(program, how)
    own, wide = (torch_gradients(program, f, leaves) for f in (OWN, WIDE))
    eps = max(program.statements[k].value.eps for k in program.outputs)
    largest = max((float(np.abs(w).max()) for w in wide if w.size), default=0.0)
    for k, have, rounded, want in zip(leaves, found, own, wide, strict=True):
        difference = float(np.abs(rounded - want).max()) if want.size else 0.0
        near = 16 * difference + 256 * eps * (1 + largest)
        np.testing.assert_allclose(
            have.astype(np.float64), want, rtol=0, atol=near, err_msg=f"gradient of v{k}"
        )


def how_of(seed: int) -> How:
    """One in four in another way than users run it."""
    return draw_how(Random(seed)) if seed % 4 == 0 else How()


def test_forward(pytestconfig: pytest.Config) -> None:
    def check(program: Program, seed: int) -> None:
        check_values(program, how_of(seed))

    fuzz_all(seeds(pytestconfig, 50, 0), ALL, check, f"pytest {__file__} -k forward")


def test_gradient(pytestconfig: pytest.Config) -> None:
    def check(program: Program, seed: int) -> None:
        check_gradients(program, how_of(seed))

    fuzz_all(seeds(pytestconfig, 40, 1000), SMOOTH, check, f"pytest {__file__} -k gradient")
