"""A kernel with random arguments and the reference's answer for them, and how results are judged.

The reference is NumPy's meaning of each op; the CPU's machine code for kernels whose intermediate
arrays would be too large for that. Knows nothing of emulators.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from core.compile import compile_kernel
from core.dtype import DType, PtrDType, dtypes
from core.helpers import prod
from core.kernelname import kernel_name
from core.runtime.buffer import Buffer
from core.runtime.device import Device
from core.runtime.numeric import Array, from_memory, memory_dtype, to_memory
from core.runtime.reference.kernel import evaluate_kernel
from core.toolchain.processor import host_target
from core.toolchain.program import Program
from core.trial.difference import difference, first_wrong, summed_products
from core.trial.trial import arguments
from core.uop import Ops, UOp
from core.uop.pointer import pointer_of

SEED: Final = 22
LARGEST: Final = 1 << 22
"""Elements of the largest intermediate array that NumPy evaluates here."""


@dataclass(frozen=True)
class Domain:
    """What arguments hold: floats from `low` up to 1, whole numbers from `least` (unsigned: from 0)
    to 9."""

    low: float
    least: int


DOMAINS: Final = (Domain(-1.0, -9), Domain(0.1, 1))
"""The second where it gives more finite numbers than the first: a logarithm, a division."""
ENOUGH: Final = 0.9
"""A share of finite numbers with which no other domain is tried."""


@dataclass(frozen=True)
class Subject:
    """A kernel, its arguments before it runs, and (`right`) after. `loaded`: the numbers of those
    that it reads; the others are for its results alone. `reference` says who computed them."""

    ast: UOp
    name: str
    variables: Mapping[str, int]
    before: tuple[Array, ...]
    right: tuple[Array, ...]
    loaded: frozenset[int]
    reference: str

    def run(self, program: Program, name: str) -> list[Array]:
        """The memory of the arguments after a run on a device. Raises what the device raises."""
        buffers = [
            Buffer(name, a.size, u.dtype.base).allocate().copyin(a.view(np.uint8).data)
            for a, u in zip(self.before, arguments(self.ast), strict=True)
        ]
        Device[name].load(program)(buffers, self.variables, wait=True)
        return [b.as_array() for b in buffers]

    def wrong(self, found: list[Array], written: Mapping[int, Array] | None = None) -> str:
        """What is wrong with the arguments after a run, "" where nothing is. `written`: of a run of
        some blocks only, which elements of each output to look at. Floats may be off by
        `core.prove.samples.rounding.RESULT` times the largest magnitude, others not at all."""
        rounded = summed_products(self.ast)
        for number, u in enumerate(arguments(self.ast)):
            dtype, got, wanted = u.dtype.base, found[number], self.right[number]
            if written is not None and number in written:
                got, wanted = got[written[number]], wanted[written[number]]
            elif written is not None:
                continue
            if not got.size:
                continue
            error, limit = difference(got, wanted, dtype.name, rounded)
            if not error <= limit:
                at, value, right = first_wrong(got, wanted, dtype.name, limit)
                return (
                    f"data{number}: off by up to {error:.3g}, where {limit:.3g} is allowed; "
                    f"element {at} is {value:.7g} in place of {right:.7g}"
                )
        return ""


def subject_of(ast: UOp) -> Subject:
    """The kernel with arguments that give finite numbers, where there are such, and the answer."""
    variables = {u.arg[0]: int(u.arg[2]) for u in ast.toposort() if u.op is Ops.DEFINE_VAR}
    small = max((prod(u.shape or ()) for u in ast.toposort()), default=0) <= LARGEST
    evaluate = _by_numpy if small else _by_cpu
    before: list[Array] = []
    right: list[Array] = []
    share = -1.0
    for domain in DOMAINS:
        given = arguments_of(ast, domain)
        found = evaluate(ast, given, variables)
        if _finite(ast, found) > share:
            before, right, share = given, found, _finite(ast, found)
        if share > ENOUGH:
            break
    loaded = frozenset(pointer_of(u.src[0]).arg for u in ast.toposort() if u.op is Ops.LOAD)
    said = "REFERENCE" if small else "CPU"
    return Subject(ast, kernel_name(ast), variables, tuple(before), tuple(right), loaded, said)


def arguments_of(ast: UOp, domain: Domain) -> list[Array]:
    """Random memory for every argument, the same in every run."""
    rng = np.random.default_rng(SEED)
    return [_values(rng, u.dtype.base, _elements(u), domain) for u in arguments(ast)]


def _elements(pointer: UOp) -> int:
    assert isinstance(pointer.dtype, PtrDType)
    return pointer.dtype.size


def _values(rng: np.random.Generator, dtype: DType, size: int, domain: Domain) -> Array:
    if dtypes.is_float(dtype):
        values = rng.uniform(domain.low, 1, size)
        return to_memory(values if dtype is dtypes.float64 else values.astype(np.float32), dtype)
    if dtypes.is_bool(dtype):
        return rng.integers(0, 2, size).astype(memory_dtype(dtype))
    least = max(0, domain.least) if dtypes.is_unsigned(dtype) else domain.least
    return rng.integers(least, 10, size).astype(memory_dtype(dtype))


def _by_numpy(ast: UOp, before: list[Array], variables: Mapping[str, int]) -> list[Array]:
    right = [a.copy() for a in before]
    with np.errstate(all="ignore"):
        evaluate_kernel(ast, right, variables)
    return right


def _by_cpu(ast: UOp, before: list[Array], variables: Mapping[str, int]) -> list[Array]:
    kinds: list[DType] = [u.dtype.base for u in arguments(ast)]
    buffers = [
        Buffer("CPU", a.size, kind).copyin(a.view(np.uint8).data)
        for a, kind in zip(before, kinds, strict=True)
    ]
    Device["CPU"].load(compile_kernel(ast, host_target()))(buffers, variables, wait=True)
    return [b.as_array().copy() for b in buffers]


def _finite(ast: UOp, right: list[Array]) -> float:
    """The least share of finite numbers in an output."""
    shares = [1.0]
    for u in ast.toposort():
        if u.op is Ops.STORE:
            pointer = pointer_of(u.src[0])
            if dtypes.is_float(pointer.dtype.base) and right[pointer.arg].size:
                values = from_memory(right[pointer.arg], pointer.dtype.base)
                shares.append(float(np.isfinite(values).mean()))
    return min(shares)
