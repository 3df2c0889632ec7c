"""What HLO's operations that combine many elements compute, in NumPy: products of matrices,
convolutions, reduces and windows. A called computation is passed as a function.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from viz.foreign.hlo.errors import CannotError, InvalidError
from viz.foreign.hlo.shapes import padded
from viz.foreign.hlo.text import Instruction
from viz.foreign.hlo.types import ArrayType, Values

Combine = Callable[[list[Values]], list[Values]]
"""The called computation, on many elements at once."""
_EXACT: Final = ("dot_bf16", "dot_tf32", "dot_f16", "dot_any_f8")


def dot(one: Instruction, given: list[Values]) -> Values:
    """A product of matrices, in batches. Raises CannotError and InvalidError."""
    if one.attributes.get("algorithm", "").startswith(_EXACT):
        raise CannotError("a dot that rounds its operands is not executed")
    a, b = (_widened(v) for v in given)
    sides: list[Values] = []
    sizes: list[tuple[tuple[int, ...], ...]] = []
    for x, side in ((a, "lhs"), (b, "rhs")):
        batch, summed = (one.ints(f"{side}_{of}_dims") for of in ("batch", "contracting"))
        if any(not 0 <= d < x.ndim for d in (*batch, *summed)):
            raise InvalidError("dot has dimensions that its operands have not")
        free = tuple(d for d in range(x.ndim) if d not in (*batch, *summed))
        order = (*batch, *free, *summed) if side == "lhs" else (*batch, *summed, *free)
        parts = tuple(tuple(x.shape[d] for d in dims) for dims in (batch, free, summed))
        batches, frees, sums = (math.prod(p) for p in parts)
        shape = (batches, frees, sums) if side == "lhs" else (batches, sums, frees)
        sides.append(np.transpose(x, order).reshape(shape))
        sizes.append(parts)
    (batch, left, summed), (batch_b, right, summed_b) = sizes
    if batch != batch_b or summed != summed_b:
        raise InvalidError("dot has operands that do not fit")
    kind = np.result_type(*sides)
    return np.matmul(*(s.astype(kind) for s in sides)).reshape((*batch, *left, *right))


def _widened(x: Values) -> Values:
    return x.astype(np.float32) if x.dtype == np.float16 else x


@dataclass(frozen=True)
class Window:
    """For each dimension: size, stride, padding and dilation."""

    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    base: tuple[int, ...]
    """Elements of the operand are so far apart."""
    spread: tuple[int, ...]
    """Elements of the window are so far apart."""
    reversed: tuple[bool, ...]

    def places(self, shape: Sequence[int]) -> tuple[int, ...]:
        """How many windows there are in a padded operand."""
        made = [
            (n - ((size - 1) * spread + 1)) // step + 1 if n >= (size - 1) * spread + 1 else 0
            for n, size, spread, step in zip(
                shape, self.sizes, self.spread, self.steps, strict=True
            )
        ]
        return tuple(made)

    def offsets(self) -> itertools.product[tuple[int, ...]]:
        """Of each element of the window."""
        return itertools.product(*(range(n) for n in self.sizes))

    def part(self, offset: Sequence[int], places: Sequence[int]) -> tuple[slice, ...]:
        """Where in the operand this element of each window is."""
        begins = [at * spread for at, spread in zip(offset, self.spread, strict=True)]
        return tuple(
            slice(begin, begin + (n - 1) * step + 1 if n else begin, step)
            for begin, n, step in zip(begins, places, self.steps, strict=True)
        )


def window_of(one: Instruction, dims: int) -> Window:
    """Such as `window={size=3x3 stride=2x2 pad=1_1x0_0}`. Raises CannotError."""
    text = one.attributes.get("window", "").strip("{}")
    fields = dict(part.split("=", 1) for part in text.split() if "=" in part)
    known = {"size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal"}
    if fields.keys() - known or any(
        not re.fullmatch(r"-?\d+(?:[x_]-?\d+)*", v) for v in fields.values()
    ):
        raise CannotError(f"the window {text[:60]} is not understood")

    def numbers(name: str, default: int) -> tuple[int, ...]:
        found = tuple(int(n) for n in fields[name].split("x")) if name in fields else None
        if found is not None and len(found) != dims:
            raise CannotError(f"the window {text[:60]} has other dimensions")
        return found if found is not None else (default,) * dims

    pads = [tuple(int(n) for n in p.split("_")) for p in fields.get("pad", "").split("x") if p]
    if pads and (len(pads) != dims or any(len(p) != 2 for p in pads)):
        raise CannotError(f"the window {text[:60]} has other dimensions")
    made = Window(
        numbers("size", 1),
        numbers("stride", 1),
        tuple((p[0], p[1]) for p in pads) or ((0, 0),) * dims,
        numbers("lhs_dilate", 1),
        numbers("rhs_dilate", 1),
        tuple(bool(n) for n in numbers("rhs_reversal", 0)),
    )
    if min((*made.sizes, *made.steps, *made.base, *made.spread), default=1) < 1:
        raise CannotError(f"the window {text[:60]} is not understood")
    return made


def convolution(one: Instruction, given: list[Values]) -> Values:
    """Raises CannotError and InvalidError."""
    labels = re.fullmatch(r"(\w+)_(\w+)->(\w+)", one.attributes.get("dim_labels", ""))
    if labels is None:
        raise CannotError("a convolution without dim_labels is not understood")
    a, b = (_widened(v) for v in given)
    space = "0123456789"[: a.ndim - 2]
    orders: list[list[int]] = []
    for text, rest, x in ((labels[1], "bf", a), (labels[2], "oi", b), (labels[3], "bf", a)):
        if sorted(text) != sorted(rest + space) or x.ndim != len(text):
            raise CannotError(f"dim_labels={labels[0]} is not understood")
        orders.append([text.index(c) for c in rest + space])
    window = window_of(one, a.ndim - 2)
    x, w = np.transpose(a, orders[0]), np.transpose(b, orders[1])
    flips = tuple(2 + at for at, back in enumerate(window.reversed) if back)
    w = np.flip(w, flips) if flips else w
    around = [(low, high, base - 1) for (low, high), base in zip(window.pads, window.base,
                                                                strict=True)]  # fmt: skip
    x = padded(x, np.asarray(0, x.dtype), [(0, 0, 0), (0, 0, 0), *around])
    places = window.places(x.shape[2:])
    groups, batches = one.int("feature_group_count", 1), one.int("batch_group_count", 1)
    fits = groups >= 1 <= batches and not x.shape[1] % groups and not x.shape[0] % batches
    both = groups * batches
    if not fits or w.shape[0] % both or x.shape[1] // groups != w.shape[1]:
        raise InvalidError("convolution has operands that do not fit")
    if w.shape[2:] != window.sizes:
        raise InvalidError("convolution has another window than its operand")
    n, outs, inner = x.shape[0] // batches, w.shape[0] // both, w.shape[1]
    size = math.prod(places)
    kind = np.result_type(x, w)
    made = np.zeros((n, both, outs, size), kind)
    for offset in window.offsets():
        part = x[(slice(None), slice(None), *window.part(offset, places))]
        if groups > 1 or batches == 1:
            values = part.reshape(n, groups, inner, size).transpose(1, 2, 0, 3)
        else:
            values = part.reshape(batches, n, inner, size).transpose(0, 2, 1, 3)
        weights = w[(slice(None), slice(None), *offset)].reshape(both, outs, inner)
        product = np.matmul(
            weights.astype(kind), values.reshape(both, inner, n * size).astype(kind)
        )
        made += product.reshape(both, outs, n, size).transpose(2, 0, 1, 3)
    result = made.reshape((n, both * outs, *places))
    back = [orders[2].index(d) for d in range(a.ndim)]
    return np.transpose(result, back)


def reduce(one: Instruction, given: list[Values], combine: Combine) -> list[Values]:
    """Several operands at once, in pairs: HLO allows the called computation in any order. Raises
    CannotError and InvalidError."""
    half = len(given) // 2
    operands, starts = given[:half], given[half:]
    dims = one.ints("dimensions")
    x = operands[0]
    if any(not 0 <= d < x.ndim for d in dims) or any(o.shape != x.shape for o in operands):
        raise InvalidError("reduce has dimensions that its operands have not")
    kept = [d for d in range(x.ndim) if d not in dims]
    shape = [x.shape[d] for d in kept]
    count = math.prod(x.shape[d] for d in dims)
    rows = [np.transpose(o, (*dims, *kept)).reshape((count, *shape)) for o in operands]
    while rows[0].shape[0] > 1:
        n = rows[0].shape[0]
        made = combine([r[0 : n - n % 2 : 2] for r in rows] + [r[1::2] for r in rows])
        if n % 2:
            made = [np.concatenate((m, r[n - 1 :])) for m, r in zip(made, rows, strict=True)]
        rows = made
    first = [np.broadcast_to(s, shape) for s in starts]
    return combine(first + [r[0] for r in rows]) if count else first


def reduce_window(one: Instruction, given: list[Values], combine: Combine) -> list[Values]:
    """Raises CannotError and InvalidError."""
    half = len(given) // 2
    operands, starts = given[:half], given[half:]
    window = window_of(one, operands[0].ndim)
    around = [(low, high, base - 1) for (low, high), base in zip(window.pads, window.base,
                                                                strict=True)]  # fmt: skip
    laid = [padded(o, s, around) for o, s in zip(operands, starts, strict=True)]
    places = window.places(laid[0].shape)
    made = [np.broadcast_to(s, places) for s in starts]
    for offset in window.offsets():
        made = combine(made + [x[window.part(offset, places)] for x in laid])
    return made


def select_and_scatter(
    one: Instruction, given: list[Values], select: Combine, combine: Combine
) -> Values:
    """Raises CannotError and InvalidError."""
    operand, source, start = given
    window = window_of(one, operand.ndim)
    if any(n != 1 for n in (*window.base, *window.spread)):
        raise CannotError("select-and-scatter with spread elements is not executed")
    around = [(low, high, 0) for low, high in window.pads]
    laid = padded(operand, np.asarray(0, operand.dtype), around)
    numbers = np.arange(operand.size).reshape(operand.shape)
    where = padded(numbers, np.asarray(-1), around)
    places = window.places(laid.shape)
    if places != source.shape:
        raise InvalidError("select-and-scatter has other windows than its source")
    chosen = np.zeros(places, operand.dtype)
    at = np.full(places, -1)
    for offset in window.offsets():
        part = window.part(offset, places)
        x, number = laid[part], where[part]
        (keep,) = select([chosen, x])
        new = (number >= 0) & ((at < 0) | ~keep.astype(bool))
        chosen, at = np.where(new, x, chosen), np.where(new, number, at)
    made = np.full(operand.size, start, operand.dtype)
    flat, values = at.reshape(-1), source.reshape(-1)
    put([made], flat[flat >= 0], [values[flat >= 0]], combine)
    return made.reshape(operand.shape)


def put(into: list[Values], at: Values, values: list[Values], combine: Combine) -> None:
    """Combines values with the elements at some places; those of one place in order."""
    if not at.size:
        return
    order = np.argsort(at, kind="stable")
    ranked = at[order]
    first = np.concatenate(([True], ranked[1:] != ranked[:-1]))
    begin = np.maximum.accumulate(np.where(first, np.arange(at.size), 0))
    turn = np.arange(at.size) - begin
    turns = np.argsort(turn, kind="stable")
    bounds = np.searchsorted(turn[turns], np.arange(int(turn.max()) + 2))
    for low, high in itertools.pairwise(bounds):
        chosen = order[turns[low:high]]
        places = at[chosen]
        made = combine([m[places] for m in into] + [v[chosen] for v in values])
        for m, new in zip(into, made, strict=True):
            m[places] = new


def sort(
    one: Instruction, given: list[Values], types: list[ArrayType], combine: Combine, most: int
) -> list[Values]:
    """By the called comparison of any two elements; equal ones keep their order. Raises
    CannotError."""
    axis = one.int("dimensions", len(types[0].dims) - 1)
    if any(v.shape != given[0].shape for v in given) or not 0 <= axis < given[0].ndim:
        raise InvalidError("sort has operands that do not fit")
    n = given[0].shape[axis]
    if given[0].size * n > most:
        raise CannotError(f"a sort of {n:,} elements is not executed")
    rows = [np.moveaxis(v, axis, -1) for v in given]
    pairs: list[Values] = []
    for r in rows:
        shape = (*r.shape, n)
        pairs += [np.broadcast_to(r[..., :, None], shape), np.broadcast_to(r[..., None, :], shape)]
    (less,) = combine(pairs)  # [..., i, j]: whether i comes before j
    less = np.broadcast_to(less.astype(bool), (*rows[0].shape, n))
    tied = ~less & ~np.swapaxes(less, -1, -2)
    before = np.swapaxes(less, -1, -2) | (tied & np.tri(n, k=-1, dtype=bool))
    rank = before.sum(-1)
    order = np.argsort(rank, axis=-1, kind="stable")
    return [np.moveaxis(np.take_along_axis(r, order, -1), -1, axis) for r in rows]


def cost(one: Instruction, types: list[ArrayType], result: Any) -> int:
    """The most multiplications, and calls of a combining computation."""
    sizes = [t.size for t in types]
    if one.opcode == "dot":
        summed = math.prod(
            types[0].dims[d] for d in one.ints("lhs_contracting_dims") if d < len(types[0].dims)
        )
        return max(1, summed) * (result.size if isinstance(result, ArrayType) else 1)
    if one.opcode == "convolution" and isinstance(result, ArrayType):
        outs = max(result.dims, default=1)
        return result.size * max(1, types[1].size // max(1, min(outs, types[1].size)))
    if one.opcode in ("reduce-window", "select-and-scatter"):
        return max(sizes, default=1) * math.prod(window_of(one, len(types[0].dims)).sizes)
    return 8 * sum(sizes)
