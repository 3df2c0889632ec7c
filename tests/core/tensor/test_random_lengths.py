"""Random programs with axes whose lengths are variables, against NumPy with their numbers.

What is right never comes from a variable: each statement is done in NumPy, too, with its number.
The gradient is compared with that of the same program with numbers in place of variables.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

import numpy as np
import pytest

from core import Context, Tensor, Variable
from core.runtime.buffer import Buffer
from core.uop.uop import UOp
from tests.fuzzing import seeds

MOST = 6
Array = np.ndarray[Any, Any]
Size = Any
"""A number, or a value of variables: each with its number."""


class Program:
    """Statements, drawn one by one: a Tensor of variables, an array of numbers, and its sizes."""

    def __init__(
        self, seed: int, device: str | tuple[str, ...], varying: bool, statements: Statements
    ) -> None:
        self.rng, self.varying, self.device = Random(seed), varying, device
        self.statements = statements
        self.variables: dict[str, tuple[UOp, int]] = {}
        for name in "klmn"[: self.rng.randint(2, 4)]:
            number = self.rng.randint(1, 4)
            self.variables[name] = Variable(name, 0, 4).bind(number), number
        rows, columns = self.rng.randint(4, MOST), self.rng.randint(2, 4)
        numbers = np.array([self.rng.randint(-8, 8) / 4 for _ in range(rows * columns)], np.float32)
        self.array: Array = numbers.reshape(rows, columns)
        self.start = self.placed(self.array).realize()
        self.start.requires_grad = True
        self.tensor = self.start * 1
        self.sizes: list[tuple[Size, int]] = [(rows, rows), (columns, columns)]
        self.text = [f"x = Tensor of {rows}, {columns}"]

    def placed(self, array: Array) -> Tensor:
        """A Tensor on the device; cut along some axis, or whole on each of several."""
        if isinstance(self.device, str):
            return Tensor(array, device=self.device)
        axes = [k for k, n in enumerate(array.shape) if n % len(self.device) == 0]
        ways = [None, *axes, *axes]  # of one number, whatever there is room for
        return Tensor(array).shard(self.device, ways[int(self.rng.random() * len(ways))])

    def size(self, most: int) -> tuple[Size, int]:
        """A variable or a number that is at most `most` now."""
        known = [v for v in self.variables.values() if v[1] <= most]
        if known and self.rng.random() < 0.8:
            variable, number = self.rng.choice(known)
            return (variable if self.varying else number), number
        number = self.rng.randint(0, most)
        return number, number

    def step(self) -> None:
        """One statement."""
        name, draw = self.rng.choice(self.statements)
        before = len(self.text)
        draw(self)
        if len(self.text) == before:
            self.text.append(f"({name} does not fit)")

    def take(self, text: str, tensor: Tensor, array: Array, sizes: list[tuple[Size, int]]) -> None:
        self.text.append(f"{text} -> {array.shape}")
        self.tensor, self.array, self.sizes = tensor, array, sizes


def _axis(p: Program) -> int:
    return p.rng.randrange(len(p.sizes))


def _at(axis: int, item: Any) -> tuple[Any, ...]:
    return (*[slice(None)] * axis, item)


def slice_(p: Program) -> None:
    if not p.sizes:
        return
    axis = _axis(p)
    n = p.sizes[axis][1]
    (a, first), (b, last) = p.size(n), p.size(n)
    step = p.rng.choice((None, None, 2, -1))
    if step == -1:
        a, b, first, last = None, None, None, None
    made = p.array[_at(axis, slice(first, last, step))]
    x = p.tensor[_at(axis, slice(a, b, step))]
    sizes = [*p.sizes]
    sizes[axis] = (made.shape[axis], made.shape[axis])
    if p.varying and axis in dict(x.uop.lengths):
        sizes[axis] = (dict(x.uop.lengths)[axis], made.shape[axis])
    p.take(f"x[{first}:{last}:{step}] on {axis}", x, made, sizes)


def flip(p: Program) -> None:
    if p.sizes:
        axis = _axis(p)
        p.take(f"flip {axis}", p.tensor.flip(axis), np.flip(p.array, axis), p.sizes)


def pad(p: Program) -> None:
    if not p.sizes or p.array.size > 200:
        return
    axis = _axis(p)
    (a, before), (b, after) = p.size(2), p.size(2)
    value = p.rng.choice((0.0, 1.5))
    widths: list[Any] = [None] * len(p.sizes)
    widths[axis] = (a, b)
    pairs = [(0, 0)] * len(p.sizes)
    pairs[axis] = (before, after)
    made = np.pad(p.array, pairs, constant_values=value)
    sizes = [*p.sizes]
    sizes[axis] = (p.sizes[axis][0] + a + b, made.shape[axis])
    p.take(f"pad {pairs} {value}", p.tensor.pad(widths, value=value), made, sizes)


def cat(p: Program) -> None:
    if not p.sizes or p.array.size > 200:
        return
    axis = _axis(p)
    b, last = p.size(p.sizes[axis][1])
    part, rows = p.tensor[_at(axis, slice(None, b))], p.array[_at(axis, slice(None, last))]
    made = np.concatenate([p.array, rows], axis)
    sizes = [*p.sizes]
    sizes[axis] = (p.sizes[axis][0] + b, made.shape[axis])
    p.take(f"cat [:{last}] on {axis}", p.tensor.cat(part, dim=axis), made, sizes)


def transpose(p: Program) -> None:
    if len(p.sizes) == 2:
        p.take("transpose", p.tensor.T, p.array.T, p.sizes[::-1])


def flatten(p: Program) -> None:
    if len(p.sizes) == 2:
        (a, n), (b, m) = p.sizes
        p.take("flatten", p.tensor.reshape(-1), p.array.reshape(-1), [(a * b, n * m)])


def split(p: Program) -> None:
    if len(p.sizes) == 1 and p.sizes[0][1] % 2 == 0 and p.array.size:
        n = p.sizes[0][1] // 2
        made = p.array.reshape(n, 2)
        sizes = [(p.sizes[0][0] // 2, n), (2, 2)]
        p.take("reshape -1, 2", p.tensor.reshape(-1, 2), made, sizes)


def expand(p: Program) -> None:
    if len(p.sizes) == 1 and p.array.size < 60:
        a, n = p.size(3)
        made = np.broadcast_to(p.array, (n, *p.array.shape))
        x = p.tensor.unsqueeze(0).expand(a, -1)
        p.take(f"expand {n}", x, made, [(a, n), *p.sizes])


def roll(p: Program) -> None:
    if p.sizes:
        axis, by = _axis(p), p.rng.randint(-3, 3)
        p.take(f"roll {by}, {axis}", p.tensor.roll(by, axis), np.roll(p.array, by, axis), p.sizes)


def elementwise(p: Program) -> None:
    made = p.array * np.float32(0.5) + 1
    p.take("x * 0.5 + 1", p.tensor * 0.5 + 1, made, p.sizes)


def with_itself(p: Program) -> None:
    p.take("x * x flipped", p.tensor * p.tensor.flip(0) if p.sizes else p.tensor * p.tensor,
           p.array * (np.flip(p.array, 0) if p.sizes else p.array), p.sizes)  # fmt: skip


def total(p: Program) -> None:
    if p.sizes:
        axis = _axis(p)
        sizes = [s for k, s in enumerate(p.sizes) if k != axis]
        p.take(f"sum {axis}", p.tensor.sum(axis), p.array.sum(axis), sizes)


def product(p: Program) -> None:
    if len(p.sizes) == 2 and p.array.size < 60:
        p.take("x @ x.T", p.tensor @ p.tensor.T, p.array @ p.array.T, [p.sizes[0], p.sizes[0]])


def running(p: Program) -> None:
    if p.sizes and p.array.size:
        axis = _axis(p)
        p.take(f"cumsum {axis}", p.tensor.cumsum(axis), p.array.cumsum(axis), p.sizes)


def softmax(p: Program) -> None:
    if p.sizes and p.array.shape[-1]:
        powers = np.exp(p.array - p.array.max(-1, keepdims=True))
        p.take("softmax", p.tensor.softmax(-1), powers / powers.sum(-1, keepdims=True), p.sizes)


def stored(p: Program) -> None:
    p.take("contiguous", p.tensor.contiguous(), p.array, p.sizes)


def realized(p: Program) -> None:
    p.take("realized", p.tensor.contiguous().realize(), p.array, p.sizes)


def first(p: Program) -> None:
    if len(p.sizes) == 2 and p.array.shape[0]:
        place = p.rng.choice((0, -1))
        p.take(f"x[{place}]", p.tensor[place], p.array[place], p.sizes[1:])


def with_another(p: Program) -> None:
    """Another Tensor, of the same lengths in memory for more."""
    if not p.sizes or p.array.size > 200:
        return
    more = [p.rng.randint(0, 2) for _ in p.sizes]
    rooms = [n + m for (_, n), m in zip(p.sizes, more, strict=True)]
    known = dict(p.tensor.uop.lengths)
    rooms = [max(room, int(known[k].vmax) + more[k]) if k in known else p.sizes[k][1]
             for k, room in enumerate(rooms)]  # fmt: skip
    numbers = sum((3 * k + 2) * places for k, places in enumerate(np.indices(rooms)))
    array = np.asarray(numbers % 7 / 4 - 1, np.float32)
    part = array[tuple(slice(0, n) for _, n in p.sizes)]
    x = p.placed(array).shrink([(0, known.get(k, n)) for k, (_, n) in enumerate(p.sizes)])
    name = p.rng.choice(("x + y", "y - x", "x.maximum(y)", "(x > y).where(x, y)"))
    made = {"x + y": p.array + part, "y - x": part - p.array}.get(name, np.maximum(p.array, part))
    p.take(f"{name}, y of {rooms}", eval(name, {"x": p.tensor, "y": x}), made, p.sizes)


def write(p: Program) -> None:
    """Writes to a part: what is read of it before, and after."""
    if not p.sizes:
        return
    axis = _axis(p)
    n = p.sizes[axis][1]
    b, last = p.size(n)
    a, first = (0, 0) if p.rng.random() < 0.5 else p.size(last)
    at, part = _at(axis, slice(a, b)), _at(axis, slice(first, last))
    x, made = p.tensor * 1, p.array.copy()
    how = p.rng.randrange(4)
    if how == 0:
        x[at] = 1.5
        made[part] = 1.5
    elif how == 1:
        x[at] = x[at] * 2
        made[part] = made[part] * 2
    elif how == 2:
        x[at] += x[at].flip(axis)
        made[part] += np.flip(made[part], axis)
    else:
        x[at].assign(x[at] + 1)
        made[part] = made[part] + 1
    p.take(f"write {how} to [{first}:{last}] on {axis}", x, made, p.sizes)


def picked(p: Program) -> None:
    """Elements that indices pick, some of them several times."""
    if p.sizes and p.sizes[0][1] and p.array.size:
        n = p.sizes[0][1]
        places = [p.rng.randrange(-n, n) for _ in range(p.rng.randint(1, 4))]
        index = Tensor(places, dtype="int32", device=p.tensor.device)
        made = p.array[np.array(places)]
        p.take(f"x[{places}]", p.tensor[index], made, [(len(places), len(places)), *p.sizes[1:]])


@pytest.fixture(autouse=True)
def unknown_content(monkeypatch: pytest.MonkeyPatch) -> None:
    """New memory is full of NaN, so that what lies behind a length shows where it is used."""
    allocate = Buffer.allocate

    def filled(self: Buffer, *asked: Any) -> Buffer:
        fresh = not self.allocated and self.base is None and self.nbytes
        allocate(self, *asked)
        if fresh and not self.device.endswith("EMU"):  # which knows what was written
            self.copyin(memoryview(b"\xff" * self.nbytes))
        return self

    monkeypatch.setattr(Buffer, "allocate", filled)


Statements: TypeAlias = "list[tuple[str, Callable[[Program], None]]]"
STATEMENTS: Statements = [
    (f.__name__, f)
    for f in (slice_, slice_, flip, pad, cat, transpose, flatten, split, expand, roll, elementwise,
              with_itself, total, product, running, softmax, stored, first)
]  # fmt: skip
WITH_WRITES = STATEMENTS + 4 * [(f.__name__, f) for f in (with_another, write, picked, realized)]


def run(
    seed: int, device: str | tuple[str, ...], varying: bool, statements: Statements
) -> tuple[Program, list[Any]]:
    """A program, and its value and gradient."""
    p = Program(seed, device, varying, statements)
    for _ in range(p.rng.randint(2, 6)):
        p.step()
        if np.abs(p.array).max(initial=0) > 1e4:
            break
    value = p.tensor.numpy()
    if not p.array.size:
        return p, [value]
    (p.tensor * 0.5).sum().backward()
    grad = p.start.grad
    return p, [value, np.zeros(p.start.shape) if grad is None else grad.numpy()]


def check(
    seed: int, device: str | tuple[str, ...] = "CPU", statements: Statements = STATEMENTS
) -> None:
    with Context(OPT=Random(seed).choice((0, 1, 2, 3))):
        p, found = run(seed, device, True, statements)
    _, wanted = run(seed, device, False, statements)
    told = "\n".join([*p.text, str({k: n for k, (_, n) in p.variables.items()}), f"seed {seed}"])
    assert found[0].shape == p.array.shape, told
    np.testing.assert_allclose(found[0], p.array, rtol=2e-4, atol=2e-4, err_msg=told)
    for have, want in zip(found[1:], wanted[1:], strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-3, atol=1e-3, err_msg=told)


def test_on_the_cpu(pytestconfig: pytest.Config) -> None:
    for seed in (*seeds(pytestconfig, 40, 0), 20102):  # the last has rows read far apart
        check(seed)


def test_writes_and_others(pytestconfig: pytest.Config) -> None:
    for seed in seeds(pytestconfig, 25, 3000):
        check(seed, statements=WITH_WRITES)


def test_on_several_devices(pytestconfig: pytest.Config) -> None:
    for seed in seeds(pytestconfig, 12, 5000):
        check(seed, ("CPU:1", "CPU:2"), WITH_WRITES)


@pytest.mark.parametrize("device", ["REFERENCE", "PTX:EMU", "AMD:EMU"])
def test_on_other_devices(device: str, pytestconfig: pytest.Config) -> None:
    for seed in seeds(pytestconfig, 4, 700)[:200]:
        check(seed, device)
