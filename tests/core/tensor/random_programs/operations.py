"""What statements of random programs can be: how each operation draws its operands, its text as a
user writes it, and its text in functions `f` of a model.

An operand is named by a letter (`{a}`), all else that a text names is a field that was drawn. In
`ours`, `u` is `user`: the few operations that take several lines.
"""

# ruff: noqa: E501 - a row of the table is one line

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.helpers import prod
from tests.core.tensor.random_programs.draft import MOST, Draft, UnfitError, broadcast

Drawn = tuple[Sequence[int], dict[str, Any]]
"""Numbers of the operands, and fields."""
Draw = Callable[[Draft], Drawn]


@dataclass(frozen=True)
class Operation:
    """`jumps`: small errors of an operand may change the result by much, so operands are exact.
    `rounds`: the result is not exact, even where all operands are whole numbers. `sums`: many
    products of elements are added. `smooth`: it has a derivative that both sides define alike."""

    name: str
    ours: str
    model: str
    draw: Draw
    jumps: bool = False
    rounds: bool = False
    sums: bool = False
    smooth: bool = True


def one(kinds: str = "biuf", least_axes: int = 0, filled: bool = False) -> Draw:
    """One operand."""
    return lambda d: ((d.pick(kinds, least_axes, filled=filled),), {})


def two(kinds: str = "biuf") -> Draw:
    """Two of one dtype that broadcast."""

    def draw(d: Draft) -> Drawn:
        a = d.pick(kinds)
        return d.rng.sample((a, d.beside(a)), 2), {}

    return draw


def with_number(kinds: str, low: int, high: int) -> Draw:
    def draw(d: Draft) -> Drawn:
        a = d.pick(kinds)
        least = max(0, low) if d.values[a].kind == "u" else low
        number: Any = d.number(least, high)
        return (a,), {"number": float(number) if d.values[a].kind == "f" else number}

    return draw


def on_axis(kinds: str = "biuf", filled: bool = False, most: int = MOST) -> Draw:
    def draw(d: Draft) -> Drawn:
        a = d.pick(kinds, 1, filled=filled, most=most)
        return (a,), {"axis": d.axis(a), "keep": d.chance(0.5)}

    return draw


def on_axes(kinds: str = "biuf", filled: bool = False) -> Draw:
    def draw(d: Draft) -> Drawn:
        a = d.pick(kinds, filled=filled)
        return (a,), {"axis": d.axes(a), "keep": d.chance(0.5)}

    return draw


def full(d: Draft) -> Drawn:
    dtype = d.rng.choice(d.rules.dtypes)
    value = d.number(0, 1) if dtype == "bool" else d.number(0, 5)
    return (), {"shape": d.shape(), "value": value, "dtype": dtype}


def arange(d: Draft) -> Drawn:
    return (), {"n": d.number(0, 40), "dtype": d.rng.choice([t for t in d.rules.dtypes if t != "bool"])}  # fmt: skip


def cast(d: Draft) -> Drawn:
    a = d.pick()
    to = np.dtype(d.rng.choice(d.rules.dtypes))
    v = d.values[a]
    if v.kind == "f" and to.kind != "f":
        if not v.exact or (v.array.size and to.kind == "u" and v.array.min() < 0):
            raise UnfitError
        if v.array.size and to.kind != "b" and np.abs(v.array).max() > 100:
            raise UnfitError
    elif (
        v.kind != "f"
        and to.kind == "f"
        and v.array.size
        and np.abs(v.wide.astype(float)).max() > 2000
    ):
        raise UnfitError
    return (a,), {"dtype": to.name}


def bitcast(d: Draft) -> Drawn:
    a = d.pick("iu")
    names = [
        t for t in d.rules.dtypes if np.dtype(t).kind in "iu" and t[-1] == d.values[a].dtype[-1]
    ]
    return (a,), {"dtype": d.rng.choice(names)}


def shift(d: Draft) -> Drawn:
    a = d.pick("iu")
    return (a,), {"number": d.number(0, d.values[a].array.dtype.itemsize * 8 - 1)}


