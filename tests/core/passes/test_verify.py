"""Linear programs that are wrong are refused, with a word on what and where, before any text is
made of them; and what the passes make is never refused."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.dtype import AddrSpace, dtypes
from core.errors import CompileError
from core.passes.program.verify import verify_program
from core.target import Target, targets
from core.uop import Ops, UOp
from core.uop.kernelinfo import AxisType
from tests.core.passes.kernels import CPU, GPU

out = UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(8), (), 0)
shared = UOp(Ops.DEFINE_LOCAL, dtypes.float32.ptr(8, AddrSpace.LOCAL), (), 0)
acc = UOp(Ops.DEFINE_REG, dtypes.float32.ptr(2, AddrSpace.REG), (), 0)
one = UOp.const(dtypes.float32, 1.0)
n = UOp.const(dtypes.int32, 8)
zero = UOp.const(dtypes.int32, 0)
loop = UOp.range(8, 0)
thread = UOp.special(8, "lidx0")
variable = UOp.variable("v", 0, 3)
test = variable < n
choice = UOp(Ops.IF, dtypes.void, (test,))
chosen = UOp(Ops.ENDIF, dtypes.void, (choice,))
place = out.index(loop)
store = place.store(one)
end = store.end(loop)
START = (out, shared, acc, one, n, zero, variable, test)
"""What most programs begin with."""


def check(body: Sequence[UOp], target: Target = CPU) -> None:
    more = [u for u in body if u not in START]
    verify_program([*START, *more], target, "the_kernel")


def refused(body: Sequence[UOp], what: str, target: Target = CPU) -> CompileError:
    with pytest.raises(CompileError) as error:
        check(body, target)
    assert what in error.value.what, error.value
    assert "kernel the_kernel: " in error.value.what
    assert f"the linear program for {target.name}" in error.value.where
    return error.value


def test_a_right_program_is_accepted() -> None:
    check([loop, place, store, end, UOp.sink(end)])
    check([choice, out.index(zero), out.index(zero).store(one), chosen])


def test_the_error_shows_the_node_and_where_it_is() -> None:
    error = refused([loop, place, end], "STORE is used before it is defined")
    assert "node 10 of the linear program" in error.where
    assert "END(" in error.where


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ([loop, place, end], "STORE is used before it is defined"),
        ([loop, place, store], "RANGE is never ended"),
        ([choice, out.index(zero)], "IF is never ended"),
        ([loop, place, store, end, loop + n], "RANGE is used after its RANGE has ended"),
        ([loop, loop + n, place, store, end, (loop + n) * n], "ADD is used after its RANGE"),
        ([choice, variable + n, chosen, (variable + n) * n], "ADD is used after its IF has ended"),
        ([choice, out.index(zero), chosen, out.index(zero).store(one)], "INDEX is used after its"),
        ([loop, UOp.range(8, 1), place, store, end], "ends a block around one still open"),
        ([loop, place, store, store.end(loop, loop)], "does not end exactly one open block"),
        ([chosen], "IF is used before it is defined"),
        ([loop, place, place], "INDEX appears twice"),
        ([UOp(Ops.IF, dtypes.void, (n,))], "IF takes a bool"),
        ([UOp(Ops.ADD, dtypes.float32, (one, n))], "operands have the dtype of the result"),
        ([out.index(one)], "integer offset"),
        ([out.index(zero), out.index(zero).store(n)], "STORE writes elements"),
        ([UOp(Ops.REDUCE, dtypes.float32, (one,), Ops.ADD)], "REDUCE is not allowed here"),
    ],
)  # fmt: skip
def test_blocks_and_types(body: list[UOp], what: str) -> None:
    refused(body, what)


def test_a_gated_store_is_an_if_by_now() -> None:
    gated = out.index(zero, gate=test)
    refused([gated, gated.store(one)], "STORE with a gate")
    plain = out.index(zero)
    refused([plain, UOp(Ops.STORE, dtypes.void, (plain, one, test))], "STORE with a gate")


@pytest.mark.parametrize("pointer", [out, shared, acc], ids=["global", "shared", "registers"])
def test_addresses_are_in_their_memory(pointer: UOp) -> None:
    size = pointer.dtype.size
    last, beyond, before = (UOp.const(dtypes.int32, i) for i in (size - 1, size, -1))
    check([last, pointer.index(last), pointer.index(last).load()])
    for at in (beyond, before):
        refused([at, pointer.index(at), pointer.index(at).load()], "of memory with")
        refused([at, pointer.index(at), pointer.index(at).store(one)], "of memory with")
    wide = pointer.index(last).load(dtype=dtypes.float32.vec(2))
    refused([last, pointer.index(last), wide], "of memory with")
    moved = loop + 1
    body = [loop, moved.src[1], moved, pointer.index(moved), pointer.index(moved).load()]
    refused(body, f"elements 1 to 8 of memory with {size} elements")


def test_addresses_whose_bounds_are_not_exact_are_left_alone() -> None:
    """i + (7 - i) is always 7, though its bounds are 0 and 14."""
    other = n.const_like(7) - loop
    at = loop + other
    address = out.index(at)
    value = address.load()
    check([loop, other.src[0], other, at, address, value, place, place.store(value),
           place.store(value).end(loop)])  # fmt: skip
    gated = out.index(loop + 1, gate=loop < 7)
    load = gated.load(one)
    gate = gated.src[2]
    check([loop, *gated.src[1].src[1:], gated.src[1], gate.src[1], gate, gated, load, place,
           place.store(load), place.store(load).end(loop)])  # fmt: skip


def test_threads_meet_at_barriers() -> None:
    mine = shared.index(thread)
    written = mine.store(one)
    barrier = UOp(Ops.BARRIER, src=(written,))
    ready = shared.after(barrier)
    read = ready.index(zero).load()
    whole = [*thread.src, thread, mine, written, barrier, ready, ready.index(zero), read]
    check(whole, GPU)
    early = shared.index(zero)
    refused([thread, mine, written, early, early.load()], "read without a BARRIER", GPU)
    refused([thread, mine, written, choice, barrier], "a BARRIER in an IF", GPU)
    own = UOp(Ops.RANGE, dtypes.int32, (thread,), (3, AxisType.LOOP))
    refused([thread, mine, written, own, barrier], "differs between threads", GPU)


@pytest.mark.parametrize(
    ("size", "target"), [(12289, "sm_90"), (16385, "gfx942")], ids=["sm_90", "gfx942"]
)
def test_shared_memory_has_a_limit(size: int, target: str) -> None:
    def panel(elements: int) -> UOp:
        return UOp(Ops.DEFINE_LOCAL, dtypes.float32.ptr(elements, AddrSpace.LOCAL), (), 1)

    check([panel(size)])  # a CPU's memory is not shared
    check([panel(size - 9)], targets[target])
    refused([panel(size)], "bytes of shared memory", targets[target])
    refused([panel(0)], "memory without a size", targets[target])


def test_names_are_given_once() -> None:
    refused([UOp(Ops.DEFINE_GLOBAL, dtypes.int32.ptr(8), (), 0)], "have the number 0")
    refused([UOp(Ops.DEFINE_REG, dtypes.int32.ptr(8, AddrSpace.REG), (), 0)], "have the number 0")
    four = n.const_like(4)
    again = UOp(Ops.SPECIAL, dtypes.int32, (four,), "lidx0")
    refused([thread, four, again], "two hardware indices lidx0", GPU)


def test_hardware_indices_are_those_of_the_target() -> None:
    refused([thread], "x86-64 has no hardware index lidx0")

    def index(size: int, name: str) -> list[UOp]:
        found = UOp.special(size, name)
        return [*found.src, found]

    check(index(1024, "lidx0"), GPU)
    refused(index(1025, "lidx0"), "lidx0 is not from 1 to 1024 long", GPU)
    refused(index(65, "lidx2"), "lidx2 is not from 1 to 64 long", GPU)
    refused(index(65536, "gidx1"), "gidx1 is not from 1 to 65535 long", GPU)
    refused([*index(64, "lidx0"), *index(32, "lidx1")], "2048 threads, 1024 at most", GPU)
    refused(index(8, "idx3"), "has no hardware index idx3", GPU)
    refused(index(-8, "gidx0"), "gidx0 is not from 1 to", GPU)


CORE = GPU.tensor_cores[0]
"""16 x 8 x 16, of 32 lanes."""
lanes = UOp.special(32, "lidx0")
few = UOp.special(16, "lidx0")


def product_of(tiles: int = 1) -> UOp:
    a, b, c = (part.count * tiles for part in CORE.fragments)
    left, right = (UOp.const(dtypes.float16.vec(count), 1.0) for count in (a, b))
    total = UOp.const(dtypes.float32.vec(c), 0.0)
    return UOp(Ops.WMMA, total.dtype, (left, right, total), CORE)


def test_products_of_matrices_are_done_by_whole_warps() -> None:
    made = product_of()
    operands = list(made.src)
    bound = UOp.const(dtypes.int32, 32)
    check([bound, lanes, *operands, made], GPU)
    check([bound, *operands, made, lanes], GPU)
    refused([*operands, made], "1 threads are not whole warps of 32", GPU)
    refused([few.src[0], few, *operands, made], "16 threads are not whole warps", GPU)
    refused([bound, lanes, *operands, made], "sm_75 has no mma.sync", targets["sm_75"])
    refused([bound, lanes, *operands, made], "gfx942 has no mma.sync", targets["gfx942"])
    wide = product_of(2)
    refused([bound, lanes, *wide.src, wide], "a WMMA of 2 tiles", GPU)
    some = UOp(Ops.IF, dtypes.void, (lanes < n,))
    body = [bound, lanes, *operands, lanes < n, some, made]
    refused(
        [*body, UOp(Ops.ENDIF, dtypes.void, (some,))], "a WMMA in a block (IF) that differs", GPU
    )


@pytest.mark.parametrize("wrong", ["arg", "left", "right", "total", "dtype"])
def test_products_have_the_types_of_their_instruction(wrong: str) -> None:
    made = product_of()
    left, right, total = made.src
    other = UOp.const(dtypes.float32.vec(left.dtype.count), 1.0)
    spoiled = {
        "arg": made.replace(arg=(16, 8, 16)),
        "left": made.replace(src=(other, right, total)),
        "right": made.replace(src=(left, left, total)),
        "total": made.replace(src=(left, right, right)),
        "dtype": made.replace(dtype=dtypes.float32.vec(8)),
    }[wrong]
    bound = UOp.const(dtypes.int32, 32)
    body = [bound, lanes, *dict.fromkeys(spoiled.src), spoiled]
    refused(body, "WMMA", GPU)


def test_loops_do_not_run_backwards() -> None:
    bound = UOp.const(dtypes.int32, -(1 << 31))
    refused([bound, UOp(Ops.RANGE, dtypes.int32, (bound,), (0, AxisType.LOOP))], "iterations")


def test_grids_are_known_at_launch() -> None:
    blocks = (variable.cast(dtypes.index) + 1) // 2
    check([*blocks.toposort(), UOp.special(blocks, "gidx0")], GPU)
    what = "gidx0 is not from 0 to 2147483647 long, known at launch"
    loaded = out.index(zero).load().cast(dtypes.index)
    thread = UOp.special(8, "lidx1")
    for size in (loaded, thread + 1, variable.cast(dtypes.index) - 2):
        refused([*size.toposort(), UOp.special(size, "gidx0")], what, GPU)
    large = UOp.variable("w", 1, 65536).cast(dtypes.index)
    check([*large.toposort(), UOp.special(large, "gidx0")], GPU)
    refused([*large.toposort(), UOp.special(large, "gidx1")], "from 0 to 65535", GPU)
    threads = variable.cast(dtypes.index)
    refused([*threads.toposort(), UOp.special(threads, "lidx0")], "not from 1 to 1024 long", GPU)


def test_moves_and_arithmetic_fit_the_target() -> None:
    wide = out.index(zero).load(dtype=dtypes.float32.vec(8))
    check([out.index(zero), wide, wide + wide])
    refused([out.index(zero), wide], "32 bytes at once, 16 at most", GPU)
    four = out.index(zero).load(dtype=dtypes.float32.vec(4))
    check([out.index(zero), four], GPU)
    refused([out.index(zero), four, four + four], "without vector arithmetic", GPU)
