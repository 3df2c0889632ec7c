"""Movement of axes whose length is a variable: where each element comes from is a formula.

A slice, a flip or a join of such axes is y[i] = x[place(i)], for a place made of i and variables.
Code generation makes a load of it. Results are no views. Knows values of variables only to refuse
what is outside of an axis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from core.dtype import DType, dtypes
from core.errors import DTypeError, RunError, ShapeError
from core.runtime.device import Device
from core.tensor.state.base import make
from core.uop.call.atlaunch import bound_value
from core.uop.ops import Ops
from core.uop.uop import UOp

if TYPE_CHECKING:
    from core.tensor import Tensor

LEAST_ROOM: Final = 2
"""Elements that an axis of a variable length has memory for: one of a single element would be
repeated where others have more, and a reshape could not tell it from others of length 1."""
Size: TypeAlias = "int | UOp"
"""A length or a place: a number, or an integer made of bound variables."""


def is_varying(*sizes: object) -> bool:
    """Whether one of these is made of variables."""
    return any(isinstance(n, UOp) for n in sizes)


def size(n: Size) -> Size:
    """A size, as a number where it is constant. Raises DTypeError for what is no integer of bound
    variables."""
    if not isinstance(n, UOp):
        return n
    if n.shape != () or n.device is not None or not dtypes.is_int(n.dtype):
        raise DTypeError(
            f"a length made of {n.op.name} {n.dtype}",
            hint='give bound variables, or integers made of them: Variable("n", 1, 8).bind(3)',
        )
    if unbound := [v.arg[0] for v in n.vars() if v.op is Ops.DEFINE_VAR]:
        raise DTypeError(
            f"a length made of {', '.join(sorted(unbound))} without a value",
            hint="bind it: n.bind(3)",
        )
    made = n.cast(dtypes.index)
    made = made if made.op is Ops.BIND else made.simplify()
    return int(made.arg) if made.op is Ops.CONST else made


def most(n: Size) -> int:
    """The largest that it may be."""
    return n if isinstance(n, int) else int(n.vmax)


def least(n: Size) -> int:
    """The smallest that it may be."""
    return n if isinstance(n, int) else int(n.vmin)


def value(n: Size) -> int:
    """What it is now."""
    try:
        return n if isinstance(n, int) else bound_value(n)
    except RunError:
        return least(n)


def at_least(n: Size, low: int) -> Size:
    """It, or `low` where that is more."""
    if isinstance(n, int):
        return max(n, low)
    return n if n.vmin >= low else size(n.maximum(low))


def at_most(n: Size, high: Size) -> Size:
    """It, or `high` where that is less."""
    if isinstance(n, int) and isinstance(high, int):
        return min(n, high)
    if n is high or most(n) <= least(high):
        return n
    if not isinstance(n, UOp):
        assert isinstance(high, UOp), "one of the two is made of variables"
        return size(high.minimum(n))
    return size(n.minimum(high))


def extent(self: Tensor, axis: int) -> Size:
    """How many elements count along an axis."""
    found = dict(self.uop.lengths).get(axis)
    return self.shape[axis] if found is None else size(found)


def extents(self: Tensor) -> list[Size]:
    """The length of each axis."""
    known = dict(self.uop.lengths)
    return [size(known[k]) if k in known else n for k, n in enumerate(self.shape)]


def whole(u: UOp, axis: int) -> UOp:
    """All elements along an axis, those behind its length, too."""
    known = dict(u.lengths)
    return u.length(axis, UOp.const(dtypes.index, u.shaped[axis])) if axis in known else u


def bare(u: UOp) -> tuple[UOp, dict[int, UOp]]:
    """All elements, and the lengths of axes: among axes of length 1 a reshape could not tell which
    of them has one."""
    known = dict(u.lengths)
    for axis in known:
        u = whole(u, axis)
    return u, known


def clad(u: UOp, known: Mapping[int, UOp], *but: int) -> UOp:
    """With lengths of axes again, except of some axes."""
    for axis, n in known.items():
        u = u if axis in but else u.length(axis, n)
    return u


def with_length(u: UOp, axis: int, n: Size) -> UOp:
    """Of which the first `n` elements along an axis count."""
    if not isinstance(n, UOp):
        return u if n == u.shaped[axis] else u.shrink(_only(u, axis, 0, n))
    if (have := u.shaped[axis]) < LEAST_ROOM:
        u = u.pad([(0, LEAST_ROOM - have if k == axis else 0) for k in range(len(u.shaped))])
    return u.length(axis, n)


def _only(u: UOp, axis: int, start: int, end: int) -> list[tuple[int, int]]:
    return [(start, end) if k == axis else (0, n) for k, n in enumerate(u.shaped)]


def counted(u: UOp, count: int, dtype: DType = dtypes.index) -> UOp:
    """The integers below `count`, where `u` is."""
    where = () if u.device is None else (UOp(Ops.DEVICE, arg=u.device),)
    return UOp(Ops.IOTA, dtype, where, count)


def picked(u: UOp, axis: int, places: UOp) -> UOp:
    """The elements at so many places along an axis, 0 for a place that is none."""
    x, known = bare(u)
    shape, n, count = x.shaped, x.shaped[axis], places.shaped[0]
    before, after = shape[:axis], shape[axis + 1 :]
    full = (*before, count, n, *after)
    if not n:
        return clad(
            UOp.full((*before, count, *after), 0, x.dtype, x.device or Device.DEFAULT), known, axis
        )
    wide = x.reshape((*before, 1, n, *after)).expand(full)
    alone = (1,) * len(before), (1,) * len(after)
    wanted = places.reshape((*alone[0], count, 1, *alone[1])).expand(full)
    each = counted(x, n).reshape((*alone[0], 1, n, *alone[1])).expand(full)
    there = wanted.eq(each).where(wide, wide.const_like(0))
    return clad(there.r(Ops.ADD, (axis + 1,)).reshape((*before, count, *after)), known, axis)


def _placed(u: UOp, count: int, begin: Size, step: int = 1) -> UOp:
    """begin + step * i for the first `count` i."""
    at = counted(u, count)
    at = at if step == 1 else at * step
    return at if begin == 0 else at + _number(begin, at)


def _number(n: Size, like: UOp) -> UOp:
    """A size beside elements."""
    if isinstance(n, int):
        return like.const_like(n)
    return n.cast(like.dtype).reshape((1,) * len(like.shaped)).expand(like.shaped)


def part(self: Tensor, axis: int, given: slice) -> Tensor:
    """The part of an axis that a slice names, as Python takes it: what is beyond the axis is left
    out. Raises ShapeError for a step of 0, or of a variable."""
    start, count = bounds_of(self, axis, given)
    return make(self, _part(self.uop, axis, start, given.step or 1, count))


def bounds_of(self: Tensor, axis: int, given: slice) -> tuple[Size, Size]:
    """Where a slice of an axis begins, and how many elements it has. Raises as `part` does."""
    n = extent(self, axis)
    step = 1 if given.step is None else given.step
    if not isinstance(step, int) or not step:
        raise ShapeError(f"a slice with the step {step}", hint="a step is a number, and not 0")
    low: Size = 0 if step > 0 else -1
    high: Size = n if step > 0 else _sum(n, -1)
    start = _end(given.start, n, low if step > 0 else high, low, high)
    end = _end(given.stop, n, high if step > 0 else low, low, high)
    apart = _sum(end, _times(start, -1)) if step > 0 else _sum(start, _times(end, -1))
    by = abs(step)
    count = at_least(apart, 0)
    if by > 1:
        count = (count + by - 1) // by if isinstance(count, int) else size((count + (by - 1)) // by)
    return start, at_most(count, min(most(count), self.uop.shaped[axis]))


def _part(u: UOp, axis: int, start: Size, step: int, count: Size) -> UOp:
    """`count` elements from `start` on."""
    total = min(most(count), u.shaped[axis])
    count = at_most(count, total)
    if step == 1 and isinstance(start, int):
        x = whole(u, axis)
        stop = min(x.shaped[axis], start + total)
        x = x.shrink(_only(x, axis, min(start, stop), stop))
        return with_length(x, axis, count)
    return with_length(picked(u, axis, _placed(u, total, start, step)), axis, count)


def _end(given: Size | None, n: Size, missing: Size, low: Size, high: Size) -> Size:
    """An end of a slice of an axis of length `n`, between `low` and `high`."""
    if given is None:
        return missing
    end = size(given) if isinstance(given, UOp) else given
    if isinstance(end, int) and end < 0:
        end = _sum(n, end)
    elif isinstance(end, UOp) and end.vmin < 0:
        raise ShapeError(
            f"a slice from or to {end.render()}, which may be {end.vmin}",
            hint="use variables of at least 0; a negative number counts from the end",
        )
    return at_least(at_most(end, high), least(low))


def _sum(a: Size, b: Size) -> Size:
    if isinstance(a, int):
        return a + b if isinstance(b, int) else size(b + a)
    return size(a + b)


def _times(a: Size, b: int) -> Size:
    return a * b if isinstance(a, int) else size(a * b)


def turned(self: Tensor, axis: int) -> Tensor:
    """An axis whose length is a variable, reversed: y[i] = x[n - 1 - i]."""
    n = extent(self, axis)
    u = self.uop
    return make(
        self, with_length(picked(u, axis, _placed(u, u.shaped[axis], _sum(n, -1), -1)), axis, n)
    )


def placed_at(u: UOp, axis: int, n: Size, begin: Size, total: int) -> tuple[UOp, UOp]:
    """An axis of `n` elements as one of `total`, from `begin` on, and where it is; 0 elsewhere."""
    x = whole(u, axis)
    if isinstance(begin, int):
        kept = max(0, min(x.shaped[axis], total - begin))
        x = x.shrink(_only(x, axis, 0, kept))
        x = x.pad([(begin, total - begin - kept) if k == axis else (0, 0)
                   for k in range(len(x.shaped))])  # fmt: skip
    else:
        x = picked(x, axis, _placed(x, total, _times(begin, -1)))
    return x, within(x, axis, begin, n)


def within(u: UOp, axis: int, begin: Size, n: Size) -> UOp:
    """For each element, whether its place along an axis is one of the `n` from `begin` on."""
    shape = tuple(m if k == axis else 1 for k, m in enumerate(u.shaped))
    at = counted(u, u.shaped[axis]).reshape(shape).expand(u.shaped)
    inside = at < _number(_sum(begin, n), at)
    return inside if begin == 0 else inside & (at < _number(begin, at)).ne(True)


def joined(parts: Sequence[Tensor], axis: int) -> Tensor:
    """Tensors of one dtype, one after the other along an axis, of lengths that are variables."""
    sizes = [extent(p, axis) for p in parts]
    total: Size = 0
    starts: list[Size] = []
    for n in sizes:
        starts.append(total)
        total = _sum(total, n)
    found: UOp | None = None
    for p, n, begin in zip(parts, sizes, starts, strict=True):
        x, inside = placed_at(p.uop, axis, n, begin, most(total))
        found = inside.where(x, x.const_like(0) if found is None else found)
    assert found is not None, "there are parts"
    return make(parts[0], with_length(found, axis, total), *parts[1:])


def padded(self: Tensor, axis: int, before: Size, after: Size, value: UOp) -> Tensor:
    """More elements, of one value, around an axis."""
    n = extent(self, axis)
    if least(before) < 0 or least(after) < 0:
        raise ShapeError(
            "padding of a variable number of elements that may be negative",
            hint="use variables of at least 0, or take elements away with a slice",
        )
    total = _sum(_sum(before, n), after)
    x, inside = placed_at(self.uop, axis, n, before, most(total))
    filled = value.reshape((1,) * len(x.shaped)).expand(x.shaped)
    return make(self, with_length(inside.where(x, filled), axis, total))


def repeated(self: Tensor, shape: Sequence[Size]) -> Tensor:
    """Axes of length 1 repeated as often as a variable says. Other axes have their lengths."""
    more = len(shape) - self.ndim
    have = [1] * more + list(extents(self))
    u, known = bare(self.uop)
    u = u.reshape((1,) * more + u.shaped)
    u = clad(u, {axis + more: n for axis, n in known.items()})
    for axis, (old, new) in enumerate(zip(have, shape, strict=True)):
        wanted = size(new)
        if old is wanted or old == wanted or wanted == -1:
            continue
        if old != 1:
            raise ShapeError(
                f"cannot expand axis {axis} of {_shown(old)} elements to {_shown(wanted)}",
                hint="from the last axis back, lengths must be equal or 1",
            )
        full = [most(wanted) if k == axis else n for k, n in enumerate(u.shaped)]
        u = with_length(u.expand(full), axis, wanted)
    return make(self, u)


def _shape_text(shape: Sequence[Size]) -> str:
    return f"({', '.join(map(_shown, shape))})"


def _shown(n: Size) -> str:
    return str(n) if isinstance(n, int) else n.unbound().render()


def reshaped(self: Tensor, shape: Sequence[Size]) -> Tensor:
    """The same elements in row-major order, of lengths that are variables. One may be -1. Raises
    ShapeError where there are others, as far as that is known."""
    have, wanted = extents(self), [size(n) for n in shape]
    if wanted.count(-1) == 1:
        wanted[wanted.index(-1)] = _quotient(have, [n for n in wanted if n != -1])
    if _product_value(have) != _product_value(wanted) or any(least(n) < 0 for n in wanted):
        raise ShapeError(
            f"cannot reshape {_shape_text(have)} to {_shape_text(wanted)}",
            hint="the numbers of elements are equal, whatever the variables are",
        )
    u = self.uop
    first = 0
    while first < min(len(have), len(wanted)) and _same(have[first], wanted[first]):
        first += 1
    last = 0
    while last < min(len(have), len(wanted)) - first and _same(have[-1 - last], wanted[-1 - last]):
        last += 1
    old, new = have[first : len(have) - last], wanted[first : len(wanted) - last]
    if not old and not new:
        return make(self, u)
    if (not old or not new) and all(isinstance(n, int) and n == 1 for n in (*old, *new)):
        x, known = bare(u)
        x = x.reshape((*x.shaped[:first], *(1,) * len(new), *x.shaped[len(x.shaped) - last :]))
        more = len(new) - len(old)
        places = {axis if axis < first else axis + more: n for axis, n in known.items()}
        return make(self, clad(x, places))
    if not old or not new:  # there are no elements
        first, old, new = 0, have, wanted
    return make(self, _regrouped(u, first, old, new))


def _same(a: Size, b: Size) -> bool:
    return a is b or (isinstance(a, int) and isinstance(b, int) and a == b)


def _product_value(sizes: Sequence[Size]) -> int:
    total = 1
    for n in sizes:
        total *= value(n)
    return total


def _product(sizes: Sequence[Size]) -> Size:
    total: Size = 1
    for n in sizes:
        total = total * n if isinstance(total, int) and isinstance(n, int) else size(n * total)
    return total


def _quotient(have: Sequence[Size], known: Sequence[Size]) -> Size:
    """The length that is left open."""
    left = list(have)
    for n in known:  # what is equal cancels
        for k, m in enumerate(left):
            if _same(n, m):
                left[k] = 1
                break
        else:
            total = _product(left)
            left = [total // n if isinstance(total, int) and isinstance(n, int)
                    else size(_whole(total) // n)]  # fmt: skip
    return _product(left)


def _whole(n: Size) -> UOp:
    return n if isinstance(n, UOp) else UOp.const(dtypes.index, n)


def _regrouped(u: UOp, first: int, old: Sequence[Size], new: Sequence[Size]) -> UOp:
    """The axes from `first` on, of lengths `old`, as others: the element at each new place is the
    one of that number."""
    count = len(old)
    x, known = bare(u)
    shape = x.shaped
    inner = shape[first : first + count]
    flat = x.reshape((*shape[:first], _times_all(inner), *shape[first + count :]))
    sizes = [most(n) for n in new]
    full = tuple(sizes)
    number: UOp | None = None
    for k, n in enumerate(sizes):
        at = (
            counted(u, n).reshape(tuple(n if j == k else 1 for j in range(len(sizes)))).expand(full)
        )
        step = _product(new[k + 1 :])
        term = at * _number(step, at)
        number = term if number is None else number + term
    assert number is not None, "there is an axis"
    left, place = number, number.const_like(0)
    for k in reversed(range(count)):
        size_ = _number(at_least(old[k], 1), left)
        stride = _times_all(inner[k + 1 :])
        place = place + (left % size_ if k else left) * stride
        left = left // size_
    made = picked(flat, first, place.reshape((_times_all(full),)))
    made = made.reshape((*shape[:first], *full, *shape[first + count :]))
    for k, n in enumerate(new):
        made = with_length(made, first + k, n) if isinstance(n, UOp) else made
    more = len(new) - count
    rest = {axis if axis < first else axis + more: n for axis, n in known.items()
            if not first <= axis < first + count}  # fmt: skip
    return clad(made, rest)


def _times_all(sizes: Sequence[int]) -> int:
    total = 1
    for n in sizes:
        total *= n
    return total


def made_with(shape: Sequence[Size], make_full: Callable[[list[int]], Tensor]) -> Tensor:
    """A new Tensor of lengths that are variables, from one of the largest."""
    wanted = [size(n) for n in shape]
    if any(least(n) < 0 for n in wanted):
        raise ShapeError(
            f"a Tensor of shape {_shape_text(wanted)}",
            hint="lengths are not negative: use variables of at least 0",
        )
    made = make_full([most(n) for n in wanted])
    u = made.uop
    for axis, n in enumerate(wanted):
        u = with_length(u, axis, n)
    return make(made, u)


def steps_between(start: object, stop: object, step: float) -> tuple[Size, Size]:
    """Where integers begin, and how many there are up to `stop`. Raises ShapeError for others."""
    ends = [size(n) for n in (start, stop) if isinstance(n, int | UOp)]
    if len(ends) < 2 or not isinstance(step, int) or not step:
        raise ShapeError(
            f"arange from {start} to {stop} with step {step}",
            hint="beside variables, ends and step are integers, and the step is not 0",
        )
    first, last = ends
    apart = _sum(last, _times(first, -1)) if step > 0 else _sum(first, _times(last, -1))
    count = at_least(_sum(apart, abs(step) - 1), 0)
    return first, count // abs(step) if isinstance(count, int) else size(count // abs(step))
