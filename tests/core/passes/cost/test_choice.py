"""The choice of opts by predicted time: legal, the same in every process, and fast where it is
known what is fast. Nothing here is measured."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from core import Tensor
from core.hardware.cpu import Cpu, cpu_of
from core.hardware.host import settings_of
from core.passes.cost.cpu import predicted
from core.passes.cost.nest import Nest
from core.passes.cost.plan import opts_of, plain
from core.passes.cost.plans import MOST, candidates
from core.passes.optimize import Kernel, apply_opt, chosen_opts, prepared
from core.passes.optimize.reading import as_run, read
from core.passes.pipeline import BEFORE_OPTS, run_passes
from core.target import targets
from core.uop.kernelinfo import OptOps
from tests.core.passes.programs import kernels_of, program

TARGET = targets["x86-64"]
CPU = cpu_of("x86-64")


def kernel_of(value: Tensor) -> Kernel:
    ast = value.schedule()[-1].ast
    return prepared(run_passes(ast, TARGET, None, BEFORE_OPTS), TARGET)


def product(m: int, n: int, k: int) -> Tensor:
    return Tensor.empty(m, k) @ Tensor.empty(k, n)


def best(nest: Nest, cpu: Cpu = CPU) -> float:
    return candidates(nest, TARGET, cpu)[0].predicted.cycles


def test_every_candidate_applies_and_is_predicted_as_it_then_is() -> None:
    """What is predicted of a plan is predicted of the kernel that its opts make of it, too."""
    for seed in range(12):
        rng = Random(seed)
        for ast in kernels_of(rng, program(rng)):
            kernel = prepared(run_passes(ast, TARGET, None, BEFORE_OPTS), TARGET)
            if kernel.as_written:
                continue
            nest = read(kernel)
            for candidate in candidates(nest, TARGET, CPU)[:12]:
                made = kernel.copied()
                for opt in opts_of(nest, candidate.plan):
                    apply_opt(made, opt)
                ran = predicted(*as_run(made), TARGET, CPU).cycles
                apart = ran / candidate.predicted.cycles
                assert 0.4 < apart < 2.5, f"seed {seed}: {candidate.plan}"


def test_lengths_that_no_opt_has() -> None:
    """17 iterations fit into two vectors of 512 bits, but an opt does 16 at most at once."""
    wide = targets["x86-64-v4"]
    for n in (17, 23, 31, 34, 19 * 29):
        nest = read(kernel_of(Tensor.empty(n) * 2))
        for candidate in candidates(nest, wide, cpu_of(wide.name)):
            made = 1
            for opt in opts_of(nest, candidate.plan):
                if opt.op is OptOps.UPCAST and isinstance(opt.arg, int):
                    made *= opt.arg
            assert made == max(candidate.plan.upcast)


@pytest.mark.parametrize("grown", [(128, 64, 64), (64, 128, 64), (64, 64, 128)])
def test_more_work_takes_longer(grown: tuple[int, int, int]) -> None:
    assert best(read(kernel_of(product(*grown)))) > best(read(kernel_of(product(64, 64, 64))))


def test_more_bytes_take_longer() -> None:
    times = [best(read(kernel_of(Tensor.empty(1 << n) * 2))) for n in range(10, 26, 3)]
    assert times == sorted(times)


def test_whatever_figures_are_set_there_is_a_prediction() -> None:
    for setting in ("jump=1000", "cores=0.5,l1=0.1,registers=0.1", "alu=0.000001"):
        figures = settings_of(setting).items()
        cpu = replace(CPU, **{name: type(getattr(CPU, name))(x) for name, x in figures})
        assert best(read(kernel_of(product(64, 64, 64))), cpu) > 0, setting


def test_smaller_caches_never_help() -> None:
    nest = read(kernel_of(product(256, 256, 256)))
    plan = candidates(nest, TARGET, CPU)[0].plan
    small = replace(CPU, l1=8 << 10, l2=64 << 10, l3=256 << 10)
    at, worse = (predicted(nest, plan, TARGET, cpu).cycles for cpu in (CPU, small))
    assert worse > at


def test_lanes_are_faster_than_none() -> None:
    nest = read(kernel_of(product(64, 64, 64)))
    assert best(nest) < predicted(nest, plain(nest), TARGET, CPU).cycles / 8


@pytest.mark.parametrize("cores", [1, 2, 128])
def test_cores_share_what_is_long_enough(cores: int) -> None:
    cpu = replace(CPU, cores=cores)
    long = candidates(read(kernel_of(product(512, 512, 512))), TARGET, cpu)[0].plan
    short = candidates(read(kernel_of(product(8, 8, 8))), TARGET, cpu)[0].plan
    assert (long.thread, short.thread) == (cores > 1, False)


def test_few_plans_are_looked_at() -> None:
    image = Tensor.empty(8, 16, 32, 32).conv2d(Tensor.empty(32, 16, 3, 3), padding=1)
    assert len(candidates(read(kernel_of(image)), TARGET, CPU)) <= MOST


CHOOSE = """
from tests.core.passes.cost.test_choice import chosen, product
from core import Tensor
print(chosen(product(96, 80, 64)))
print(chosen(Tensor.empty(8, 16, 32, 32).conv2d(Tensor.empty(32, 16, 3, 3), padding=1)))
print(chosen(Tensor.empty(512, 1024).sum(1)))
"""


def chosen(value: Tensor) -> str:
    return " ".join(map(str, chosen_opts(kernel_of(value))))


@pytest.mark.parametrize(
    "value",
    [
        lambda: Tensor.empty(1, 512, 7, 7).conv2d(Tensor.empty(1024, 512, 1, 1)),
        lambda: Tensor.empty(1, 64, 14, 14).conv2d(Tensor.empty(64, 64, 3, 3), padding=1),
    ],
    ids=["49 positions", "rows of 14"],
)
def test_lengths_that_no_vector_divides_are_padded(value: Callable[[], Tensor]) -> None:
    """Whole vectors with a few idle lanes are faster than vectors that rows begin and end amid."""
    opts = chosen_opts(kernel_of(value()))
    assert opts[0].op is OptOps.PADTO, opts


def test_processes_agree() -> None:
    said = {
        subprocess.run(
            [sys.executable, "-c", CHOOSE],
            env={**os.environ, "PYTHONHASHSEED": seed, "CPU_MACHINE": "usual"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1
    assert "UPCAST" in said.pop()


@pytest.mark.parametrize(
    "value",
    [
        lambda: Tensor.empty(8, 16, 64, 64).max_pool2d((2, 2)),
        lambda: Tensor.empty(8, 50257).max(1),
        lambda: Tensor.empty(1, 256, 56, 56).conv2d(Tensor.empty(128, 256, 1, 1), stride=2),
    ],
    ids=["pooling", "rows of a prime length", "strided convolution"],
)
def test_kernels_that_rules_left_without_lanes(value: Callable[[], Tensor]) -> None:
    """Rules that looked for loops over neighbours alone made these five times as slow."""
    opts = chosen_opts(kernel_of(value()))
    lanes = [o.arg for o in opts if o.op in (OptOps.UPCAST, OptOps.GROUP, OptOps.UNROLL)]
    assert any(isinstance(n, int) and n >= 4 for n in lanes), opts
