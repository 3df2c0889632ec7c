"""Random Tensor programs against NumPy: whatever is fused, realized on the way, optimised or not,
the values are those of NumPy's functions, and gradients are the slopes of these.

`--fuzz N` runs N programs per test, from a new seed that a failure prints; `FUZZ_SEED=seed` runs
that one alone. Gradients are taken of programs whose float data lies on no kink or tie.
"""

from __future__ import annotations

from random import Random

import pytest

from core.runtime.device import Device
from core.runtime.reference.kernel import evaluate_kernel
from tests.core.passes.programs import kernels_of, legal_opts
from tests.core.passes.running import agree, run_on
from tests.core.runtime.test_agreement import memory_of
from tests.core.tensor.random_programs.draft import Rules
from tests.core.tensor.random_programs.program import Program
from tests.core.tensor.random_programs.running import (
    How,
    check_forward,
    check_gradient,
    draw_how,
    draw_how_on_several,
    fuzz_all,
    is_differentiable,
    tensors,
)  # fmt: skip
from tests.fuzzing import computed, has_float64, seeds

INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
ALL = Rules(("bool", *computed((*INTS, "float16", "float32", "float32", "float64"))))
PRODUCTS = Rules(("bool", *INTS, "float16", *["float32"] * 16), products=12)
SMOOTH = Rules(("bool", "int32", "float32", "float64", "float64"), smooth=True)


needs_float64 = pytest.mark.skipif(not has_float64(), reason="slopes are taken in float64")


def again(test: str) -> str:
    return f"pytest {__file__} -k {test}"


def test_programs_as_users_run_them(pytestconfig: pytest.Config) -> None:
    def check(program: Program, _: int) -> None:
        check_forward(program, How())

    fuzz_all(seeds(pytestconfig, 26, 0), ALL, check, again("users_run"))


def test_programs_run_in_other_ways(pytestconfig: pytest.Config) -> None:
    """Some values realized on the way, other levels of the scheduler, other devices."""

    def check(program: Program, seed: int) -> None:
        check_forward(program, draw_how(Random(seed)))

    fuzz_all(seeds(pytestconfig, 31, 1000), ALL, check, again("other_ways"))


def test_products_of_images(pytestconfig: pytest.Config) -> None:
    """Matrix products and convolutions, whose operands, and results, are kept in texels."""

    def check(program: Program, seed: int) -> None:
        check_forward(program, How(flags=(("IMAGE", 1 + seed % 2),)))

    fuzz_all(seeds(pytestconfig, 5, 6000), PRODUCTS, check, again("products_of_images"))


def test_programs_run_on_several_devices(pytestconfig: pytest.Config) -> None:
    """Data cut between devices along random axes, or on each of them."""

    def check(program: Program, seed: int) -> None:
        check_forward(program, draw_how_on_several(Random(seed)))

    fuzz_all(seeds(pytestconfig, 12, 4000), ALL, check, again("several_devices"))


@needs_float64
def test_gradients_on_several_devices_are_slopes(pytestconfig: pytest.Config) -> None:
    def check(program: Program, seed: int) -> None:
        if is_differentiable(program):
            check_gradient(program, draw_how_on_several(Random(seed)))

    fuzz_all(seeds(pytestconfig, 5, 5000), SMOOTH, check, again("on_several_devices_are"))


@needs_float64
def test_gradients_are_slopes(pytestconfig: pytest.Config) -> None:
    def check(program: Program, seed: int) -> None:
        if is_differentiable(program):
            check_gradient(program, draw_how(Random(seed)))

    fuzz_all(seeds(pytestconfig, 20, 2000), SMOOTH, check, again("slopes"))


def test_kernels_under_random_opts(pytestconfig: pytest.Config) -> None:
    """Each kernel of a program, under opts that are legal for it, is what the reference has."""

    def check(program: Program, seed: int) -> None:
        rng = Random(seed)
        target, values = Device[Device.DEFAULT].written_for, tensors(program, How())
        for k in program.outputs:
            for ast in kernels_of(rng, values[k]):
                opts = legal_opts(rng, ast, target)
                memory, right = memory_of(ast), memory_of(ast)
                evaluate_kernel(ast, right, {})
                agree(
                    ast,
                    run_on(Device.DEFAULT, ast, opts, memory),
                    right,
                    f"opts {[*map(str, opts)]}",
                )

    fuzz_all(seeds(pytestconfig, 12, 3000), ALL, check, again("random_opts"))