def where(d: Draft) -> Drawn:
    a = d.pick()
    b = d.beside(a)
    shape = broadcast(d.values[a].shape, d.values[b].shape)
    assert shape is not None
    return (d.mask(shape), a, b), {}


def reshape(d: Draft) -> Drawn:
    a = d.pick()
    size = d.values[a].array.size
    if not size:
        shape = d.rng.choice([(0,), (0, 3), (2, 0), d.values[a].shape])
        return (a,), {"shape": shape}
    factors: list[int] = []
    for p in (2, 3, 5, 7, 11, 13, 17, 31):
        while size % p == 0:
            factors.append(p)
            size //= p
    if size > 1:
        factors.append(size)
    d.rng.shuffle(factors)
    axes = d.number(0, 4) if not factors else d.number(1, 4)
    shape = [1] * axes
    for p in factors:
        shape[d.rng.randrange(axes)] *= p
    return (a,), {"shape": tuple(shape)}


def permute(d: Draft) -> Drawn:
    a = d.pick(least_axes=1)
    n = len(d.values[a].shape)
    return (a,), {"order": tuple(d.rng.sample(range(n), n))}


def flip(d: Draft) -> Drawn:
    a = d.pick(least_axes=1)
    n = len(d.values[a].shape)
    return (a,), {"axes": tuple(d.rng.sample(range(n), d.number(1, n)))}


def expand(d: Draft) -> Drawn:
    a = d.pick(most_axes=4)
    shape = tuple(d.rng.choice((2, 3, 5)) if n == 1 else n for n in d.values[a].shape)
    if d.chance(0.5):
        shape = (d.rng.choice((0, 2, 3, 4)), *shape)
    return (a,), {"shape": shape}


def cut(d: Draft) -> Drawn:
    a = d.pick(least_axes=1)
    return (a,), {"key": d.key(d.values[a].shape)}


def pad(d: Draft) -> Drawn:
    a = d.pick(least_axes=1)
    value: Any = d.rng.choice((0, 0, 1, 3))
    kind = d.values[a].kind
    value = float(value) if kind == "f" else bool(value) if kind == "b" else value
    return (a,), {"widths": d.widths(a), "value": value}


def pad_mode(d: Draft) -> Drawn:
    a = d.pick(least_axes=1, filled=True)
    mode = d.rng.choice(("reflect", "replicate", "circular"))
    widths: list[tuple[int, int]] = []
    for n in d.values[a].shape:
        most = {"reflect": n - 1, "replicate": 4, "circular": n}[mode]
        widths.append(
            (d.number(0, min(most, 4)), d.number(0, min(most, 4))) if d.chance(0.5) else (0, 0)
        )
    return (a,), {"widths": tuple(widths), "mode": mode}


def repeat(d: Draft) -> Drawn:
    a = d.pick(least_axes=1)
    return (a,), {"times": tuple(d.rng.choice((1, 1, 2, 3)) for _ in d.values[a].shape)}


def repeat_interleave(d: Draft) -> Drawn:
    a = d.pick(least_axes=1)
    return (a,), {"times": d.number(1, 3), "axis": d.axis(a)}


def roll(d: Draft) -> Drawn:
    a = d.pick(least_axes=1)
    return (a,), {"by": d.number(-9, 9), "axis": d.axis(a)}


def diagonal(d: Draft) -> Drawn:
    a = d.pick(least_axes=2)
    rows, columns = d.values[a].shape[:2]
    return (a,), {"k": d.number(-max(0, rows - 1), max(0, columns - 1))}


def triangle(d: Draft) -> Drawn:
    return (d.pick(least_axes=2),), {"k": d.number(-3, 3)}


def cat(d: Draft) -> Drawn:
    a = d.pick(least_axes=1)
    axis = d.axis(a)
    shape = list(d.values[a].shape)
    shape[axis] = d.rng.choice((0, 1, 2, 3, 5))
    b = d.equal(a, tuple(shape)) if d.chance(0.6) else a
    return (*d.rng.sample((a, b), 2), d.equal(a, tuple(shape))), {"axis": axis}


