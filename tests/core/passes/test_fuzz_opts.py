"""Random kernels under random sequences of legal opts: what the device computes stays as it was,
and what GPUs would run is a right program that their own compilers take.

`--fuzz N` runs N programs per test instead of 70. A failure prints the seed of its program, and
`FUZZ_SEED=seed` runs that one alone.
"""

from __future__ import annotations

import os
from random import Random

import numpy as np
import pytest

from core.compile import compile_kernel
from core.runtime.device import Device
from core.runtime.reference.kernel import evaluate_kernel
from core.target import targets
from core.toolchain.assembled import amd_isa
from core.toolchain.nvidia_tools import find_tool
from core.toolchain.ptxas import assemble
from core.uop import Ops
from tests.core.passes.programs import kernels_of, legal_opts, matrix_product, program
from tests.core.passes.running import agree, run_on
from tests.core.runtime.test_agreement import memory_of
from tests.core.tensor_eval import value
from tests.fuzzing import seeds

PROGRAMS = 40
GPUS = ("sm_90", "sm_75", "gfx1100", "gfx942")
CORES = ("sm_75", "sm_80", "sm_89", "gfx1100", "gfx1201", "gfx942", "gfx950")
"""Targets with every matrix instruction among them."""
FOUND = (346290630,)
"""Seeds of programs that were wrong once."""
ASSEMBLED = 20
"""Two in so many programs are given to the vendor's assembler, which is slow."""


def test_opts_keep_what_is_computed(request: pytest.FixtureRequest) -> None:
    target = Device[Device.DEFAULT].written_for
    for seed in seeds(request.config, PROGRAMS, 0):
        rng = Random(seed)
        for ast in kernels_of(rng, program(rng)):
            opts = legal_opts(rng, ast, target) if rng.random() < 0.7 else None
            what = f"seed {seed}, opts {[*map(str, opts or ['chosen'])]}"
            memory, right = memory_of(ast), memory_of(ast)
            try:
                evaluate_kernel(ast, right, {})
                agree(ast, run_on(Device.DEFAULT, ast, opts, memory), right, what)
            except Exception as error:
                error.add_note(what)
                raise


def test_opts_make_right_programs_for_gpus(request: pytest.FixtureRequest) -> None:
    for seed in seeds(request.config, PROGRAMS, 1_000_000):
        rng = Random(seed)
        executed = seed % 4 == 0
        for ast in kernels_of(rng, program(rng, large=not executed)):
            target = targets[rng.choice(GPUS)]
            opts = legal_opts(rng, ast, target) if rng.random() < 0.7 else None
            what = f"seed {seed}, {target.name}, opts {[*map(str, opts or ['chosen'])]}"
            try:
                compiled = compile_kernel(ast, target, opts)  # verified there
                if seed % ASSEMBLED < 2:
                    if target.family == "amd":
                        amd_isa(compiled.source, compiled.name, compiled.uops)
                    elif find_tool("ptxas"):
                        assemble(compiled.source.text, target.arch)
                if executed:
                    found, right = memory_of(ast), memory_of(ast)
                    evaluate_kernel(ast, right, {})
                    evaluate_kernel(compiled.uops, found)
                    agree(ast, found, right, what)
            except Exception as error:
                error.add_note(what)
                raise


def test_products_on_tensor_cores(request: pytest.FixtureRequest) -> None:
    """Products of matrices, with tensor cores wherever they may be, and further opts."""
    used = 0
    for seed in seeds(request.config, PROGRAMS, 3_000_000):
        rng = Random(seed)
        for ast in kernels_of(rng, matrix_product(rng)):
            target = targets[rng.choice(CORES)]
            opts = legal_opts(rng, ast, target, 0.9) if rng.random() < 0.8 else None
            what = f"seed {seed}, {target.name}, opts {[*map(str, opts or ['chosen'])]}"
            try:
                compiled = compile_kernel(ast, target, opts)
                used += any(u.op is Ops.WMMA for u in compiled.uops)
                if seed % ASSEMBLED == 0:
                    if target.family == "amd":
                        amd_isa(compiled.source, compiled.name, compiled.uops)
                    elif find_tool("ptxas"):
                        assemble(compiled.source.text, target.arch)
                found, right = memory_of(ast), memory_of(ast)
                evaluate_kernel(ast, right, {})
                evaluate_kernel(compiled.uops, found)
                agree(ast, found, right, what)
            except Exception as error:
                error.add_note(what)
                raise
    assert used or "FUZZ_SEED" in os.environ, "some of the programs use tensor cores"


def test_masks_are_as_numpy_says(request: pytest.FixtureRequest) -> None:
    """Whole programs with masks, conditions and pads of pads, with the opts chosen for them."""
    for seed in (*FOUND, *seeds(request.config, PROGRAMS, 2_000_000)):
        wanted = program(Random(seed), masks=0.5)
        try:
            want = value(wanted)
            near = 2e-2 if wanted.dtype.itemsize < 4 else 1e-4
            np.testing.assert_allclose(wanted.numpy(), want, rtol=near, atol=near)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
