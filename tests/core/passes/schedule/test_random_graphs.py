"""Random Tensor graphs have the same values through the scheduler, at every level."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.dtype import dtypes
from core.helpers import Context
from core.uop import Ops, UOp
from tests.core.passes.schedule.evaluate import Graphs, of_graph, realize

_binary = [Ops.ADD, Ops.MUL, Ops.MAX, Ops.SUB, Ops.XOR, Ops.IDIV, Ops.CMPLT]
KINDS = [
    "move",
    "binary",
    "binary",
    "binary",
    "reduce",
    "reduce",
    "where",
    "contiguous",
    "cast",
    "fuse",
]
SHAPES = [(2, 3), (4,), (3, 1, 2), (1,), (6, 2), ()]


def _other_shape(draw: st.DrawFn, size: int) -> tuple[int, ...]:
    if size == 0:
        return (0, 3)
    out: list[int] = []
    while size > 1:
        factor = draw(st.sampled_from([d for d in range(1, size + 1) if size % d == 0]))
        out.append(factor)
        size //= factor
    return tuple(out)


def _fit(draw: st.DrawFn, x: UOp, shape: tuple[int, ...]) -> UOp | None:
    """`x` with some shape, if movements can give it."""
    if x.shape == shape:
        return x
    if x.size == prod(shape):
        return x.reshape(shape)
    if x.size == 1:
        return x.reshape((1,) * len(shape)).expand(shape)
    return None


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Graphs, list[UOp]]:
    """A few roots over a pool of values that share each other."""
    made = Graphs(draw(st.integers(0, 1000)))
    pool = [made.buffer(*draw(st.sampled_from(SHAPES))) for _ in range(2)]
    pool.append(UOp.full((2, 3), 3, dtypes.int32, "CPU"))
    pool.append(UOp.iota(6, dtypes.int32, "CPU"))
    for _ in range(draw(st.integers(1, 14))):
        x = draw(st.sampled_from(pool[-6:]))
        shape = x.shaped
        kind = draw(st.sampled_from(KINDS))
        if kind == "move":
            x = _move(draw, x)
        elif kind == "reduce" and shape:
            axes = draw(st.sets(st.integers(0, len(shape) - 1), min_size=1))
            x = x.r(draw(st.sampled_from([Ops.ADD, Ops.MAX, Ops.MUL])), axes)
        elif kind == "contiguous":
            x = x.contiguous()
        elif kind == "fuse":
            x = x.fuse()
        elif kind == "cast":
            x = x.cast(dtypes.int8).cast(dtypes.int32)
        elif kind in ("binary", "where"):
            other = _fit(draw, draw(st.sampled_from(pool)), shape)
            if other is None:
                other = UOp.full(shape, draw(st.integers(-2, 3)), dtypes.int32, "CPU")
            op = draw(st.sampled_from(_binary))
            if kind == "where":
                x = (x < other).where(other, x)
            elif op is Ops.CMPLT:
                x = (x < other).cast(dtypes.int32)
            else:
                x = x.alu(op, other)
        if x.size <= 2000:
            pool.append(x)
    roots = draw(st.lists(st.sampled_from(pool[2:]), min_size=1, max_size=3, unique=True))
    return made, roots


def _move(draw: st.DrawFn, x: UOp) -> UOp:
    shape = x.shaped
    kind = draw(st.sampled_from(["permute", "expand", "reshape", "shrink", "pad", "flip"]))
    if kind == "permute":
        return x.permute(draw(st.permutations(range(len(shape)))))
    if kind == "expand":
        return x.expand([draw(st.integers(1, 3)) if n == 1 else n for n in shape])
    if kind == "reshape":
        return x.reshape(_other_shape(draw, x.size))
    if kind == "shrink":
        begins = [draw(st.integers(0, min(n, 1))) for n in shape]
        return x.shrink([(b, draw(st.integers(b, n))) for b, n in zip(begins, shape, strict=True)])
    if kind == "pad":
        return x.pad([(draw(st.integers(0, 1)), draw(st.integers(0, 2))) for _ in shape])
    return x.flip([draw(st.booleans()) for _ in shape])


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_values_do_not_depend_on_the_schedule(level: int) -> None:
    @settings(max_examples=150, deadline=None)
    @given(graphs(), st.sampled_from([0, 4]), st.booleans())
    def check(case: tuple[Graphs, list[UOp]], split: int, padded: bool) -> None:
        made, roots = case
        want = [of_graph(root, made.memory) for root in roots]
        with Context(OPT=level, SPLIT_REDUCE=split, FUSE_CONV_BW=int(padded)):
            got, _ = realize(*roots, memory=dict(made.memory))
        for a, b in zip(got, want, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)

    check()