def stack(d: Draft) -> Drawn:
    a = d.pick(most_axes=4)
    return (a, d.equal(a, d.values[a].shape)), {"axis": d.number(0, len(d.values[a].shape))}


def product(d: Draft) -> Drawn:
    a = d.pick("iuf")
    v = d.values[a]
    if v.kind == "f" and v.array.size and (np.abs(v.wide).max() > 3 or np.abs(v.wide).min() < 0.05):
        raise UnfitError
    return (a,), {"axis": d.axes(a), "keep": d.chance(0.5)}


def running_product(d: Draft) -> Drawn:
    (a,), fields = product(d)
    return (a,), {**fields, "axis": d.axis(a)}


def sort(d: Draft) -> Drawn:
    a = d.pick("iuf", 1, filled=True, most=400)
    return (a,), {"axis": d.axis(a), "descending": d.chance(0.5)}


def top(d: Draft) -> Drawn:
    a = d.pick("iuf", 1, filled=True, most=400)
    axis = d.axis(a)
    k = d.number(1, d.values[a].shape[axis])
    return (a,), {"axis": axis, "k": k, "largest": d.chance(0.5)}


def index(d: Draft, shape: tuple[int, ...], low: int, high: int) -> int:
    return d.leaf(shape, d.rng.choice([t for t in d.rules.dtypes if t in ("int32", "int64")]), low, high)  # fmt: skip


def rows(d: Draft) -> Drawn:
    a = d.pick(least_axes=1, filled=True)
    n = d.values[a].shape[0]
    return (a, index(d, d.rng.choice([(), (1,), (3,), (2, 3), (0,)]), -n, n - 1)), {}


def gather(d: Draft) -> Drawn:
    a = d.pick(least_axes=1, filled=True)
    axis = d.axis(a)
    shape = [d.number(1, n) for n in d.values[a].shape]
    shape[axis] = d.number(1, 6)
    return (a, index(d, tuple(shape), 0, d.values[a].shape[axis] - 1)), {"axis": axis}


def one_hot(d: Draft) -> Drawn:
    a = index(d, d.rng.choice([(), (3,), (2, 3)]), 0, 4)
    return (a,), {"classes": d.number(5, 7)}


