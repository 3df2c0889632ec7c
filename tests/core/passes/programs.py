"""Random Tensor programs for the fuzzers: movement, masks, arithmetic and reduces.

Values are small integers (or eighths), so that any order of combining gives the same result.
"""

from __future__ import annotations

from random import Random

import numpy as np

from core.errors import CompileError
from core.helpers import argsort, prod
from core.passes.loops.collapse import collapse
from core.passes.lower import lower
from core.passes.optimize import Kernel, apply_opt, prepared
from core.passes.simplify import simplify
from core.shape import ShapeTracker
from core.target import Target
from core.tensor import Tensor
from core.uop import Ops, UOp
from core.uop.kernelinfo import AxisType, Opt, OptOps
from core.uop.kernels import is_lowered
from tests.fuzzing import computed

SMALL = (1, 2, 3, 4, 5, 7, 8, 12, 16, 20, 33)
LARGE = (1, 3, 4, 16, 30, 64, 128, 512, 1000, 4096)
"""Sizes at which limits of threads and of shared memory are met."""
DTYPES = ("float32", "float32", "int32", "int32", "uint8", "int64", "float16", "bool", "float64")
MOST = 4000
"""Elements of one value that is computed."""


def leaf(rng: Random, shape: tuple[int, ...]) -> Tensor:
    """A Tensor of small numbers (of none, where it is large), some axes repeated."""
    base = tuple(1 if rng.random() < 0.2 else n for n in shape)
    dtype = rng.choice(computed(DTYPES))
    if prod(base) > MOST:
        return Tensor.empty(*base, dtype=dtype).expand(*shape)
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    low = -3 if dtype not in ("uint8", "bool") else 0
    data = numbers.integers(low, 4 if dtype != "bool" else 2, base).astype(dtype)
    return Tensor(data).expand(*shape)


def shape_of(rng: Random, large: bool = False) -> tuple[int, ...]:
    """One to three axes."""
    while True:
        shape = tuple(rng.choice(LARGE if large else SMALL) for _ in range(rng.randint(1, 3)))
        if prod(shape) <= (MOST << 14 if large else MOST):
            return shape


def index(rng: Random, shape: tuple[int, ...], axis: int) -> Tensor:
    """The index along an axis, as a value of `shape`."""
    ones = [n if i == axis else 1 for i, n in enumerate(shape)]
    found = Tensor.arange(shape[axis]).reshape(*ones).expand(*shape)
    return found * rng.choice((1, 1, 2)) + rng.choice((0, 0, 1, 3))


def condition(rng: Random, x: Tensor) -> Tensor:
    """A conjunction of comparisons of indices, and of data."""
    shape = x.shape
    found: Tensor | None = None
    for _ in range(rng.randint(1, 3)):
        axis = rng.randrange(len(shape))
        i = index(rng, shape, axis)
        bound = rng.randint(0, shape[axis])
        kind = rng.randrange(6)
        if kind == 0:
            part = i < bound
        elif kind == 1:
            part = i >= bound
        elif kind == 2:
            part = i == bound
        elif kind == 3:
            part = i + index(rng, shape, rng.randrange(len(shape))) < bound
        elif kind == 4:
            part = i - index(rng, shape, rng.randrange(len(shape))) >= bound - 2
        else:
            part = x.cast("int32") > rng.randint(-2, 2)
        found = part if found is None else found & part
    assert found is not None
    return found


