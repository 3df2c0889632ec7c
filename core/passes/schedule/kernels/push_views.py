"""Views pushed left: inside a kernel, a view of a computed value becomes views of what it reads.

A masked view stays to the right of an op that does not give 0 for operands that are 0. Afterwards
views are on loads, constants, IOTA, reduces, and on such ops. Keeps the value of every store.
"""

from __future__ import annotations

from math import copysign

from core.errors import UopvizError
from core.helpers import prod
from core.passes.schedule.kernels.views import drop_view, merge_views
from core.shape import ShapeTracker, View
from core.shape.axis import strides_for
from core.uop import GroupOp, Ops, PatternMatcher, UOp, UPat, rule
from core.uop.facts.meaning import evaluate


def keeps_zero(x: UOp) -> bool:
    """Whether `x` is 0 (of floats: 0.0, not -0.0) where all its shaped operands are."""
    if x.op in GroupOp.UnsafePad or x.op is Ops.THREEFRY:
        return False
    if x.op is Ops.BITCAST:
        return True
    values = [s.arg if s.op is Ops.CONST else s.const_like(0).base.arg for s in x.src]
    try:
        found = evaluate(x.op, x.dtype, values, x.src[-1].dtype)
    except (UopvizError, ArithmeticError):
        return False
    return found == 0 and copysign(1, found) > 0


@rule(UPat(Ops.VIEW, src=(UPat(GroupOp.Elementwise, name="x"),), name="v"))
def view_before_elementwise(v: UOp, x: UOp) -> UOp | None:
    """view(f(a, b)) -> f(view(a), view(b)), for a masked view only where f(0, 0) = 0"""
    if x.op is Ops.BITCAST and x.shape != x.src[0].shape:
        return None
    constant = all(s.op is Ops.CONST for s in x.src)  # one of them has to have the shape
    shaped = [s.shape == x.shape and (constant or s.op is not Ops.CONST) for s in x.src]
    scalar = any(not own and s.op is not Ops.CONST for own, s in zip(shaped, x.src, strict=True))
    if v.arg.masked and (scalar or not keeps_zero(x)):
        return None
    return x.rebuild(
        tuple(s.view(v.arg) if own else s for own, s in zip(shaped, x.src, strict=True))
    )


@rule(
    UPat(Ops.VIEW, src=(UPat(Ops.LOAD, src=(UPat(Ops.VIEW, name="place"),), name="x"),), name="v")
)
def view_of_load(v: UOp, x: UOp, place: UOp) -> UOp:
    """view(load(view(p, a)), b) -> load(view(p, a + b))"""
    return x.rebuild((place.replace(arg=place.arg + v.arg),))


@rule(UPat(Ops.VIEW, src=(UPat(Ops.REDUCE_AXIS, src=(UPat.var("x"),), name="r"),), name="v"))
def view_before_reduce(v: UOp, r: UOp, x: UOp) -> UOp | None:
    """view(reduce(x)) -> reduce(view'(x)), where the view reorders elements"""
    st: ShapeTracker = v.arg
    if st.masked or st.size != r.size or st.contiguous:
        return None
    moved, last = reduced_under(st, r, x)
    return moved.r(r.arg[0], last).reshape(st.shape)


def reduced_under(st: ShapeTracker, r: UOp, x: UOp) -> tuple[UOp, range]:
    """`x`, whose reduce is `r`, in the order that `st` gives the elements of `r`: of the shape of
    `st` with the reduced axes behind it, and where these are."""
    axes = r.arg[1]
    kept = [k for k in range(len(x.shaped)) if k not in axes]
    last = tuple(x.shaped[k] for k in axes)
    inner = ShapeTracker.from_shape(x.shaped).permute([*kept, *axes])
    for view in st.views:
        inner = inner + ShapeTracker((_with_axes(view, last),))
    rank = len(st.shape)
    return x.view(inner), range(rank, rank + len(last))


def _with_axes(view: View, last: tuple[int, ...]) -> View:
    """The view over memory in which each element is a row-major block of shape `last`."""
    block = prod(last)
    return View.create(
        (*view.shape, *last),
        (*(stride * block for stride in view.strides), *strides_for(last)),
        view.offset * block,
        None if view.mask is None else (*view.mask, *((0, n) for n in last)),
    )


@rule(UPat(GroupOp.ALU, name="x"))
def plain_constants(x: UOp) -> UOp | None:
    """f(view(c), x) -> f(c, x): an operand without a shape is broadcast"""
    if all(s.op is not Ops.VIEW or s.src[0].op is not Ops.CONST for s in x.src):
        return None
    plain = tuple(
        s.src[0] if s.op is Ops.VIEW and s.src[0].op is Ops.CONST and not s.arg.masked else s
        for s in x.src
    )
    if plain == x.src or all(s.op is Ops.CONST for s in plain):
        return None
    return x.rebuild(plain)


@rule(UPat(Ops.VIEW, src=(UPat(Ops.CONST, name="c"),), name="v"))
def masked_zero(v: UOp, c: UOp) -> UOp | None:
    """view(0) with a mask -> 0 in that shape"""
    if not v.arg.masked or c.arg:
        return None
    shape = v.shaped
    return c.view(ShapeTracker.from_shape(shape, (0,) * len(shape)))


pushing = PatternMatcher(
    [
        merge_views,
        drop_view,
        view_of_load,
        view_before_elementwise,
        view_before_reduce,
        plain_constants,
        masked_zero,
    ],
    name="push views",
)