def scatter(how: str) -> Draw:
    def draw(d: Draft) -> Drawn:
        a = d.pick("iuf" if how != "set" else "biuf", 1, filled=True, most=200)
        axis = d.axis(a) % len(d.values[a].shape)
        shape = [d.number(1, min(n, 5)) for n in d.values[a].shape]
        if how == "set":  # PyTorch leaves open which of equals wins
            count = min(shape[axis], d.values[a].shape[axis])
            shape[axis] = count
            order = np.array([d.rng.sample(range(d.values[a].shape[axis]), count)
                              for _ in range(prod(shape) // count)])  # fmt: skip
            moved = (*(n for i, n in enumerate(shape) if i != axis), count)
            b = d.store(np.moveaxis(order.reshape(moved), -1, axis).astype(np.int64))
        else:
            b = d.leaf(tuple(shape), "int64", 0, d.values[a].shape[axis] - 1)
        return (a, b, d.equal(a, tuple(shape))), {"axis": axis, "how": how}

    return draw


def stored(d: Draft) -> Drawn:
    a = d.pick()
    key = d.key(d.values[a].shape)
    part = np.asarray(d.values[a].array[key]).shape
    return (a, d.equal(a, part if d.chance(0.7) else part[d.number(0, len(part)) :])), {"key": key}


def stored_where(d: Draft) -> Drawn:
    a = d.pick(least_axes=1)
    shape = d.values[a].shape
    value: Any = d.number(0, 1)
    value = float(value) if d.values[a].kind == "f" else value
    return (a, d.leaf(shape, "bool")), {"value": value}


def stored_at(d: Draft) -> Drawn:
    a = d.pick(least_axes=1, filled=True)
    n = d.values[a].shape[0]
    at = np.array(d.rng.sample(range(n), d.number(0, min(3, n))), np.int64)
    return (a, d.store(at), d.equal(a, (len(at), *d.values[a].shape[1:]))), {}


def assigned(d: Draft) -> Drawn:
    a = d.pick("iuf")
    return (a, d.equal(a, d.values[a].shape)), {}


def matmul(d: Draft) -> Drawn:
    a = d.pick("iuf", 1, most=400)
    *lead, k = d.values[a].shape
    n = d.rng.choice((1, 2, 3, 5, 16))
    shape = d.rng.choice([(k,), (k, n)] if len(lead) < 2 else [(k,), (k, n), (*lead[:-1], k, n)])
    return (a, d.equal(a, shape)), {}


def einsum(d: Draft) -> Drawn:
    formula, axes = d.rng.choice(
        [("ij,kj->ki", 2), ("ij,ij->j", 2), ("ijk,kl->jil", 3), ("i,j->ij", 1), ("ij,jk->", 2)]
    )
    a = d.pick("iuf", axes, axes, most=300)
    sizes = dict(zip(formula, d.values[a].shape, strict=False))
    second = formula.split("->")[0].split(",")[1]
    return (a, d.equal(a, tuple(sizes.get(s, 3) for s in second))), {"formula": formula}


def conv(d: Draft) -> Drawn:
    axes = d.rng.choice((3, 4, 4))
    a = image(d, axes)
    _, channels, *space = d.values[a].shape
    kernel = tuple(d.number(1, min(3, n)) for n in space)
    padding, stride, dilation = d.number(0, 2), d.number(1, 3), d.rng.choice((1, 1, 2))
    if any(dilation * (k - 1) + 1 > n + 2 * padding for k, n in zip(kernel, space, strict=True)):
        raise UnfitError
    w = d.equal(a, (d.number(1, 4), channels, *kernel))
    return (a, w), {"padding": padding, "stride": stride, "dilation": dilation}


def image(d: Draft, axes: int) -> int:
    """A value (batch, channels, *space)."""
    if d.chance(0.5):
        return d.pick("iuf", axes, axes, filled=True, most=500)
    dtype = d.rng.choice([t for t in d.rules.dtypes if t in ("int32", "float32", "float64")])
    shape = (d.number(1, 2), d.number(1, 4), *(d.number(3, 9) for _ in range(axes - 2)))
    return d.leaf(shape, dtype)


def pool(d: Draft) -> Drawn:
    a = image(d, 4)
    size, stride, dilation = d.number(1, 3), d.number(1, 3), d.rng.choice((1, 1, 2))
    if dilation * (size - 1) + 1 > min(d.values[a].shape[2:]):
        raise UnfitError
    return (a,), {"size": size, "stride": stride, "dilation": dilation}


def mean_pool(d: Draft) -> Drawn:
    a = image(d, 4)
    if d.values[a].kind != "f":
        raise UnfitError
    size = d.number(1, 3)
    padding = d.number(0, size // 2)
    if size > min(d.values[a].shape[2:]) + 2 * padding:
        raise UnfitError
    return (a,), {"size": size, "stride": d.number(1, 3), "padding": padding}


def long(d: Draft) -> Drawn:
    """An axis that running reduces take in blocks, or that sums split."""
    dtype = d.rng.choice([t for t in d.rules.dtypes if t in ("int32", "float32", "float64")])
    return (d.leaf((d.number(257, 1400),), dtype),), {"axis": 0}


def function(name: str, ours: str, model: str) -> Operation:
    """A smooth function of floats."""
    return Operation(name, ours, model, one("f"), rounds=True)


def comparison(name: str, sign: str) -> Operation:
    text = f"({{a}} {sign} {{b}})"
    return Operation(name, text, text, two(), jumps=True, smooth=False)


def reduce(name: str, draw: Draw, **facts: bool) -> Operation:
    return Operation(name, f"{{a}}.{name}({{axis}}, keepdim={{keep}})",
                     f"f.{name}({{a}}, {{axis}}, {{keep}})", draw, **facts)  # fmt: skip


SQUARE = "({a} * {a} + 1)"
OPERATIONS: tuple[tuple[Operation, int], ...] = (
    # making
    (Operation("full", "Tensor.full({shape}, {value}, dtype='{dtype}', device=device)", "f.full({shape}, {value}, '{dtype}')", full), 3),
    (Operation("arange", "Tensor.arange({n}, dtype='{dtype}', device=device)", "f.arange({n}, '{dtype}')", arange), 3),
    (Operation("cast", "{a}.cast('{dtype}')", "f.cast({a}, '{dtype}')", cast), 6),
    (Operation("bitcast", "{a}.bitcast('{dtype}')", "f.bitcast({a}, '{dtype}')", bitcast, smooth=False), 1),
    (Operation("through bfloat16", "u.through_bfloat16({a})", "f.through_bfloat16({a})", one("f"), rounds=True, smooth=False), 1),
    # elements
    (Operation("add", "({a} + {b})", "({a} + {b})", two()), 8),
    (Operation("sub", "({a} - {b})", "({a} - {b})", two("iuf")), 4),
    (Operation("mul", "({a} * {b})", "({a} * {b})", two()), 6),
    (Operation("logaddexp", "{a}.logaddexp({b})", "f.logaddexp({a}, {b})", two("f"), rounds=True), 1),
    (Operation("maximum", "{a}.maximum({b})", "f.maximum({a}, {b})", two()), 3),
    (Operation("minimum", "{a}.minimum({b})", "f.minimum({a}, {b})", two()), 3),
    (Operation("add number", "({a} + {number})", "({a} + {number})", with_number("iuf", -5, 5)), 3),
    (Operation("mul number", "({a} * {number})", "({a} * {number})", with_number("iuf", -3, 3)), 3),
    (Operation("number less", "({number} - {a})", "({number} - {a})", with_number("iuf", -3, 3)), 2),
    (Operation("where", "{a}.where({b}, {c})", "f.where({a}, {b}, {c})", where), 8),
    (Operation("neg", "(-{a})", "f.neg({a})", one("iuf")), 2),
    (Operation("abs", "{a}.abs()", "f.abs({a})", one("iuf")), 2),
    (Operation("relu", "{a}.relu()", "f.relu({a})", one("iuf")), 3),
    (Operation("clip", "{a}.clip({number}, 3)", "f.clip({a}, {number}, 3)", with_number("iuf", -3, 2)), 2),
    *((Operation(n, f"{{a}}.{n}()", f"f.{n}({{a}})", one("f"), jumps=True, smooth=False), 1) for n in ("sign", "floor", "ceil", "trunc", "round")),
    (Operation("logical not", "{a}.logical_not()", "f.logical_not({a})", one(), jumps=True, smooth=False), 2),
    (Operation("invert", "(~{a})", "f.invert({a})", one("biu")), 1),
    (comparison("less", "<"), 4),
    (comparison("at least", ">="), 2),
    (comparison("equal", "=="), 2),
    (comparison("not equal", "!="), 2),
    (Operation("and", "({a} & {b})", "({a} & {b})", two("biu")), 2),
    (Operation("or", "({a} | {b})", "({a} | {b})", two("biu")), 2),
    (Operation("xor", "({a} ^ {b})", "({a} ^ {b})", two("biu")), 2),
    (Operation("shift left", "({a} << {number})", "({a} << {number})", shift), 1),
    (Operation("shift right", "({a} >> {number})", "({a} >> {number})", shift), 1),
    (Operation("floor divide", "({a} // {b})", "f.floor_divide({a}, {b})", two("iu")), 2),
    (Operation("remainder", "({a} % {b})", "f.remainder({a}, {b})", two("iu")), 2),
    (Operation("truncated quotient", "{a}.idiv({b})", "f.truncated_quotient({a}, {b})", two("iu")), 1),
    (Operation("quotient", "({a} / ({b} * {b} + 1))", "({a} / ({b} * {b} + 1))", two("f"), rounds=True), 3),
    (function("exp", "(-{a}.abs()).exp()", "f.exp(-f.abs({a}))"), 1),
    (function("sqrt", f"{SQUARE}.sqrt()", f"f.sqrt({SQUARE})"), 1),
    (function("log", f"{SQUARE}.log()", f"f.log({SQUARE})"), 1),
    (function("reciprocal", f"{SQUARE}.reciprocal()", f"(1 / {SQUARE})"), 1),
    *((function(n, f"{{a}}.{n}()", f"f.{n}({{a}})"), 1) for n in ("sin", "tanh", "sigmoid", "silu", "softplus", "erf", "elu")),
    # movement
    (Operation("reshape", "{a}.reshape({shape})", "f.reshape({a}, {shape})", reshape), 8),
    (Operation("permute", "{a}.permute({order})", "f.permute({a}, {order})", permute), 5),
    (Operation("flip", "{a}.flip({axes})", "f.flip({a}, {axes})", flip), 4),
    (Operation("expand", "{a}.expand({shape})", "f.expand({a}, {shape})", expand), 5),
    (Operation("cut", "{a}[{key}]", "f.cut({a}, {key})", cut), 7),
    (Operation("pad", "{a}.pad({widths}, value={value})", "f.pad({a}, {widths}, {value})", pad), 6),
    (Operation("pad mode", "{a}.pad({widths}, mode='{mode}')", "f.pad_mode({a}, {widths}, '{mode}')", pad_mode), 2),
    (Operation("repeat", "{a}.repeat({times})", "f.repeat({a}, {times})", repeat), 2),
    (Operation("repeat interleave", "{a}.repeat_interleave({times}, {axis})", "f.repeat_interleave({a}, {times}, {axis})", repeat_interleave), 1),
    (Operation("roll", "{a}.roll({by}, {axis})", "f.roll({a}, {by}, {axis})", roll), 2),
    (Operation("diagonal", "{a}.diagonal({k})", "f.diagonal({a}, {k})", diagonal), 1),
    (Operation("tril", "{a}.tril({k})", "f.tril({a}, {k})", triangle), 1),
    (Operation("triu", "{a}.triu({k})", "f.triu({a}, {k})", triangle), 1),
    (Operation("cat", "{a}.cat({b}, {c}, dim={axis})", "f.cat([{a}, {b}, {c}], {axis})", cat), 4),
    (Operation("stack", "{a}.stack({b}, dim={axis})", "f.stack([{a}, {b}], {axis})", stack), 2),
    (Operation("contiguous", "{a}.contiguous()", "{a}", one()), 2),
    (Operation("fuse", "{a}.fuse()", "{a}", one()), 2),
    (Operation("same", "{a}.clone()", "{a}", one()), 1),
    # reduces
    (reduce("sum", on_axes(), sums=True), 8),
    (reduce("max", on_axes(filled=True)), 4),
    (reduce("min", on_axes(filled=True)), 3),
    (reduce("prod", product, sums=True), 2),
    (reduce("mean", on_axes("f", filled=True), rounds=True), 2),
    (Operation("var", "{a}.var({axis}, keepdim={keep}, correction=0)", "f.var({a}, {axis}, {keep})", on_axes("f", filled=True), rounds=True), 1),
    (reduce("any", on_axes(), jumps=True, smooth=False), 2),
    (reduce("all", on_axes(), jumps=True, smooth=False), 1),
    (reduce("argmax", on_axis(filled=True), jumps=True, smooth=False), 2),
    (reduce("argmin", on_axis(filled=True), jumps=True, smooth=False), 1),
    (reduce("logsumexp", on_axis("f", filled=True), rounds=True), 1),
    (Operation("softmax", "{a}.softmax({axis})", "f.softmax({a}, {axis})", on_axis("f", filled=True), rounds=True), 2),
    (Operation("log softmax", "{a}.log_softmax({axis})", "f.log_softmax({a}, {axis})", on_axis("f", filled=True), rounds=True), 1),
    (Operation("layernorm", "{a}.layernorm(eps=0.5)", "f.layernorm({a})", one("f", 1, filled=True), rounds=True), 1),
    (Operation("cumsum", "{a}.cumsum({axis})", "f.cumsum({a}, {axis})", on_axis(), sums=True), 3),
    (Operation("cumprod", "{a}.cumprod({axis})", "f.cumprod({a}, {axis})", running_product, sums=True), 1),
    (Operation("cummax", "{a}.cummax({axis})[0]", "f.cummax({a}, {axis})", on_axis("iuf", filled=True)), 2),
    (Operation("cummin", "{a}.cummin({axis})[0]", "f.cummin({a}, {axis})", on_axis("biuf", filled=True)), 1),
    (Operation("cummin at", "{a}.cummin({axis})[1]", "f.cummin_at({a}, {axis})", on_axis("biu", filled=True), smooth=False), 1),
    (Operation("logcumsumexp", "{a}.logcumsumexp({axis})", "f.logcumsumexp({a}, {axis})", on_axis("f", filled=True), rounds=True), 1),
    (Operation("long cumsum", "{a}.cumsum({axis})", "f.cumsum({a}, {axis})", long, sums=True), 1),
    (Operation("long cummax", "{a}.cummax({axis})[0]", "f.cummax({a}, {axis})", long), 1),
    # order
    (Operation("sort", "{a}.sort({axis}, {descending})[0]", "f.sort({a}, {axis}, {descending})", sort), 2),
    (Operation("argsort", "{a}.argsort({axis}, {descending})", "f.argsort({a}, {axis}, {descending})", sort, jumps=True, smooth=False), 1),
    (Operation("top", "{a}.topk({k}, {axis}, {largest})[0]", "f.top({a}, {k}, {axis}, {largest})", top), 1),
    # picking and placing
    (Operation("rows", "{a}[{b}]", "f.rows({a}, {b})", rows), 3),
    (Operation("gather", "{a}.gather({axis}, {b})", "f.gather({a}, {axis}, {b})", gather), 3),
    (Operation("one hot", "{a}.one_hot({classes})", "f.one_hot({a}, {classes})", one_hot), 1),
    (Operation("scatter", "{a}.scatter({axis}, {b}, {c})", "f.scatter({a}, {axis}, {b}, {c}, '{how}')", scatter("set")), 2),
    (Operation("scatter add", "{a}.scatter({axis}, {b}, {c}, 'add')", "f.scatter({a}, {axis}, {b}, {c}, '{how}')", scatter("add"), sums=True), 2),
    *((Operation(f"scatter {how}", f"{{a}}.scatter_reduce({{axis}}, {{b}}, {{c}}, '{how}')", "f.scatter({a}, {axis}, {b}, {c}, '{how}')", scatter(how), smooth=False), 1) for how in ("amax", "amin")),
    (Operation("set item", "u.stored({a}, {key}, {b})", "f.stored({a}, {key}, {b})", stored, smooth=False), 4),
    (Operation("set where", "u.stored({a}, {b}, {value})", "f.stored_where({a}, {b}, {value})", stored_where, smooth=False), 2),
    (Operation("set at", "u.stored({a}, {b}, {c})", "f.stored({a}, {b}, {c})", stored_at, smooth=False), 2),
    (Operation("assign", "u.assigned({a}, {b})", "(({a} + 1) * 2 - {b} * 3 + {a})", assigned, smooth=False), 3),
    (Operation("accumulate", "u.accumulated({a}, {b})", "({a} + {b})", assigned, smooth=False), 2),
    # sums of products
    (Operation("matmul", "({a} @ {b})", "f.matmul({a}, {b})", matmul, sums=True), 3),
    (Operation("einsum", "Tensor.einsum('{formula}', {a}, {b})", "f.einsum('{formula}', {a}, {b})", einsum, sums=True), 2),
    (Operation("conv", "{a}.conv2d({b}, padding={padding}, stride={stride}, dilation={dilation})", "f.conv({a}, {b}, {padding}, {stride}, {dilation})", conv, sums=True), 4),
    (Operation("max pool", "{a}.max_pool2d({size}, {stride}, {dilation})", "f.max_pool({a}, {size}, {stride}, {dilation})", pool), 3),
    (Operation("avg pool", "{a}.avg_pool2d({size}, {stride}, padding={padding})", "f.avg_pool({a}, {size}, {stride}, {padding})", mean_pool, rounds=True), 2),
)  # fmt: skip
"""Each operation, and how often it is drawn."""
