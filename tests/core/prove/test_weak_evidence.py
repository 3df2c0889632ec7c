"""Samples that say too little do not make two expressions equal."""

from __future__ import annotations

import pytest

from core.dtype import dtypes
from core.prove.decide import Checker
from core.prove.questions.outside import OUTSIDE
from core.prove.samples.sample import Samples
from core.prove.terms.term import Terms
from core.runtime.reference.states import kernel_states
from core.uop import Ops, UOp
from core.uop.kernelinfo import Opt, OptOps
from tests.core.passes.kernels import CASES, CPU
from tests.core.uop.symbols import num, var

N = var("n", 0, 20)
TABLE = UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(80), (), 1)
IDS = UOp(Ops.DEFINE_GLOBAL, dtypes.int64.ptr(80), (), 2)
LOCAL = UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(64), (), 3)
ZERO = UOp.const(dtypes.float32, 0.0)


def test_what_a_gate_rarely_lets_through_is_compared() -> None:
    row = IDS.index(N).load()
    gate = (row < 0).ne(True) & (row < 10)
    place = UOp(Ops.INDEX, TABLE.dtype, (TABLE, row.cast(dtypes.int32) * 8, gate))
    read = place.load(ZERO)
    assert Checker().check(read, read + 0.0).kind not in ("proved", "sampled")
    chosen = N.cast(dtypes.int64).alu(Ops.CMPEQ, row).where(TABLE.index(N).load(), ZERO)
    cut = chosen.src[1].cast(dtypes.int8).cast(dtypes.float32)
    after = chosen.replace(src=(chosen.src[0], cut, ZERO))
    assert Checker().check(chosen, after).kind not in ("proved", "sampled")


def test_the_other_address_of_one_memory_is_no_difference() -> None:
    """Addresses in bytes are not looked into: what lies there is unknown, and not another value."""
    scaled = N * 4
    one = UOp(Ops.ADDRESS, LOCAL.dtype, (LOCAL, scaled + N), 4).load()
    other = UOp(Ops.ADDRESS, LOCAL.dtype, (LOCAL, N + scaled), 4).load()
    assert Checker().check(one, other).kind != "differs"


def test_a_gate_keeps_a_read_inside_of_memory() -> None:
    inside = (N < 2).ne(True)
    at = N - 2
    short = UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(19), (), 4)
    gated = UOp(Ops.INDEX, short.dtype, (short, at, inside)).load(ZERO)
    free = UOp(Ops.INDEX, short.dtype, (short, at)).load(ZERO)
    found = Checker().check(inside.where(gated, ZERO), inside.where(free, ZERO))
    assert (found.kind, found.how) == ("unchecked", OUTSIDE)
    assert Checker().check(inside.where(free, ZERO), inside.where(gated, ZERO)).kind != "unchecked"


def test_small_ranges_are_sampled_to_their_ends() -> None:
    terms = Terms()
    (found,) = Samples().run([terms.input("n", dtypes.int32, 0, 11)])
    assert set(range(12)) == set(found.tolist())
    assert min((found == 0).sum(), (found == 11).sum()) > 15


def test_z3_proposes_integers_where_floats_are_unknown() -> None:
    pytest.importorskip("z3")
    f = UOp(Ops.DEFINE_VAR, dtypes.float32, (), ("f", 0, 1))
    rest: UOp = num(0)
    for name in "abcdefgh":
        rest = rest.alu(Ops.MAX, var(name, 0, 40))
    met = (f < 0.5).where(num(2), num(0))
    assert Checker().check(rest.alu(Ops.MAX, met), rest.alu(Ops.MAX, num(2))).kind == "differs"


def test_the_end_of_a_gate_is_found_where_floats_are_chosen() -> None:
    pytest.importorskip("z3")
    row = IDS.index(N).load()
    large = UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(8_000), (), 1)

    def chosen(first: int) -> UOp:
        gate = (row < first).ne(True) & (row < 987)
        place = UOp(Ops.INDEX, large.dtype, (large, row.cast(dtypes.int32) * 8, gate))
        return gate.where(place.load(ZERO), ZERO)

    assert Checker().check(chosen(977), chosen(978)).kind == "differs"
    assert Checker().check(chosen(977) * 2.0, chosen(978) * 2.0).kind == "differs"


@pytest.mark.parametrize("opts", [(), (Opt(OptOps.UPCAST, 1, 10), Opt(OptOps.UPCAST, 1, 2))])
def test_numbers_that_differ_undecided_are_not_equal(opts: tuple[Opt, ...]) -> None:
    """The exponent of exp2 rounded to the other side: an error of a hundredth of a thousandth.
    Fewer samples, none of which is undecided, do not make it equal."""
    case = next(case for case in (make() for make in CASES) if case.name == "softmax_kernel3x20")
    states = {state.name: state.root for state in kernel_states(case.ast, CPU, opts)}
    sink = states["loops"]
    assert isinstance(sink, UOp)
    nearest = float(3 << 22)  # added to a float, it leaves the nearest integer in the last bits
    rounded = next(
        u
        for u in sink.toposort()
        if u.op is Ops.ADD and u.src[1].op is Ops.CONST and u.src[1].arg == nearest
    )
    after = sink.substitute({rounded: (rounded.src[0] + 0.5) + nearest})
    assert Checker().check(sink, after).kind in ("differs", "unchecked")