def moved(rng: Random, x: Tensor) -> Tensor:
    """Some movement of `x`."""
    shape = x.shape
    axis = rng.randrange(len(shape))
    kind = rng.randrange(7)
    if kind == 0:
        return x.permute(*rng.sample(range(len(shape)), len(shape)))
    if kind == 1:
        return x.flip(axis)
    if kind in (2, 3):
        pads = [(rng.choice((0, 0, 1, 3)), rng.choice((0, 0, 2, 5))) for _ in shape]
        wide = x.pad(tuple(pads))
        return wide if wide.numel() <= max(MOST, x.numel()) else x
    if kind == 4:
        parts: list[tuple[int, int]] = []
        for n in shape:
            begin = rng.randrange(n)
            parts.append((begin, rng.randint(begin + 1, n)) if rng.random() < 0.5 else (0, n))
        return x.shrink(tuple(parts))
    if kind == 5:
        total = x.numel()
        cut = rng.choice([d for d in range(1, min(total, 5000) + 1) if total % d == 0])
        return x.reshape(cut, total // cut)
    wide = x.reshape(*shape, 1).expand(*shape, rng.choice((2, 3, 4)))
    return wide if wide.numel() <= MOST and len(shape) < 4 else x


def program(rng: Random, masks: float = 0.3, large: bool = False) -> Tensor:
    """A Tensor with a random graph; `masks` is how often a value is chosen under a condition."""
    x = leaf(rng, shape_of(rng, large))
    leaves = [x]
    for _ in range(rng.randint(1, 6)):
        kind = rng.random()
        if rng.random() < 0.15:
            x = weighed(rng, x)
        elif kind < masks:
            other = leaf(rng, x.shape).cast(x.dtype) if rng.random() < 0.5 else 0
            x = condition(rng, x).where(x, other)
        elif kind < masks + 0.25:
            x = moved(rng, x)
        elif kind < masks + 0.5:
            again = used_again(rng, leaves, x.shape)
            y = leaf(rng, x.shape) if again is None else again
            leaves.append(y)
            if rng.random() < 0.3:
                y = moved(rng, y).flatten()
                y = y.pad(((0, max(0, x.numel() - y.numel())),))[: x.numel()].reshape(*x.shape)
            x = rng.choice((Tensor.add, Tensor.mul, Tensor.maximum))(x, y)
        elif len(x.shape) and x.numel() > 1:
            axes = tuple(rng.sample(range(len(x.shape)), rng.randint(1, len(x.shape))))
            y = x.max(axes, keepdim=True) if rng.random() < 0.3 else x.sum(axes, keepdim=True)
            y = y.cast("int32") % 8 if rng.random() < 0.5 else y.clip(-50, 50)
            x = y if rng.random() < 0.6 else x + y.cast(x.dtype)
    return x


def weighed(rng: Random, x: Tensor) -> Tensor:
    """sum(mask(x + e)) * e, where e is the same along the axis of the sum: one address is read
    under a gate of the loop and without one after it."""
    axis = rng.randrange(len(x.shape))
    e = leaf(rng, tuple(1 if i == axis else n for i, n in enumerate(x.shape)))
    y = x + e.expand(*x.shape)
    if rng.random() < 0.5:
        y = y.pad(tuple((0, 2) if i == axis else (0, 0) for i in range(len(x.shape))))
    else:
        y = condition(rng, y).where(y, 0)
    return y.sum(axis, keepdim=True).clip(-50, 50) * e


def used_again(rng: Random, leaves: list[Tensor], shape: tuple[int, ...]) -> Tensor | None:
    """A leaf that was used before, where one can be expanded to `shape`; often, for one address
    under several gates and in several loops is where mistakes show."""
    for y in rng.sample(leaves, len(leaves)):
        own = y.shape[-len(shape) :]
        fits = y.numel() == prod(own) and all(
            a in (1, b) for a, b in zip(own[::-1], shape[::-1], strict=False)
        )
        if fits and rng.random() < 0.6:
            return y.reshape(*own).expand(*shape)
    return None


FACTORS = ("float16", "float16", "bfloat16", "int8", "fp8e4m3", "fp8e5m2", "float32")
EDGES = (1, 3, 7, 8, 16, 16, 17, 24, 32, 32, 33, 48, 64)
"""Lengths of sides of matrices: of one tile, of several, and of neither."""


def matrix_product(rng: Random) -> Tensor:
    """A product of matrices, or a convolution, of dtypes that tensor cores have: operands that are
    transposed, masked, computed first; batches; something computed of the product."""
    dtype = rng.choice(FACTORS)
    total = "int32" if dtype == "int8" else "float32"
    batch = (rng.choice((2, 3)),) if rng.random() < 0.25 else ()
    m, n, k = (rng.choice(EDGES) for _ in range(3))
    if rng.random() < 0.15:
        side, taps = rng.choice((4, 8, 10)), rng.choice((1, 3))
        x = factor(rng, (2, rng.choice((3, 16)), side, side), dtype, total)
        w = factor(rng, (rng.choice((8, 16, 5)), x.shape[1], taps, taps), dtype, total)
        return epilogue(rng, x.conv2d(w, padding=rng.choice((0, 1))))
    a = factor(rng, (*batch, m, k), dtype, total)
    b = (
        a
        if m == n == k and rng.random() < 0.3
        else factor(rng, (*(batch if rng.random() < 0.7 else ()), k, n), dtype, total)
    )
    return epilogue(rng, a.matmul(b, dtype=total))


def factor(rng: Random, shape: tuple[int, ...], dtype: str, total: str) -> Tensor:
    """A matrix of small numbers, in the dtype that products are summed in."""
    turned = rng.random() < 0.4
    stored = (*shape[:-2], shape[-1], shape[-2]) if turned else shape
    numbers = np.random.default_rng(rng.randrange(1 << 30)).integers(-2, 3, stored)
    x = Tensor(numbers.astype("int8" if dtype == "int8" else "float32"))
    x = (x.cast(dtype) if dtype != "float32" else x).contiguous().realize()
    x = x.transpose(-1, -2) if turned else x
    if rng.random() < 0.15:
        x = x.flip(rng.randrange(len(shape)))
    if rng.random() < 0.2:
        axis = rng.randrange(len(shape))
        kept = tuple((1, n) if i == axis and n > 1 else (0, n) for i, n in enumerate(shape))
        cut = x.shrink(kept)
        x = cut.pad(tuple((n - got, 0) for n, got in zip(shape, cut.shape, strict=True)))
    if rng.random() < 0.2 and dtype != "int8":
        x = x.relu() if rng.random() < 0.5 else (x.float() * 0.5).cast(dtype)
    return x.cast(total)


def epilogue(rng: Random, x: Tensor) -> Tensor:
    """Something that is computed of a product, element by element."""
    kind = rng.randrange(5)
    if kind == 0:
        return x + leaf(rng, (x.shape[-1],)).cast(x.dtype)
    if kind == 1:
        return x.relu()
    if kind == 2:
        return x.transpose(-1, -2).contiguous()
    return x


def tensor_core(rng: Random, target: Target) -> Opt:
    """A TC opt, legal or not."""
    rows = len(target.tensor_cores)
    row = rng.randrange(rows) if rows and rng.random() < 0.4 else -1
    level = rng.choice((0, 1, 2, 2, 2))
    return Opt(OptOps.TC, rng.choice((0, 0, 0, 1, 2)), (row, level, rng.choice((1, 1, 1, 2))))


def opened(ast: UOp, target: Target) -> Kernel:
    """The kernel as `optimize` begins with it."""
    sink = ast
    for step in (lower, simplify, collapse, simplify):
        sink = step(sink, target)
    return prepared(sink, target)


def legal_opts(rng: Random, ast: UOp, target: Target, cores: float = 0.1) -> list[Opt]:
    """Opts that apply one after another; `cores` is how often tensor cores are tried first."""
    kernel = opened(ast, target)
    found: list[Opt] = []
    kinds = [op for op in OptOps if op not in (OptOps.TC, OptOps.NOLOCALS)]
    greedy = rng.random() < 0.4
    if greedy:  # for the limits of the target
        kinds = [OptOps.GROUP, OptOps.GROUPTOP, OptOps.UPCAST, OptOps.UPCAST, OptOps.LOCAL]
    tries = rng.randint(1, 12)
    for at in range(tries):
        op = rng.choice(kinds) if rng.random() < 0.98 else OptOps.NOLOCALS
        loops = kernel.loops(AxisType.LOOP, AxisType.GLOBAL, AxisType.REDUCE)
        sizes = [r.src[0].arg for r in loops] or [1]
        divisors = [d for n in sizes for d in range(2, min(n, 1024) + 1) if n % d == 0]
        arg = rng.choice((0, 1, 2, 3, 4, 8, *divisors))
        if greedy and divisors:
            most = 16 if op is OptOps.UPCAST else 1024
            arg = max(d for d in (2, *divisors) if d <= rng.choice((4, 16, most)))
        opt = Opt(op, rng.randrange(4), arg)
        if rng.random() < (cores / 4 if at else cores):
            opt = tensor_core(rng, target)
        before = kernel.sink
        try:
            apply_opt(kernel, opt)
        except CompileError as error:
            if "does not apply" not in error.what or kernel.sink is not before:
                raise
        else:
            found.append(opt)
    return found


def kernels_of(rng: Random, tensor: Tensor) -> list[UOp]:
    """The ASTs of the kernels that compute a Tensor, some with transposed or mirrored outputs."""
    asts = [item.ast for item in tensor.schedule() if item.ast.op is Ops.SINK]
    asts = [ast for ast in asts if not is_lowered(ast)]  # one written by hand takes no opts
    return [stored_elsewhere(rng, ast) if rng.random() < 0.3 else ast for ast in asts]


def stored_elsewhere(rng: Random, ast: UOp) -> UOp:
    """The kernel with its outputs in another order, as assignment to a movement has them."""
    stores: list[UOp] = []
    for place, value in (store.src for store in ast.src):
        shape = place.shaped
        order = rng.sample(range(len(shape)), len(shape))
        tracker = ShapeTracker.from_shape([shape[i] for i in order]).permute(argsort(order))
        tracker = tracker.flip([rng.random() < 0.2 for _ in shape])
        covers = place.arg.contiguous and place.src[0].size == prod(shape)
        stores.append(place.replace(arg=tracker).store(value) if covers
                      else place.store(value))  # fmt: skip
    return ast.rebuild(tuple(stores))
