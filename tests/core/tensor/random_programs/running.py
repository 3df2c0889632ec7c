"""Running a random program on Tensors: at once or with some values realized on the way, with the
flags of a configuration, and its gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from core import Context, Device, Tensor, dtypes
from tests.core.tensor.random_programs import user
from tests.core.tensor.random_programs.draft import Array, Rules
from tests.core.tensor.random_programs.program import WIDE, Program, compare, draw_program, shrunken
from tests.fuzzing import has_float64


@dataclass(frozen=True)
class How:
    """A way to run a program. `realize` is the share of values that are realized when made. On
    several devices, data is cut between them along axes that `cuts` is the seed of."""

    device: str | tuple[str, ...] = field(default_factory=lambda: Device.DEFAULT)
    realize: float = 0.0
    flags: tuple[tuple[str, int], ...] = ()
    cuts: int = 0

    def __str__(self) -> str:
        flags = "".join(f", {name}={value}" for name, value in self.flags)
        cuts = "" if isinstance(self.device, str) else f", cut by {self.cuts}"
        return f"on {self.device}{cuts}, realizing {self.realize:.0%}{flags}"

    def leaf(self, number: int, data: Array, requires_grad: bool | None = None) -> Tensor:
        """The data of a program as a Tensor."""
        if isinstance(self.device, str):
            return Tensor(data, device=self.device, requires_grad=requires_grad)
        return cut(Tensor(data), self.device, Random(self.cuts + number)).requires_grad_(
            requires_grad
        )


NUMBERED = ("CPU", "OPENCL", "WEBGPU")
"""Kinds of devices of which any number can be opened: several may share what computes."""
CUT_ANEW = 0.15
"""Share of values that are cut anew when made."""


def cut(x: Tensor, devices: tuple[str, ...], rng: Random) -> Tensor:
    """A Tensor on several devices, cut along one of the axes that they divide, or not; sometimes by
    way of the CPU, or of several of it."""
    axes = [axis for axis, n in enumerate(x.shape) if n % len(devices) == 0]
    way = rng.random()
    if way < 0.1:
        x = x.to("CPU:7")
    elif way < 0.2 and not isinstance(x.device, str):
        x = x.to(("CPU:5", "CPU:6", "CPU:7")[: rng.choice((2, 3))])
    return x.shard(devices, rng.choice([*axes, *axes, None]))


def draw_how(rng: Random) -> How:
    """Mostly the device as users have it, else other levels of the scheduler and of kernels."""
    flags: dict[str, int] = {}
    if rng.random() < 0.5:
        flags["OPT"] = rng.randint(0, 3)
    if rng.random() < 0.3:
        flags["NOOPT"] = 1
    if rng.random() < 0.2:
        flags["SPLIT_REDUCE"] = rng.choice((0, 64, 256))
    if rng.random() < 0.1:
        flags["DONT_GROUP_REDUCES"] = 1
    if rng.random() < 0.1:
        flags["DONT_REALIZE_EXPAND"] = 1
    if rng.random() < 0.1:
        flags["MEMORY_PLANNER"] = 0
    if rng.random() < 0.2:
        flags["FUSE_CONV_BW"] = 1
    if rng.random() < 0.1:
        flags["LAZY"] = 0
    device = "REFERENCE" if rng.random() < 0.15 else Device.DEFAULT
    return How(device, rng.choice((0.0, 0.0, 0.2, 0.5, 1.0)), tuple(flags.items()))


def draw_how_on_several(rng: Random) -> How:
    """As `draw_how`, on two or three devices: of the default one's kind where there are always as
    many."""
    how = draw_how(rng)
    kind = Device.DEFAULT if Device.DEFAULT in NUMBERED else "CPU"
    names = tuple(f"{kind}:{i}" for i in range(rng.choice((2, 2, 3))))
    ring = ("RING", rng.randint(0, 2))
    device = tuple(map(Device.canonicalize, names))
    return How(device, how.realize, (*how.flags, ring), rng.randrange(1000))


def tensors(
    program: Program, how: How, leaf: Callable[[int, Array], Any] | None = None
) -> list[Tensor]:
    """The values of all statements."""
    chosen = Random(len(program.statements))
    names = {"Tensor": Tensor, "u": user, "np": np, "device": how.device}

    def each(_: int, value: Tensor) -> Tensor:
        if not isinstance(how.device, str) and chosen.random() < CUT_ANEW:
            value = cut(value, how.device, chosen)
        return value.realize() if chosen.random() < how.realize else value

    data = leaf or how.leaf
    return program.run(lambda o: o.ours, names, data, each)


def flags(how: How) -> AbstractContextManager[object]:
    """The flags of a configuration, for a block."""
    return Context(**dict(how.flags)) if how.flags else nullcontext()


def forward(program: Program, how: How) -> list[Array]:
    """The values that the program asks for."""
    with flags(how):
        values = tensors(program, how)
        asked = [values[k] for k in program.outputs]
        if how.realize < 1:
            asked[0].realize(*asked[1:])
        return [t.numpy() for t in asked]


def check_forward(program: Program, how: How) -> None:
    """Fails unless all that is asked for is as NumPy has it."""
    for k, have in zip(program.outputs, forward(program, how), strict=True):
        compare(have, program.statements[k].value, f"v{k}, {how}")


def gradients(program: Program, how: How) -> tuple[list[Array], list[int]]:
    """The derivatives of the sum of the float outputs, each times its cotangent, by the float
    leaves, and the numbers of these."""
    with flags(how):
        return _gradients(program, how)


def _gradients(program: Program, how: How) -> tuple[list[Array], list[int]]:
    leaves = [k for k, s in enumerate(program.statements) if s.is_differentiable_leaf]
    values = tensors(
        program,
        how,
        lambda k, a: how.leaf(k, a, requires_grad=a.dtype.kind == "f" or None),
    )
    total: Tensor | None = None
    wide = "float64" if has_float64() else "float32"
    for k in program.outputs:
        value = values[k]
        if dtypes.is_float(value.dtype):
            weight = Tensor(cotangent(value.shape).astype(wide), device=how.device)
            part = (value.cast(wide) * weight).sum()
            total = part if total is None else total + part
    assert total is not None
    found = total.gradient(*(values[k] for k in leaves), materialize_grads=True)
    found[0].realize(*found[1:])
    return [g.numpy() for g in found], leaves


def cotangent(shape: tuple[int, ...]) -> Array:
    """Weights of the elements of an output."""
    return np.resize(np.array([0.5, -0.75, 1.0, 1.25, -0.25]), shape)


def is_differentiable(program: Program) -> bool:
    """Whether there is something to derive, and something to derive it by."""
    floats = any(program.statements[k].value.kind == "f" for k in program.outputs)
    return floats and any(s.is_differentiable_leaf for s in program.statements)


def check_gradient(program: Program, how: How) -> None:
    """Fails unless the derivatives, along one direction, are what differences of the wide values in
    NumPy say."""
    found, leaves = gradients(program, how)
    random = np.random.default_rng(len(leaves))
    rows = [program.statements[k].value for k in leaves]
    along = [random.uniform(-1, 1, v.shape) for v in rows]
    have = sum(float((g * d).sum()) for g, d in zip(found, along, strict=True))
    steps = (1e-4, 5e-5)
    coarse, fine = (_difference(program, dict(zip(leaves, along, strict=True)), h) for h in steps)
    # what is left of the second order, of rounding, and of the dtypes on the way
    values = [program.statements[k].value for k in program.outputs]
    scale = sum(float(np.abs(g * d).sum()) for g, d in zip(found, along, strict=True))
    outer = sum(float(np.abs(v.wide).sum()) for v in values if v.kind == "f")
    eps = max(s.value.eps for s in program.statements)
    # what flows back begins as the cotangents, and may cancel where nothing of it is left
    flow = sum(float(np.abs(cotangent(v.shape)).sum()) for v in values if v.kind == "f")
    near = 8 * abs(coarse - fine) + 1e-6 * (1 + scale + outer) + 256 * eps * (1 + scale + outer)
    near += 8 * eps * flow
    assert abs(have - fine) <= near, f"{how}: gradient {have}, differences {fine} +- {near}"


def _difference(program: Program, along: dict[int, Array], step: float) -> float:
    """The central difference of the weighted sum of the outputs."""

    def total(sign: int) -> float:
        def leaf(k: int, data: Array) -> Array:
            wide = WIDE.data(data)
            return wide + sign * step * along[k] if k in along else wide

        values = program.run(
            lambda o: o.model, {"f": WIDE, "np": np}, leaf, lambda _, v: np.asarray(v)
        )
        asked = [values[k] for k in program.outputs if values[k].dtype.kind == "f"]
        return sum(float((v * cotangent(v.shape)).sum()) for v in asked)

    return (total(1) - total(-1)) / (2 * step)


MOST_FAILURES = 5


def fuzz_all(
    seeds: Iterable[int],
    rules: Rules,
    check: Callable[[Program, int], None],
    again: str,
) -> None:
    """`fuzz` with every seed, which `check` is given too; goes on until some programs failed."""
    failures: list[str] = []
    for seed in seeds:
        try:
            fuzz(seed, rules, lambda program, seed=seed: check(program, seed), again)
        except AssertionError as error:
            failures.append(str(error))
            if len(failures) == MOST_FAILURES:
                break
    assert not failures, "\n\n".join(failures)


def fuzz(
    seed: int,
    rules: Rules,
    check: Callable[[Program], None],
    again: str,
) -> None:
    """Checks the program of a seed. Fails with the smallest program that fails, and how to run it
    again."""
    program = draw_program(Random(seed), rules)
    try:
        check(program)
    except Exception as error:
        kind = type(error)

        def fails(candidate: Program) -> bool:
            try:
                check(candidate)
            except Exception as other:
                return type(other) is kind
            return False

        small = shrunken(program, fails)
        try:
            check(small)
        except Exception as last:
            message = f"{type(last).__name__}: {last}"
        else:
            message = f"not every time: {type(error).__name__}: {error}"
        raise AssertionError(f"{message}\n{small}\nFUZZ_SEED={seed} {again}") from error
