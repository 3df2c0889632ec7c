"""Whole kernels: what the compiler writes for AMD GPUs, in the emulator, equals the reference."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import Tensor
from core.compile import compile_kernel
from core.errors import DeviceError, FaultError
from core.render import llvm
from core.runtime.buffer import Buffer
from core.runtime.device import Device
from core.runtime.emulator.llvm.translate import translate
from core.runtime.emulator.machine import execute
from core.runtime.emulator.prepare import prepare
from core.runtime.emulator.state import Launch
from core.runtime.reference.kernel import evaluate_kernel
from core.target import targets
from core.toolchain.program import Program
from core.uop.ops import Ops
from core.uop.uop import UOp
from tests.core.passes import running
from tests.core.passes.programs import kernels_of, legal_opts, program
from tests.core.render import programs
from tests.core.render.running import memory_for
from tests.core.runtime.asts import KERNELS, add
from tests.core.runtime.emulator.amd.running import Array, regions_of, run_program
from tests.core.runtime.test_agreement import check, memory_of
from tests.core.runtime.test_random_kernels import agree, kernels
from tests.fuzzing import seeds

ROOT = Path(__file__).parents[5]
TARGETS = ("gfx1100", "gfx1201", "gfx942", "gfx950")
PROGRAMS = 30


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_equal_the_reference(name: str, target: str) -> None:
    ast = KERNELS[name]()
    right = memory_of(ast)
    evaluate_kernel(ast, right, {})
    for opts in (None, ()):
        found = memory_of(ast)
        run_program(compile_kernel(ast, targets[target], opts), found)
        check(ast, found, right)


@settings(max_examples=40, deadline=None)
@given(kernels(), st.sampled_from(TARGETS))
def test_random_kernels_equal_the_reference(ast: UOp, target: str) -> None:
    found, right = memory_of(ast), memory_of(ast)
    evaluate_kernel(ast, right, {})
    run_program(compile_kernel(ast, targets[target]), found)
    agree(ast, found, right)


def test_random_programs_and_opts_equal_the_reference(request: pytest.FixtureRequest) -> None:
    for seed in seeds(request.config, PROGRAMS, 2_000_000):
        rng = Random(seed)
        for ast in kernels_of(rng, program(rng)):
            target = targets[rng.choice(TARGETS)]
            opts = legal_opts(rng, ast, target) if rng.random() < 0.7 else None
            what = f"seed {seed}, {target.name}, opts {[*map(str, opts or ['chosen'])]}"
            found, right = memory_of(ast), memory_of(ast)
            try:
                evaluate_kernel(ast, right, {})
                run_program(compile_kernel(ast, target, opts), found)
                running.agree(ast, found, right, what)
            except Exception as error:
                error.add_note(what)
                raise


LINEAR: tuple[Callable[[], list[UOp]], ...] = (
    programs.elementwise,
    programs.matrix_vector,
    programs.gated,
    programs.lane_gates,
    programs.narrow,
    programs.halves,
    programs.register_arrays,
    programs.shared,
)


@pytest.mark.parametrize("make", LINEAR, ids=lambda f: f.__name__)
def test_linear_programs_equal_their_evaluation(make: Callable[[], list[UOp]]) -> None:
    uops = make()
    memory = memory_for(uops, 4)
    right = {n: a.copy() for n, a in memory.items()}
    evaluate_kernel(uops, right)
    sizes = {u.arg: u.src[0].arg for u in uops if u.op is Ops.SPECIAL}
    arrays: list[Array] = [memory[n] for n in sorted(memory)]
    regions = regions_of(arrays)
    params = b"".join(r.address.to_bytes(8, "little") for r in regions)
    code = translate(llvm.render(uops, "k", targets["gfx942"]).text, "k", targets["gfx942"])
    grid, block = (
        (sizes.get(f"{kind}0", 1), sizes.get(f"{kind}1", 1), sizes.get(f"{kind}2", 1))
        for kind in ("gidx", "lidx")
    )
    execute(prepare(code), Launch(grid, block, params, tuple(regions)))
    for n, a in memory.items():
        np.testing.assert_array_equal(a, right[n])


# the device


def test_a_tensor_on_the_device() -> None:
    x = Tensor([[1.0, -2.0], [3.0, 4.0]], device="AMD:EMU")
    assert (x @ x).tolist() == [[-5.0, -10.0], [15.0, 10.0]]
    assert x.exp().log().sum().item() == pytest.approx(6.0, abs=1e-5)


def test_targets_by_name() -> None:
    assert Device["AMD:EMU"] is Device["amd:emu:gfx942"]
    for name in TARGETS:
        device = Device[f"AMD:EMU:{name}"]
        assert device.target is targets[name]
        program = compile_kernel(add(), targets[name])
        code = translate(program.source.text, program.name, targets[name])
        assert code.width == (32 if name in ("gfx1100", "gfx1201") else 64)
    with pytest.raises(DeviceError, match="gfx942"):
        Device["AMD:EMU:sm_90"]


def edited(old: str, new: str) -> FaultError:
    """The fault of an elementwise kernel with a change in its text."""
    device = Device["AMD:EMU"]
    made: Program = compile_kernel(add(64), targets["gfx942"], ())
    text, count = re.subn(old, new, made.source.text)
    assert count == 1, made.source.text
    runner = device.load(replace(made, source=replace(made.source, text=text)))
    zeros = memoryview(bytes(256))
    buffers = [Buffer("AMD:EMU", 64, a.dtype).copyin(zeros) for a in made.arguments]
    with pytest.raises(FaultError) as caught:
        runner(buffers, {}, wait=True)
    return caught.value


def test_a_fault_names_line_thread_and_node() -> None:
    error = edited(r"(store float %\S+, ptr addrspace\(1\) )%\S+,", r"\1%data1,")
    assert error.kind == "read-only"
    assert "store float" in error.where
    assert "thread (0, 0, 0) of kernel" in error.where
    assert "node STORE of void" in error.where
    error = edited(r"getelementptr inbounds float, ptr addrspace\(1\) %data0",
                   "getelementptr inbounds double, ptr addrspace(1) %data0")  # fmt: skip
    assert error.kind == "bounds"
    assert "data0" in error.what
    assert error.block != (0, 0, 0)
    error = edited(r"(%v6 = load float, ptr addrspace\(1\) %v5, align) 4", r"\1 8")
    assert error.kind == "alignment"


def test_memory_that_nothing_wrote_is_a_fault() -> None:
    made = compile_kernel(add(64), targets["gfx942"], ())
    runner = Device["AMD:EMU"].load(made)
    buffers = [Buffer("AMD:EMU", 64, a.dtype).allocate() for a in made.arguments]
    with pytest.raises(FaultError) as caught:
        runner(buffers, {}, wait=True)
    assert caught.value.kind == "uninitialised"


def test_variables_are_arguments() -> None:
    uops = programs.variable_loop()
    code = translate(llvm.render(uops, "k", targets["gfx942"]).text, "k", targets["gfx942"])
    assert [(p.name, p.offset, p.nbytes, p.pointer) for p in code.parameters] == [
        ("data0", 0, 8, True), ("arg.n", 8, 4, False)
    ]  # fmt: skip
    out = np.zeros(1, np.int32)
    (region,) = regions_of([out])
    for n in (0, 1, 7):
        params = region.address.to_bytes(8, "little") + n.to_bytes(4, "little")
        execute(prepare(code), Launch((1, 1, 1), (1, 1, 1), params, (region,)))
        assert out[0] == 5 + n * (n - 1) // 2


STEPS = """
import numpy as np, sys
from examples import digits
from core import Context, Tensor, nn
data = digits.load_digits()
images = (data.images / 16.0).astype(np.float32).reshape(-1, 1, 8, 8)
labels = data.target.astype(np.int32)
Tensor.manual_seed(7)
net = digits.Net()
optimizer = nn.optim.Adam(nn.state.get_parameters(net), lr=0.002)
with Context(TRAINING=1):
    for i in range(2):
        optimizer.zero_grad()
        x, y = Tensor(images[i * 32 : (i + 1) * 32]), Tensor(labels[i * 32 : (i + 1) * 32])
        loss = net(x).sparse_categorical_crossentropy(y).backward()
        print(loss.realize(*optimizer.schedule_step()).item())
"""


@pytest.mark.nightly
def test_two_steps_of_training_give_the_losses_of_the_cpu() -> None:
    losses: dict[str, list[float]] = {}
    for device in ("CPU", "AMD:EMU", "AMD:EMU:gfx1100"):
        done = subprocess.run(
            [sys.executable, "-c", STEPS],
            env={**os.environ, "DEV": device, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stderr
        losses[device] = [float(line) for line in done.stdout.split()]
        assert len(losses[device]) == 2
        assert losses[device] == pytest.approx(losses["CPU"], rel=1e-5)
