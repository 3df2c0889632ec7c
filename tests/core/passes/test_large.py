"""Loops and memory of 2^31 elements and more: no index wraps, on any target, and no hardware index
is beyond its limit. Nothing is allocated: the index arithmetic of the programs is worked out with
numbers that cannot wrap, and no step of it may leave its dtype."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from core.compile import compile_kernel, sources_for
from core.dtype import PtrDType, dtypes
from core.errors import CompileError
from core.helpers import prod
from core.passes.loops.gpudims import dimensions
from core.target import targets
from core.tensor import Tensor
from core.uop import GroupOp, Ops, UOp
from core.uop.facts.meaning import evaluate
from core.uop.kernelinfo import AxisType, Opt, OptOps
from core.uop.pointer import pointer_of
from tests.core.passes import kernels

TARGETS = ("x86-64", "aarch64", "sm_75", "sm_90", "gfx1100", "gfx942")
PROGRAMS: dict[str, Callable[[], Tensor]] = {
    "ones": lambda: Tensor.empty(1, 1, dtype="int8").expand(65536, 32768) + 1,
    "rows": lambda: Tensor.empty(1, 1, dtype="int8").expand(65536, 40000) + 1,
    "transposed": lambda: Tensor.empty(65536, 40000, dtype="int8").permute(1, 0) + 1,
    "one axis": lambda: Tensor.empty(3_000_000_000, dtype="int8") + 1,
    "prime": lambda: Tensor.empty(3_000_000_019, dtype="int8") + 1,
    "padded": lambda: Tensor.empty(3_000_000_000, dtype="int8").pad(((3, 4),)) * 2,
    "counted": lambda: Tensor.arange(3_000_000_000, dtype="int64"),
    "two primes": lambda: Tensor.empty(65537, 65539, dtype="int8") + 1,
    "part": lambda: Tensor.empty(70000, 70000, dtype="int8")[5:60000, 7:60000].permute(1, 0) + 1,
    "corner": lambda: Tensor.empty(2, 65536, 65536, dtype="int8")[:, :2, :2].reshape(8) + 1,
    "end": lambda: Tensor.empty(3, 65536, 65536, dtype="int8").flip(0)[:1, :2, :2] + 1,
    "sum": lambda: Tensor.empty(65536, 40000, dtype="int8").sum(),
    "column sums": lambda: Tensor.empty(3_000_000_000, 2, dtype="int8").sum(0),
    "maximum": lambda: Tensor.empty(1, 3_000_000_000, dtype="int8").expand(2, -1).max(1),
    "found": lambda: (
        Tensor.arange(3_000_000_000, dtype="int64") == Tensor.empty(5, 1, dtype="int64")
    ).where(1, 0).sum(1),
}  # fmt: skip


def asts(name: str) -> list[UOp]:
    return [item.ast for item in PROGRAMS[name]().schedule() if item.ast.op is Ops.SINK]


def check_indices(program: Sequence[UOp], seed: int) -> int:
    """Works out every address at the corners and at random places; the largest that is stored."""
    random_ = random.Random(seed)
    loops = [u for u in program if u.op in (Ops.RANGE, Ops.SPECIAL)]
    needed: dict[UOp, None] = {}
    for u in program:
        if u.op is Ops.INDEX:
            needed.update((v, None) for v in u.src[1].toposort())
    largest = -1
    for turn in range(20):
        at: dict[UOp, int | None] = {}
        for loop in loops:
            last = int(loop.vmax)
            at[loop] = (0, last, random_.randint(0, last))[min(turn, 2)]
        for u in needed:
            if u in at:
                continue
            values = [value for s in u.src if (value := at[s]) is not None]
            if u.op is Ops.CONST:
                at[u] = u.arg
            elif u.op not in GroupOp.Elementwise or len(values) < len(u.src):
                at[u] = None  # a number from memory
            else:
                wide = dtypes.int64 if dtypes.is_int(u.dtype) else u.dtype
                value = values[0] if u.op is Ops.CAST else evaluate(u.op, wide, values)
                if dtypes.is_int(u.dtype):
                    low, high = dtypes.min(u.dtype), dtypes.max(u.dtype)
                    assert low <= value <= high, f"{value} at {u} (seed {seed})"
                at[u] = value
        for u in program:
            if u.op is Ops.STORE and pointer_of(u.src[0]).op is Ops.DEFINE_GLOBAL:
                assert isinstance(u.src[0].dtype, PtrDType)
                offset = at[u.src[0].src[1]]
                if offset is not None and len(u.src) == 2:
                    largest = max(largest, offset + u.src[1].dtype.count - 1)
    return largest


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_index_wraps(name: str, target: str) -> None:
    for ast in asts(name):
        for opts in (None, ()):
            if opts == () and name in ("prime", "two primes") and target[0] in "sg":
                with pytest.raises(CompileError, match="do not fit dimensions"):
                    compile_kernel(ast, targets[target], opts)
                continue
            program = compile_kernel(ast, targets[target], opts)  # verified there
            check_indices(program.uops, seed=7)
            for u in program.uops:
                if u.op is Ops.RANGE:
                    assert u.src[0].op is not Ops.CONST or u.src[0].arg > 0


@pytest.mark.parametrize("target", TARGETS)
def test_the_last_element_is_stored(target: str) -> None:
    for name in ("ones", "rows", "one axis", "counted"):
        (ast,) = asts(name)
        for opts in (None, ()):
            program = compile_kernel(ast, targets[target], opts)
            assert check_indices(program.uops, seed=7) == program.arguments[0].size - 1
            if targets[target].has_local:
                lanes = max(u.src[1].dtype.count for u in program.uops if u.op is Ops.STORE)
                threads = prod(program.global_size) * prod(program.local_size)
                assert threads * lanes >= program.arguments[0].size


def test_every_text_counts_with_64_bits_where_it_must() -> None:
    (ast,) = asts("prime")
    texts = {
        a.kind: a.text for t in ("x86-64", "sm_90", "gfx942") for a in sources_for(ast, targets[t])
    }
    assert "3000000019" in texts["c"]
    assert "s64" in texts["ptx"]
    assert "long" in texts["cuda"]
    assert "long" in texts["hip"]
    small = kernels.elementwise((64, 64)).ast
    for target in TARGETS:
        assert not any(u.dtype is dtypes.int64 for u in compile_kernel(small, targets[target]).uops)


def test_sums_of_more_than_an_int32_counts() -> None:
    ones = Tensor.ones(1, 1, dtype="int64").contiguous().expand(65536, 40000)
    assert ones.sum().item() == 65536 * 40000
    assert ones.sum(1)[-1].item() == 40000


def test_dimensions_beyond_the_limits() -> None:
    limits = (2147483647, 65535, 65535)
    assert dimensions((65536, 40000), limits) == (1310720000, 2)
    assert prod(dimensions((1 << 20, 1 << 20, 1 << 20), limits)) == 1 << 60
    with pytest.raises(CompileError, match="do not fit"):
        dimensions((2147483659, 1), limits)


def test_opts_keep_loops_countable() -> None:
    size = (1 << 31) - 1  # a prime
    ast = kernels.kernel(kernels.plain(1, (size,), dtypes.int8) + 1)
    for target in ("x86-64", "sm_90"):
        with pytest.raises(CompileError, match="loop variable does not count to"):
            compile_kernel(ast, targets[target], [Opt(OptOps.PADTO, 0, 8)])
    long = kernels.kernel(kernels.plain(1, (3_000_000_000,), dtypes.int8) + 1)
    with pytest.raises(CompileError, match="too long to be shared out"):
        compile_kernel(long, targets["x86-64"], [Opt(OptOps.THREAD, 0, 0)])
    for amount in (2, 16):
        opts = [Opt(OptOps.UPCAST, 0, amount), Opt(OptOps.THREAD, 0, 0)]
        program = compile_kernel(long, targets["x86-64"], opts)
        assert program.threads == 3_000_000_000 // amount
        assert check_indices(program.uops, seed=1) == 2_999_999_999
    assert any(u.op is Ops.RANGE and u.arg[1] is AxisType.THREAD for u in program.uops)
