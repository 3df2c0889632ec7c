"""The rules of memory and operands move what was moved before: whole programs before and after, by
the evaluator and by the emulator; and the forms that they make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.dtype import DType, dtypes
from core.errors import CompileError
from core.passes.pipeline import lower_to_text, run_passes
from core.passes.program.verify import verify_program
from core.passes.ptx.memory import READ_ONLY, moves
from core.passes.ptx.operands import addressing
from core.render import ptx
from core.runtime.emulator.machine import execute
from core.runtime.emulator.prepare import prepare
from core.runtime.emulator.ptx.front import read
from core.runtime.numeric import memory_dtype, to_memory
from core.runtime.reference.kernel import evaluate_kernel
from core.target import targets
from core.tile import kernels
from core.uop import Ops, UOp
from core.uop.engine.observe import recording
from core.uop.facts.meaning_arrays import numpy_dtype
from core.uop.pointer import parts_of_address, pointer_of
from core.uop.spec.spec import machine_spec, violation
from tests.core.passes.matrices import row_id
from tests.core.render.lowered import lowered
from tests.core.render.programs import ON_GPU, Build, const
from tests.core.render.running import Memory, memory_for
from tests.core.render.test_matrix import NVIDIA, Row, program
from tests.core.runtime.asts import half_matmul
from tests.core.runtime.emulator.running import launch, run_linear

SM_90 = targets["sm_90"]
MOVED = tuple(dtypes.all)


def same(found: Memory, wanted: Memory) -> None:
    for number, a in wanted.items():
        np.testing.assert_array_equal(found[number].view(np.uint8), a.view(np.uint8))


def outcomes(uops: Sequence[UOp], memory: Memory, variables: dict[str, int]) -> list[Memory]:
    """The memory after the program: as it is, lowered, and by the emulator."""
    found = [{k: a.copy() for k, a in memory.items()} for _ in range(3)]
    evaluate_kernel(uops, found[0], variables)
    after = lowered(uops, "sm_90")
    verify_program(after, SM_90, "kernel", machine_spec)
    evaluate_kernel(after, found[1], variables)
    run_linear(uops, found[2], "sm_90", variables)
    return found


@pytest.mark.parametrize("name", ON_GPU)
def test_programs_do_the_same(name: str) -> None:
    uops = ON_GPU[name]()
    for n in (0, 7) if name == "variable_loop" else (0,):
        variables = {"n": n} if name == "variable_loop" else {}
        before, after, emulated = outcomes(uops, memory_for(uops, seed=5), variables)
        same(after, before)
        same(emulated, before)


def copying(dtype: DType, lanes: int, gates: int, store_gate: bool, by: str) -> list[UOp]:
    """Copies `lanes` elements at a time, one step further, from where a gate (none, one, or one for
    each lane) holds; `by` way of "memory" of each thread, of "registers" or of nothing."""
    b, rounds = Build(), 3
    out, x = b.pointer(0, dtype, lanes * rounds), b.pointer(1, dtype, lanes * (rounds + 1))
    i = b.loop(rounds, 0)
    at = b.add(i * lanes)
    if gates > 1:
        each = b.add(
            b.add(at.broadcast(lanes)) + UOp.const(dtypes.int32.vec(lanes), tuple(range(lanes)))
        )
        gate = b.add(each < UOp.const(dtypes.int32.vec(lanes), 2 * lanes - 1))
    else:
        gate = b.add(i < 2) if gates else None
    other = const(dtype.vec(lanes), 1) if gates else None
    value = b.load(x, b.add(at + lanes), lanes, gate, other)
    if by:
        held = b.memory(0, dtype, 2 * lanes)
        where = b.add(b.add(i & 1) * lanes) if by == "memory" else lanes
        put = b.store(b.add(held.after(i)), where, value)
        value = b.load(b.add(held.after(put)), where, lanes)
    if not store_gate:
        b.end(i, b.store(out, at, value))
        return b.done()
    branch = b.add(UOp(Ops.IF, dtypes.void, (b.add(i.ne(1)),)))
    b.store(out, at, value)
    b.end(i, b.add(UOp(Ops.ENDIF, dtypes.void, (branch,))))
    return b.done()


def random_bits(dtype: DType, size: int, seed: int) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    if dtypes.is_bool(dtype):
        return rng.integers(0, 2, size).astype(np.bool_)
    kind = memory_dtype(dtype)
    found = rng.integers(0, 256, size * kind.itemsize, np.uint8).view(kind)
    return np.nan_to_num(found) if kind.kind == "f" else found


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([d for d in MOVED if d not in dtypes.fp8s and d is not dtypes.bfloat16]),
    st.sampled_from([1, 2, 4, 8, 16]), st.sampled_from([0, 1, 2]), st.booleans(),
    st.sampled_from(["", "memory", "registers"]), st.integers(0, 99),
)  # fmt: skip
def test_copies_do_the_same(
    dtype: DType, lanes: int, gates: int, store_gate: bool, by: str, seed: int
) -> None:
    gates = min(gates, lanes)
    uops = copying(dtype, lanes, gates, store_gate, by)
    memory = {0: random_bits(dtype, lanes * 3, seed), 1: random_bits(dtype, lanes * 4, seed + 1)}
    before, after, emulated = outcomes(uops, memory, {})
    same(after, before)
    same(emulated, before)


def test_every_rule_fires() -> None:
    with recording() as steps:
        for dtype in (dtypes.bool, dtypes.float16, dtypes.float32):
            for gates in (0, 1, 2):
                lowered(copying(dtype, 16, gates, False, "registers"), "sm_90")
                lowered(copying(dtype, 16, gates, False, ""), "sm_90")
        for make in ON_GPU.values():
            lowered(make(), "sm_90")
        program.__wrapped__(NVIDIA[0])
        lower_to_text(run_passes(half_matmul(), targets["sm_75"]), "ptx", targets["sm_75"])
        tiles = run_passes(kernels.matmul(64, 64, 64, "sm_90"), targets["sm_90"])
        lower_to_text(tiles, "ptx", targets["sm_90"])
    fired = set(steps.rules)
    assert {r.name for r in (*moves.rules, *addressing.rules)} - fired == set()


@pytest.mark.parametrize("row", NVIDIA, ids=row_id)
def test_matrix_instructions_take_words(row: Row) -> None:
    made = program(row)
    product = next(u for u in made.lowered if u.op is Ops.WMMA)
    assert product.src[0].dtype.scalar() is dtypes.uint32
    rng = np.random.default_rng(1)
    memory: Memory = {}
    for argument in made.arguments:
        exact = rng.integers(-4, 5, argument.size).astype(numpy_dtype(argument.dtype))
        memory[argument.number] = to_memory(exact, argument.dtype)
    found = [{k: a.copy() for k, a in memory.items()} for _ in range(3)]
    evaluate_kernel(made.uops, found[0])
    evaluate_kernel(made.lowered, found[1])
    execute(prepare(read(made.source.text, made.name)),
            launch(found[2], made.global_size, made.local_size))  # fmt: skip
    same(found[1], found[0])
    same(found[2], found[0])


def only(uops: Sequence[UOp], op: Ops) -> list[UOp]:
    return [u for u in uops if u.op is op]


def test_neighbours_share_a_register() -> None:
    b = Build()
    out, x = b.pointer(0, dtypes.float32, 64), b.pointer(1, dtypes.float32, 64)
    i = b.loop(8, 0)
    total = b.add(b.load(x, b.add(i + 1)) + b.load(x, b.add(i + 9)))
    b.end(i, b.store(out, i, total))
    uops = lowered(b.done(), "sm_90")
    registers = [u for u in only(uops, Ops.ADDRESS) if len(u.src) == 2]
    assert [(pointer_of(u).arg, u.arg) for u in registers] == [(0, 4), (1, 4)]
    assert sorted(u.arg for u in only(uops, Ops.ADDRESS) if len(u.src) == 1) == [4, 36]
    text = ptx.render(uops, "k", SM_90).text
    assert text.count("mad.wide.s32") == 2
    assert "[%addr0]" in text and "[%addr1+4]" in text and "[%addr1+36]" in text


def test_loads_say_that_nothing_writes_there() -> None:
    b = Build()
    out, x = b.pointer(0, dtypes.float32, 4), b.pointer(1, dtypes.float32, 4)
    b.store(out, 0, b.add(b.load(x, 0) + b.load(out, 0)))
    loads = {pointer_of(u.src[0]).arg: u.arg for u in only(lowered(b.done(), "sm_90"), Ops.LOAD)}
    assert loads == {0: None, 1: READ_ONLY}


def test_far_constants_are_computed() -> None:
    b, far = Build(), 1 << 30
    out = b.pointer(0, dtypes.float32, far + 8)
    i = b.loop(2, 0)
    place = b.index(out, b.add(b.add(i.cast(dtypes.int64)) + UOp.const(dtypes.int64, far)))
    b.store(out, far, const(dtypes.float32, 1.0))
    b.end(i, b.add(place.store(const(dtypes.float32, 1.0))))
    uops = lowered(b.done(), "sm_90")
    assert all(len(u.src) == 2 for u in only(uops, Ops.ADDRESS))
    verify_program(uops, SM_90, "k", machine_spec)
    assert ptx.render(uops, "k", SM_90).text.count("  mad.") == 2


def test_shared_memory_has_short_addresses() -> None:
    b = Build()
    out, held = b.pointer(0, dtypes.int32, 4), b.memory(0, dtypes.int32, 8, local=True)
    i = b.loop(2, 0)
    at = b.add(i.cast(dtypes.int64))
    put = b.store(held, at, i)
    barrier = b.add(UOp(Ops.BARRIER, dtypes.void, (put,)))
    b.end(i, b.store(out, i, b.load(b.add(held.after(barrier)), at)))
    uops = lowered(b.done(), "sm_90")
    assert "mad.lo.s32 %addr_r0" in ptx.render(uops, "k", SM_90).text
    memory = {0: np.zeros(4, np.int32)}
    evaluate_kernel(uops, memory)
    assert memory[0].tolist() == [0, 1, 0, 0]


def test_halves_that_are_only_moved_stay_packed() -> None:
    uops = lowered(copying(dtypes.float16, 8, 0, False, False), "sm_90")
    assert not only(uops, Ops.BITCAST)
    assert [u.dtype for u in only(uops, Ops.LOAD)] == [dtypes.uint32.vec(4)]


def test_parts_of_an_address() -> None:
    pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(64), (), 0)
    i = UOp.range(8, 0)
    register = UOp(Ops.ADDRESS, pointer.dtype, (pointer, i), 4)
    place = UOp(Ops.ADDRESS, pointer.dtype, (register.after(i),), 12)
    assert parts_of_address(place) == ([(i, 4)], 12)
    assert parts_of_address(pointer.index(i)) == ([(i, 4)], 0)
    assert parts_of_address(pointer) == ([], 0)
    assert place.render() == "(after(data0+L0*4, L0)+12)"


X = UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(8), (), 0)
FLAGS = UOp(Ops.DEFINE_GLOBAL, dtypes.bool.ptr(8), (), 1)
HALVES = UOp(Ops.DEFINE_GLOBAL, dtypes.float16.ptr(8), (), 2)
ONE, N = const(dtypes.float32, 1.0), const(dtypes.int32, 3)
YES = const(dtypes.bool, True)


@pytest.mark.parametrize(
    "u",
    [
        UOp(Ops.ADDRESS, X.dtype, (X, ONE), 4),
        UOp(Ops.ADDRESS, X.dtype, (X, N), "4"),
        UOp(Ops.ADDRESS, X.dtype, (X, N, N), 4),
        UOp(Ops.ADDRESS, FLAGS.dtype, (X, N), 4),
        UOp(Ops.ADDRESS, dtypes.int64, (N,), 4),
        UOp(Ops.LOAD, dtypes.int32, (X,)),
        UOp(Ops.LOAD, dtypes.uint8, (X,)),
        UOp(Ops.LOAD, dtypes.uint32, (FLAGS,)),
        UOp(Ops.LOAD, dtypes.float32, (X, N, YES)),
        UOp(Ops.LOAD, dtypes.float32, (X, ONE, N)),
        UOp(Ops.STORE, dtypes.void, (X, N)),
        UOp(Ops.STORE, dtypes.void, (X, ONE, N)),
        UOp(Ops.SHL, dtypes.int32, (N, N)),
    ],
    ids=lambda u: f"{u.op.name} {u.dtype} {len(u.src)}",
)
def test_what_a_lowered_program_may_not_hold(u: UOp) -> None:
    assert violation(u, machine_spec) is not None


@pytest.mark.parametrize(
    "u",
    [
        UOp(Ops.ADDRESS, X.dtype, (X, N), 4),
        UOp(Ops.ADDRESS, X.dtype, (X,), 4),
        UOp(Ops.LOAD, dtypes.uint8.vec(4), (FLAGS,)),
        UOp(Ops.LOAD, dtypes.uint32, (HALVES,), READ_ONLY),
        UOp(Ops.LOAD, dtypes.float32, (X, ONE, YES)),
        UOp(Ops.STORE, dtypes.void, (X, ONE, YES)),
        UOp(Ops.SHL, dtypes.int64, (const(dtypes.int64, 1), const(dtypes.uint32, 3))),
    ],
    ids=lambda u: f"{u.op.name} {u.dtype} {len(u.src)}",
)
def test_what_a_lowered_program_may_hold(u: UOp) -> None:
    assert violation(u, machine_spec) is None


@pytest.mark.parametrize(("bytes_", "count"), [(32, 1), (20, 4), (-4, 1)])
def test_addresses_beyond_their_memory_are_refused(bytes_: int, count: int) -> None:
    place = UOp(Ops.ADDRESS, X.dtype, (X,), bytes_)
    load = UOp(Ops.LOAD, dtypes.float32.vec(count), (place,))
    with pytest.raises(CompileError, match="of memory with 8 elements"):
        verify_program([X, place, load, UOp.sink(load)], SM_90, "k", machine_spec)
