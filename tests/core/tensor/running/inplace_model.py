"""Random programs that write in place, run on Tensors and on a model of them in NumPy.

The model is the semantics in a few lines: a Tensor is an array of positions in a flat store. A view
has positions of the same store, every other result has a store of its own, and to assign is to put
values at the positions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core import Tensor
from core.errors import ShapeError
from tests.core.tensor.random_programs.running import cut

Array = NDArray[Any]
SHAPES = ((4,), (2, 3), (3, 3), (2, 2, 2), (1, 4), (6,), ())


@dataclass
class Variable:
    """A Tensor, and the store and positions that it must agree with."""

    tensor: Tensor
    store: Array
    at: Array
    repeats: bool = False

    @property
    def value(self) -> Array:
        """What the Tensor must hold."""
        return np.asarray(self.store[self.at])


@dataclass
class Program:
    """Draws statements from a seed and runs them as they are drawn; `lines` tell what they were. On
    several devices, some values are cut between them."""

    seed: int
    device: str | tuple[str, ...]

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.variables: list[Variable] = []
        self.lines: list[str] = []
        self.made = 0

    def run(self, statements: int) -> None:
        """Runs that many statements, and compares all that is left at the end."""
        for _ in range(2):
            self.new()
        kinds = [
            (self.new, 2), (self.compute, 6), (self.equal, 4), (self.view, 6), (self.assign, 6),
            (self.assign_itself, 4), (self.operator, 6), (self.set_item, 6), (self.read, 3),
            (self.realize, 4), (self.forget, 3), (self.replace, 1),
        ]  # fmt: skip
        for _ in range(statements):
            (kind,) = self.random.choices([k for k, _ in kinds], [n for _, n in kinds])
            kind()
        self.check(self.variables)

    # choosing

    def pick(self) -> Variable:
        return self.random.choice(self.variables)

    def number(self, least: int, most: int) -> int:
        return self.random.randint(least, most)

    def say(self, line: str) -> None:
        self.lines.append(line)

    def name(self, v: Variable) -> str:
        return f"v{next(i for i, u in enumerate(self.variables) if u is v)}"

    def add(self, tensor: Tensor, value: Array, line: str) -> Variable:
        """A variable with a store of its own."""
        value = np.asarray(value)
        made = Variable(
            tensor, value.reshape(-1).copy(), np.arange(value.size).reshape(value.shape)
        )
        return self.keep(made, line)

    def keep(self, made: Variable, line: str) -> Variable:
        assert made.tensor.shape == made.at.shape, (line, made.tensor.shape, made.at.shape)
        self.variables.append(made)
        self.say(f"v{len(self.variables) - 1} = {line}  # {made.tensor.shape}")
        return made

    # statements

    def new(self) -> None:
        shape, kind = self.random.choice(SHAPES), self.number(0, 3)
        if kind == 0:
            fill = self.number(-2, 2)
            value = np.full(shape, fill, np.int32)
            made = Tensor.full(shape, fill, dtype="int32", device=self.device)
        elif kind == 1:
            value = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
            made = Tensor.arange(value.size, dtype="int32", device=self.device).reshape(shape)
            self.add(made, value, f"arange reshaped {shape}")
            return
        else:
            value = self.numbers(shape)
            made = Tensor(value, device=self.device)
        if not isinstance(self.device, str):
            made = cut(made, self.device, self.random)
        self.add(made, value, f"new {shape} {kind} cut along {made.axis}")

    def numbers(self, shape: tuple[int, ...]) -> Array:
        random = np.random.default_rng(self.number(0, 1 << 30))
        return random.integers(-9, 9, shape).astype(np.int32)

    def compute(self) -> None:
        a = self.pick()
        tensor, value, line = self.computed(a, self.number(0, 11))
        if value.size <= 64:
            self.add(tensor, value, line)

    def computed(self, a: Variable, kind: int) -> tuple[Tensor, Array, str]:
        """A new value that reads `a`."""
        x, value, name = a.tensor, a.value, self.name(a)
        b = self.random.choice([v for v in self.variables if v.at.shape == a.at.shape])
        last = value.ndim - 1
        if kind == 0:
            return x + b.tensor, value + b.value, f"{name} + {self.name(b)}"
        if kind == 1:
            return x * 2 - 1, value * np.int32(2) - np.int32(1), f"{name} * 2 - 1"
        if kind == 2:
            total = np.asarray(value.sum(dtype=np.int32))
            return x.sum().cast("int32"), total, f"{name}.sum()"
        if value.ndim == 0 or not value.size:
            return -x, -value, f"-{name}"
        n = value.shape[0]
        if kind == 3:
            return (x + 1).roll(1, 0), np.roll(value + np.int32(1), 1, 0), f"({name} + 1).roll"
        if kind == 4:
            pads = [(1, 0)] + [(0, 0)] * last
            moved = (x + 1).pad(tuple((1, 0) if i == 0 else (0, 0) for i in range(value.ndim)))
            both = np.pad(value + np.int32(1), pads)[:n]
            return moved[:n], both, f"({name} + 1).pad()[:n]"
        if kind == 5:
            half = n // 2
            joined = (x + 1)[half:].cat((x + 1)[:half])
            return joined, np.concatenate([value[half:] + 1, value[:half] + 1]), f"halves of {name}"
        if kind == 6:
            rows = [x[i] + 1 for i in reversed(range(n))]
            stacked = rows[0].stack(*rows[1:])
            return stacked, value[::-1] + np.int32(1), f"stack of the rows of {name}"
        if kind == 7:
            total = value.sum(axis=last, keepdims=True, dtype=np.int32)
            return x - x.sum(-1, keepdim=True).cast("int32"), value - total, f"{name} - sum"
        if kind == 8:
            mask = x > 0
            return mask.where(x, b.tensor), np.where(value > 0, value, b.value), f"where {name}"
        if kind == 9:
            return x.flip(0) + x, value[::-1] + value, f"{name}.flip(0) + {name}"
        if kind == 10:
            return x.repeat(*([2] + [1] * last)), np.concatenate([value, value]), f"{name}.repeat"
        return (
            x.pad([(1, 1)] + [None] * last),
            np.pad(value, [(1, 1)] + [(0, 0)] * last),
            f"pad {name}",
        )

    def equal(self) -> None:
        """A value that folds to another one, and is no view of it."""
        a = self.pick()
        x = a.tensor
        made: list[tuple[str, Callable[[], Tensor]]] = [
            ("* 1", lambda: x * 1),
            ("+ 0", lambda: x + 0),
            ("contiguous", lambda: x.contiguous()),
            ("to", lambda: x.to(self.device)),
            ("cast", lambda: x.cast("int32")),
            ("clone", lambda: x.clone()),
            ("Tensor", lambda: Tensor(x)),
            ("- 0", lambda: x - 0),
            ("dropout", lambda: x.dropout(0.0)),
            ("cat", lambda: x.cat() if x.ndim else x * 1),
        ]
        if not isinstance(self.device, str):
            devices = self.device
            made += [("shard", lambda: cut(x, devices, self.random))] * 4
        what, make = self.random.choice(made)
        self.add(make(), a.value, f"{self.name(a)} {what}")

    def view(self) -> None:
        a = self.pick()
        x, at, name = a.tensor, a.at, self.name(a)
        kind = self.number(0, 9)
        made: Tensor
        if kind == 0:
            shape = self.random.choice(
                [s for s in (*SHAPES, (at.size,)) if np.prod(s, dtype=int) == at.size]
            )
            if a.repeats:
                self.add(
                    x.reshape(shape), a.value.reshape(shape), f"{name}.reshape({shape}) copied"
                )
                return
            made, seen, line = x.reshape(shape), at.reshape(shape), f"{name}.reshape({shape})"
        elif kind == 1:
            order = self.random.sample(range(at.ndim), at.ndim)
            made, seen, line = x.permute(order), at.transpose(order), f"{name}.permute({order})"
        elif kind == 2 and at.ndim:
            made, seen, line = x.flip(0), np.flip(at, 0), f"{name}.flip(0)"
        elif kind == 3:
            made, seen, line = x.detach(), at, f"{name}.detach()"
        elif kind == 4 and at.ndim and at.ndim < 3:
            if a.repeats:
                return
            made = x.unsqueeze(0).expand(2, *at.shape)
            seen, line = np.broadcast_to(at, (2, *at.shape)), f"{name} expanded"
            self.keep(Variable(made, a.store, seen, at.size > 0), line)
            return
        elif a.repeats:
            return
        else:
            key = self.basic_key(at.shape)
            made, seen, line = x[key], at[key], f"{name}[{key}]"
        self.keep(Variable(made, a.store, np.asarray(seen), a.repeats), line)

    def basic_key(self, shape: tuple[int, ...]) -> tuple[Any, ...]:
        key: list[Any] = []
        for n in shape[: self.number(0, len(shape))]:
            if n and self.number(0, 2) == 0:
                key.append(self.number(-n, n - 1))
            else:
                ends = [self.random.choice([None, self.number(-n - 1, n + 1)]) for _ in range(2)]
                key.append(slice(*ends, self.random.choice([None, 1, 2, -1, -2, 3])))
        if self.number(0, 5) == 0:
            key.insert(self.number(0, len(key)), None)
        return tuple(key)

    def assign(self) -> None:
        """A number, another variable's value, or a new value."""
        t = self.pick()
        kind = self.number(0, 3)
        if kind == 0:
            number = self.number(-3, 3)
            self.put(t, lambda: t.tensor.assign(number), number, f"{self.name(t)}.assign({number})")
            return
        same = [v for v in self.variables if v.at.shape == t.at.shape]
        b = self.random.choice(same)
        if kind == 1:
            line = f"{self.name(t)}.assign({self.name(b)})"
            self.put(t, lambda: t.tensor.assign(b.tensor), b.value, line)
            return
        number = self.number(1, 3)
        line = f"{self.name(t)}.assign({self.name(b)} * {number} + {self.name(t)})"
        self.put(t, lambda: t.tensor.assign(b.tensor * number + t.tensor),
                 b.value * np.int32(number) + t.value, line)  # fmt: skip

    def assign_itself(self) -> None:
        """A value that reads the target elsewhere than where it is stored."""
        t = self.pick()
        tensor, value, line = self.computed(t, self.number(3, 9))
        if value.shape == t.at.shape:
            self.put(t, lambda: t.tensor.assign(tensor), value, f"{self.name(t)}.assign({line})")

    def operator(self) -> None:
        t = self.pick()
        b = self.random.choice([v for v in self.variables if v.at.shape in (t.at.shape, ())])
        line = f"{self.name(t)} ?= {self.name(b)}"
        kind, old, value = self.number(0, 4), t.value, b.value

        def change(operand: Any) -> Tensor:
            x = t.tensor
            if kind == 0:
                x += operand
            elif kind == 1:
                x -= operand
            elif kind == 2:
                x *= 2
            elif kind == 3:
                x ^= operand
            else:
                x //= 3
            return x

        want = [old + value, old - value, old * np.int32(2), old ^ value, old // np.int32(3)][kind]
        self.put(t, lambda: change(b.tensor), want, line.replace("?", "+-*^/"[kind]))

    def set_item(self) -> None:
        t = self.pick()
        name, shape = self.name(t), t.at.shape
        kind = self.number(0, 5)
        if kind == 0 and shape:
            mask = self.numbers(shape) > 0
            value = t.value
            value[mask] = 7

            def masked() -> None:
                t.tensor[Tensor(mask, device=self.device)] = 7

            self.put(t, masked, value, f"{name}[mask] = 7")
        elif kind == 1 and shape and shape[0]:
            index = self.numbers((self.number(1, 3),)) % shape[0]
            new = self.numbers((len(index), *shape[1:]))
            value = t.value
            value[index] = new

            def picked() -> None:
                t.tensor[Tensor(index, device=self.device)] = Tensor(new, device=self.device)

            self.put(t, picked, value, f"{name}[{index}] = new")
        elif kind == 2 and shape:
            key = self.basic_key(shape)
            value = t.value
            value[key] += np.int32(5)

            def added() -> None:
                t.tensor[key] += 5

            self.put(t, added, value, f"{name}[{key}] += 5")
        else:
            key = self.basic_key(shape)
            value = t.value
            part = np.asarray(value[key])
            sources = [v for v in self.variables if v.at.shape == part.shape]
            source = self.random.choice(sources) if sources and kind < 5 else None
            number = self.number(-9, 9)
            value[key] = number if source is None else source.value

            def stored() -> None:
                t.tensor[key] = number if source is None else source.tensor

            said = number if source is None else self.name(source)
            self.put(t, stored, value, f"{name}[{key}] = {said}")

    def put(self, t: Variable, do: Callable[[], object], value: Any, line: str) -> None:
        """Writes to a variable; views that repeat elements refuse."""
        self.say(line)
        if t.repeats:
            with pytest.raises(ShapeError, match="several values"):
                do()
            return
        value = np.broadcast_to(np.asarray(value), t.at.shape).copy()
        before = t.tensor
        do()
        assert t.tensor is before
        t.store[t.at] = value

    def read(self) -> None:
        v = self.pick()
        self.say(f"read {self.name(v)}")
        self.check([v])

    def realize(self) -> None:
        chosen = self.random.sample(self.variables, self.number(1, min(3, len(self.variables))))
        self.say("realize " + ", ".join(map(self.name, chosen)))
        Tensor.realize(*(v.tensor for v in chosen))

    def forget(self) -> None:
        if len(self.variables) > 4:
            gone = self.pick()
            self.say(f"del {self.name(gone)}, the last takes its name")
            at = next(i for i, v in enumerate(self.variables) if v is gone)
            last = self.variables.pop()
            if gone is not last:
                self.variables[at] = last

    def replace(self) -> None:
        t = self.pick()
        same = [v for v in self.variables if v.at.shape == t.at.shape]
        b = self.random.choice(same)
        self.say(f"{self.name(t)}.replace({self.name(b)})")
        value = b.value
        t.tensor.replace(b.tensor)
        t.store, t.at, t.repeats = (
            value.reshape(-1).copy(),
            np.arange(value.size).reshape(value.shape),
            False,
        )

    def check(self, variables: list[Variable]) -> None:
        for v in variables:
            np.testing.assert_array_equal(v.tensor.numpy(), v.value, self.name(v))
