"""Random programs: drawing them, running their texts, and making a failing one small.

A program is a list of statements; statement k gives value k. While it is drawn it is run in NumPy
twice, in its own dtypes and with wide floats: their difference, and whether rounding happened at
all, say how near the result of another order of the same sums has to be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np

from tests.core.tensor.random_programs.draft import (
    MOST,
    Array,
    Draft,
    Rules,
    UnfitError,
    Value,
    largest,
    value_of_data,
)  # fmt: skip
from tests.core.tensor.random_programs.numpy_functions import NumpyFunctions
from tests.core.tensor.random_programs.operations import OPERATIONS, Operation

LETTERS = "abc"
PRODUCTS = ("matmul", "conv")
"""Operations whose operands, and results, may be kept in images."""
OWN, WIDE = NumpyFunctions(wide=False), NumpyFunctions(wide=True)
EXACT_BITS = 23


@dataclass(frozen=True)
class Statement:
    """Data, or an operation of the values of earlier statements."""

    value: Value
    operation: Operation | None = None
    operands: tuple[int, ...] = ()
    fields: tuple[tuple[str, Any], ...] = ()

    def text(self, template: str) -> str:
        """A text of the operation with its operands and fields."""
        names = {c: f"v{i}" for c, i in zip(LETTERS, self.operands, strict=False)}
        return template.format(**names, **dict(self.fields))

    @property
    def is_differentiable_leaf(self) -> bool:
        """Whether derivatives by this are taken."""
        return self.operation is None and self.value.kind == "f"


@dataclass(frozen=True)
class Program:
    """Statements, and the numbers of those whose values are asked for."""

    statements: tuple[Statement, ...]
    outputs: tuple[int, ...]

    def __str__(self) -> str:
        return self.source(range(0))

    def source(
        self, realized: Iterable[int] = (), leaf: str = "Tensor({data}, device=device)"
    ) -> str:
        """What a user would write."""
        stop, lines = set(realized), list[str]()
        for k, s in enumerate(self.statements):
            if s.operation is None:
                text = leaf.format(data=literal(s.value.array))
            else:
                text = s.text(s.operation.ours)
            lines.append(f"v{k} = {text}{'.realize()' if k in stop else ''}")
        return "\n".join([*lines, f"# asks for {', '.join(f'v{k}' for k in self.outputs)}"])

    def run(
        self,
        text: Callable[[Operation], str],
        names: dict[str, Any],
        leaf: Callable[[int, Array], Any],
        each: Callable[[int, Any], Any] = lambda _, value: value,
    ) -> list[Any]:
        """The values of all statements by one of their texts; `each` sees them as they are made."""
        space = dict(names)
        for k, s in enumerate(self.statements):
            if s.operation is None:
                value = leaf(k, s.value.array)
            else:
                value = eval(s.text(text(s.operation)), space)
            space[f"v{k}"] = each(k, value)
        return [space[f"v{k}"] for k in range(len(self.statements))]


def literal(data: Array) -> str:
    """Data as NumPy source; what is long only named."""
    if data.size and (data == data.flat[0]).all():
        return f"np.full({data.shape}, {data.flat[0].item()!r}, '{data.dtype.name}')"
    if data.size > 64:
        return f"<{data.shape} of {data.dtype.name}, {data.min()} to {data.max()}>"
    made = f"np.array({data.tolist()}, '{data.dtype.name}')"
    return made if data.size else f"np.empty({data.shape}, '{data.dtype.name}')"


def draw_program(rng: Random, rules: Rules, most: int = 14) -> Program:
    """A program of up to that many operations, besides data."""
    draft, statements = Draft(rng, rules), list[Statement]()
    operations = [o for o, _ in OPERATIONS if o.smooth or not rules.smooth]
    weights = [
        n * (rules.products if o.name in PRODUCTS else 1)
        for o, n in OPERATIONS
        if o.smooth or not rules.smooth
    ]
    for _ in range(rng.randint(1, 2)):
        draft.leaf(draft.shape(), rng.choice(rules.dtypes))
    wanted, tries = rng.randint(1, most), 0
    while wanted and tries < 200:
        tries += 1
        (operation,) = rng.choices(operations, weights)
        before = len(draft.values)
        try:
            operands, fields = operation.draw(draft)
            value = evaluated(operation, tuple(operands), fields, draft.values, rules)
        except UnfitError:
            del draft.values[before:]
            continue
        statements += [Statement(v) for v in draft.values[len(statements) :]]
        statements.append(Statement(value, operation, tuple(operands), tuple(fields.items())))
        draft.values.append(value)
        draft.made = len(draft.values) - 1
        wanted -= 1
    statements += [Statement(v) for v in draft.values[len(statements) :]]
    return with_outputs(rng, statements)


def with_outputs(rng: Random, statements: list[Statement]) -> Program:
    """Values that nothing uses, the last one among them, and sometimes one that is used."""
    used = {k for s in statements for k in s.operands}
    made = [k for k, s in enumerate(statements) if s.operation is not None] or [0]
    ends = [k for k in made if k not in used]
    others = rng.sample(ends[:-1], min(len(ends) - 1, 3)) if ends else []
    if rng.random() < 0.3:
        others.append(rng.choice(made))
    return pruned(Program(tuple(statements), tuple(dict.fromkeys((made[-1], *others)))))


def evaluated(
    operation: Operation,
    operands: tuple[int, ...],
    fields: dict[str, Any],
    values: list[Value],
    rules: Rules,
) -> Value:
    """The value of an operation in NumPy. Raises UnfitError for what cannot be compared well."""
    sources = [values[i] for i in operands]
    floats = [v for v in sources if v.kind == "f"]
    exact = all(v.exact for v in floats)
    if operation.jumps and not exact:
        raise UnfitError
    text = Statement(sources[0] if sources else NOTHING, None, operands, tuple(fields.items()))
    with np.errstate(all="ignore"):
        own, wide = (
            np.asarray(eval(text.text(operation.model), {"f": world, "np": np} | {
                f"v{i}": (v.array if world is OWN else v.wide)
                for i, v in zip(operands, sources, strict=True)
            }))
            for world in (OWN, WIDE)
        )  # fmt: skip
    if own.size > MOST or own.ndim > 5 or own.dtype.name not in rules.dtypes:
        raise UnfitError
    if own.dtype.kind != "f":
        if not exact and operation.jumps:
            raise UnfitError
        return Value(own, own, exact=True)
    most = largest(wide)
    if not np.isfinite(own).all() or most > (2000 if own.dtype.itemsize < 4 else 1e4):
        raise UnfitError
    exact = exact and not operation.rounds and bool((own == wide).all())
    if exact and operation.sums:
        exact = sums_exactly(sources)
    eps = float(np.finfo(own.dtype).eps)
    rounded = [v for v in floats if not v.exact]
    return Value(
        own, wide, exact,
        max([eps, *(v.eps for v in rounded)]), max([most, *(v.scale for v in floats)]),
    )  # fmt: skip


NOTHING = value_of_data(np.zeros(0, np.int32), exact=True)


def sums_exactly(sources: list[Value]) -> bool:
    """Whether products of elements are added without rounding in float32, in any order."""
    total, digits = 1.0, 0
    for v in sources:
        if v.kind != "f":
            continue
        digits += next((q for q in range(12) if (v.wide * 2**q % 1 == 0).all()), 100)
        total *= max(1.0, largest(v.wide))
    count = max((v.array.size for v in sources), default=1)
    return total * count * 2.0**digits < 2**EXACT_BITS


def compare(have: Array, value: Value, what: str) -> None:
    """Fails unless `have` is that value: exactly, or as near as its rounding allows."""
    assert have.dtype == value.array.dtype, f"{what}: dtype {have.dtype}, not {value.dtype}"
    assert have.shape == value.shape, f"{what}: shape {have.shape}, not {value.shape}"
    if value.kind != "f" or value.exact:
        np.testing.assert_array_equal(have, value.array, what)
        return
    near = tolerance(value)
    np.testing.assert_allclose(have.astype(np.float64), value.wide, rtol=0, atol=near, err_msg=what)


def tolerance(value: Value) -> float:
    """How far another order of the same sums may be from the value without rounding."""
    difference = largest(value.array.astype(np.float64) - value.wide)
    return 16 * difference + 64 * value.eps * max(value.scale, 1e-3)


def pruned(program: Program) -> Program:
    """Without the statements that no output needs."""
    needed = set(program.outputs)
    for k in reversed(range(len(program.statements))):
        if k in needed:
            needed.update(program.statements[k].operands)
    number = {k: i for i, k in enumerate(sorted(needed))}
    kept = (
        replace(s, operands=tuple(number[o] for o in s.operands))
        for k, s in enumerate(program.statements)
        if k in needed
    )
    return Program(tuple(kept), tuple(number[k] for k in program.outputs))


def smaller(program: Program) -> Iterable[Program]:
    """Programs with less: fewer outputs, an earlier output, a value instead of its operation,
    plain data."""
    for k in program.outputs if len(program.outputs) > 1 else ():
        yield pruned(replace(program, outputs=tuple(o for o in program.outputs if o != k)))
    for k in range(len(program.statements) - 1):
        yield pruned(replace(program, outputs=(k,)))
    for k, s in enumerate(program.statements):
        if s.operation is not None:
            yield pruned(_with(program, k, Statement(s.value)))


def _with(program: Program, k: int, statement: Statement) -> Program:
    statements = (*program.statements[:k], statement, *program.statements[k + 1 :])
    return replace(program, statements=statements)


def shrunken(program: Program, fails: Callable[[Program], bool], most: int = 300) -> Program:
    """A program that still fails and of which no smaller one does."""
    found = True
    while found:
        found = False
        for candidate in smaller(program):
            most -= 1
            if most < 0:
                return program
            if _size(candidate) < _size(program) and fails(candidate):
                program, found = candidate, True
                break
    return program


def _size(program: Program) -> tuple[int, int, int]:
    operations = sum(s.operation is not None for s in program.statements)
    return operations, len(program.statements), len(program.outputs)
