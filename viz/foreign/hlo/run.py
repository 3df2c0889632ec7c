"""Executes a module on given values, within limits of work, of memory and of depth.

The computation that a reduce or a sort calls is on scalars; it is executed on many of them at once.
Every result is held against the type that its instruction states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from viz.foreign.hlo import elements, indexed, shapes, sums
from viz.foreign.hlo.errors import CannotError, InvalidError
from viz.foreign.hlo.text import Computation, Instruction, Module, names, number_of
from viz.foreign.hlo.types import ArrayType, TupleType, Type, Values, rounded, stored
from viz.foreign.hlo.values import Value, literal, random

WORK: Final = 400_000_000
"""Elements that are made, and multiplications of whole numbers."""
_EACH: Final = 4_000
"""What an instruction costs besides."""
MOST: Final = 1 << 24
"""Elements of a value."""
ALIVE: Final = 1 << 27
"""Elements of all values of a computation that are needed again."""
TURNS: Final = 100_000
"""Iterations of all loops."""
_DEEPEST: Final = 60
"""Calls inside each other."""
_SORTED: Final = 1 << 24
"""Comparisons of a sort."""

_SUMS: Final = frozenset(
    ("dot", "convolution", "reduce", "reduce-window", "select-and-scatter", "sort")
)
_INDEXED: Final = frozenset(("gather", "scatter"))
_CONTROL: Final = names(
    "parameter constant iota tuple get-tuple-element call fusion map while conditional "
    "opt-barrier optimization-barrier copy-start copy-done"
)
KNOWN: Final = _SUMS | _INDEXED | _CONTROL | shapes.OPS | elements.OTHERS | elements.SAME.keys()
"""Opcodes that have a meaning here."""
_ON_SCALARS: Final = names(
    "parameter constant tuple get-tuple-element call fusion map opt-barrier copy bitcast reshape "
    "broadcast"
)
_SAME_KIND: Final = elements.SAME.keys() - {"power", "shift-left", "abs"}


class LimitError(CannotError):
    """These values take too much; others may not."""


def without_meaning(module: Module) -> str:
    """The opcodes of a module that have no meaning here, with how many there are; "" for none."""
    found = Counter(
        one.opcode
        for computation in module.reached()
        for one in computation.instructions.values()
        if one.opcode not in KNOWN
    )
    return ", ".join(f"{name} ({count:,})" for name, count in found.most_common(8))


class Run:
    """One execution. `wide`: floats are float64, whatever they are in the module; `sample`: which
    values are made up for constants that the text leaves out."""

    def __init__(self, module: Module, wide: bool, sample: int = 0) -> None:
        self._module, self._wide, self._sample = module, wide, sample
        self._left = WORK
        self._turns = TURNS
        self._constants: dict[int, Values] = {}
        self.left_out: set[str] = set()
        """Constants whose values the text does not have: a value was made up for each."""

    def entry(self, given: Sequence[Value]) -> Value:
        """The result. Raises CannotError, InvalidError and NarrowError."""
        computation = self._module.computations[self._module.entry]
        with np.errstate(all="ignore"):
            return self._computation(computation, list(given), 0)

    def _computation(
        self, computation: Computation, given: list[Value], depth: int, many: bool = False
    ) -> Value:
        """`many`: its scalars are arrays of scalars."""
        if depth > _DEEPEST:
            raise CannotError("calls are nested too deeply")
        instructions = computation.instructions
        uses = Counter[str]()
        stack, needed = [computation.root], {computation.root}
        while stack:
            for name in instructions[stack.pop()].operands:
                uses[name] += 1
                if name not in needed:
                    needed.add(name)
                    stack.append(name)
        values: dict[str, Value] = {}
        alive = 0
        for one in instructions.values():
            if one.name not in needed:
                continue
            self._spend(one, many, given)
            try:
                made = self._value(one, given, values, instructions, depth, many)
                made = self._as(made, one.type)
                self._hold(one, made, many)
            except (ValueError, TypeError, IndexError, KeyError, MemoryError) as error:
                raise CannotError(f"{one.opcode} {one.name} cannot be executed: {error}") from None
            values[one.name] = made
            alive += _size(one.type)
            for name in one.operands:
                uses[name] -= 1
                if not uses[name] and name in values:
                    alive -= _size(instructions[name].type)
                    del values[name]
            if alive > ALIVE:
                raise LimitError("its values take too much memory")
        return values[computation.root]

    def _spend(self, one: Instruction, many: bool, given: list[Value]) -> None:
        size = _size(one.type)
        if size > MOST:
            raise LimitError("a value is too large")
        if many:
            size += max((v.size for v in given if isinstance(v, np.ndarray)), default=0)
        self._take(_EACH + size)

    def _take(self, work: int) -> None:
        self._left -= work
        if self._left < 0:
            raise LimitError("it takes too long")

    def _value(
        self,
        one: Instruction,
        given: list[Value],
        values: dict[str, Value],
        instructions: dict[str, Instruction],
        depth: int,
        many: bool,
    ) -> Value:
        opcode = one.opcode
        is_element = opcode in elements.SAME or opcode in elements.OTHERS
        if many and not is_element and (opcode not in _ON_SCALARS or not _is_scalar(one.type)):
            raise CannotError(f"{opcode} in a computation on scalars is not executed")
        operands = [values[name] for name in one.operands]
        types = [instructions[name].type for name in one.operands]
        if opcode == "parameter":
            return self._parameter(one, given)
        if opcode == "constant":
            return self._constant(one)
        if opcode in _CONTROL:
            return self._control(one, operands, depth, many)
        arrays = [v for v in operands if isinstance(v, np.ndarray)]
        kinds = [t for t in types if isinstance(t, ArrayType)]
        if len(arrays) != len(operands) or len(kinds) != len(types) or not arrays:
            raise InvalidError(f"{opcode} {one.name} has operands that are no arrays")
        for kind in (*kinds, one.type):
            if isinstance(kind, ArrayType):
                stored(kind.dtype, self._wide)
        if is_element:
            return self._elements(one, arrays, kinds, many)
        if opcode == "bitcast":
            arrays[0] = elements.bits_as(arrays[0], kinds[0], one.type, self._wide)
        if many:
            return arrays[0]
        if opcode in shapes.OPS and isinstance(one.type, ArrayType):
            shapes.hold(one, kinds[0], one.type)
            return shapes.move(one, arrays, kinds, one.type)
        return self._combined(one, arrays, kinds, depth)

    def _parameter(self, one: Instruction, given: list[Value]) -> Value:
        number = number_of(one)
        if number >= len(given):
            raise InvalidError(f"parameter {number} is not given")
        return given[number]

    def _constant(self, one: Instruction) -> Values:
        known = self._constants.get(id(one))
        if known is None:
            if not isinstance(one.type, ArrayType):
                raise CannotError("constants that are tuples are not executed")
            if "..." in one.inside:
                if one.type.kind != "float":
                    raise CannotError(f"the text leaves out the values of constant {one.name}")
                self.left_out.add(f"{one.name} {one.type}")
                made = random(one.type, f"constant {one.name}", self._sample, self._wide)
                known = made if isinstance(made, np.ndarray) else np.zeros(one.type.dims)
            else:
                known = literal(one.inside, one.type, self._wide)
            self._constants[id(one)] = known
        return known

    def _control(self, one: Instruction, operands: list[Value], depth: int, many: bool) -> Value:
        match one.opcode:
            case "tuple":
                return tuple(operands)
            case "get-tuple-element":
                whole, at = operands[0], one.int("index")
                if not isinstance(whole, tuple) or not 0 <= at < len(whole):
                    raise InvalidError(f"{one.name} is an element that its tuple has not")
                return whole[at]
            case "opt-barrier" | "optimization-barrier":
                return operands[0]
            case "iota":
                return self._iota(one)
            case "call" | "fusion":
                return self._call(one, 0, operands, depth, many)
            case "map":
                return self._call(one, 0, operands, depth, True)
            case "while":
                return self._while(one, operands[0], depth)
            case "conditional":
                return self._conditional(one, operands, depth)
            case "copy-start":
                return operands[0], operands[0], np.zeros((), np.uint32)
            case _:  # copy-done
                whole = operands[0]
                return whole[0] if isinstance(whole, tuple) else whole

    def _iota(self, one: Instruction) -> Values:
        kind = one.type
        if not isinstance(kind, ArrayType):
            raise InvalidError(f"iota {one.name} is no array")
        at = one.int("iota_dimension")
        if not 0 <= at < len(kind.dims):
            raise InvalidError(f"iota {one.name} has no dimension {at}")
        shape = [1] * len(kind.dims)
        shape[at] = kind.dims[at]
        row = rounded(np.arange(kind.dims[at]), kind.dtype, self._wide)
        return np.broadcast_to(row.reshape(shape), kind.dims)

    def _call(
        self, one: Instruction, which: int, given: list[Value], depth: int, many: bool = False
    ) -> Value:
        if which >= len(one.called):
            raise InvalidError(f"{one.opcode} {one.name} calls nothing")
        called = self._module.computations[one.called[which]]
        if len(called.parameters) != len(given):
            raise InvalidError(f"{one.opcode} {one.name} calls with other parameters")
        return self._computation(called, given, depth + 1, many)

    def _named(self, one: Instruction, attribute: str) -> int:
        """Which of the called computations an attribute names."""
        name = one.attributes.get(attribute, "").lstrip("%")
        if name not in one.called:
            raise InvalidError(f"{one.opcode} {one.name} has no {attribute}")
        return one.called.index(name)

    def _while(self, one: Instruction, state: Value, depth: int) -> Value:
        condition, body = self._named(one, "condition"), self._named(one, "body")
        while True:
            goes_on = self._call(one, condition, [state], depth)
            if not isinstance(goes_on, np.ndarray) or goes_on.size != 1:
                raise InvalidError(f"the condition of {one.name} is no pred[]")
            if not bool(goes_on):
                return state
            self._turns -= 1
            if self._turns < 0:
                raise LimitError(f"its loops have more than {TURNS:,} iterations")
            state = self._call(one, body, [state], depth)

    def _conditional(self, one: Instruction, operands: list[Value], depth: int) -> Value:
        chosen, *given = operands
        if not isinstance(chosen, np.ndarray) or chosen.size != 1:
            raise InvalidError(f"what {one.name} branches on is no scalar")
        if "true_computation" in one.attributes:
            branches = [self._named(one, f"{way}_computation") for way in ("true", "false")]
            at = 0 if bool(chosen) else 1
        else:
            branches = [*range(len(one.called))]
            number = (0 if bool(chosen) else 1) if chosen.dtype == bool else int(chosen)
            at = number if 0 <= number < len(branches) else len(branches) - 1
        if len(given) != len(branches):
            raise InvalidError(f"conditional {one.name} has other operands than branches")
        return self._call(one, branches[at], [given[at]], depth)

    def _elements(
        self, one: Instruction, given: list[Values], types: list[ArrayType], many: bool
    ) -> Values:
        result = one.type
        if not isinstance(result, ArrayType):
            raise InvalidError(f"{one.opcode} {one.name} is no array")
        if one.opcode in _SAME_KIND and any(t.kind != result.kind for t in types):
            raise InvalidError(f"{one.opcode} {one.name} of {types[0]} gives {result}")
        scalars = one.opcode in ("clamp", "select")
        for kind in types:
            if not many and kind.dims != result.dims and not (scalars and not kind.dims):
                raise InvalidError(f"{one.opcode} {one.name} of {kind} gives {result}")
        return elements.compute(one, given, types, self._wide)

    def _combined(
        self, one: Instruction, given: list[Values], types: list[ArrayType], depth: int
    ) -> Value:
        work = sums.cost(one, types, one.type)
        is_float = types[0].kind in ("float", "complex")
        self._take(work // 16 if is_float and one.opcode in ("dot", "convolution") else work)

        def combine(which: int) -> sums.Combine:
            def call(values: list[Values]) -> list[Values]:
                made = self._call(one, which, list(values), depth, True)
                parts = made if isinstance(made, tuple) else (made,)
                shape = np.broadcast_shapes(*(v.shape for v in values))
                arrays = [np.broadcast_to(p, shape) for p in parts if isinstance(p, np.ndarray)]
                if len(arrays) != len(parts):
                    raise InvalidError(f"what {one.name} calls gives no scalars")
                return arrays

            return call

        match one.opcode:
            case "dot":
                return sums.dot(one, given)
            case "convolution":
                return sums.convolution(one, given)
            case "gather":
                return indexed.gather(one, given)
            case "select-and-scatter":
                select, scatter = self._named(one, "select"), self._named(one, "scatter")
                return sums.select_and_scatter(one, given, combine(select), combine(scatter))
            case "sort":
                made = sums.sort(one, given, types, combine(0), _SORTED)
            case "reduce":
                made = sums.reduce(one, given, combine(0))
            case "reduce-window":
                made = sums.reduce_window(one, given, combine(0))
            case _:
                made = indexed.scatter(one, given, combine(0))
        return tuple(made) if isinstance(one.type, TupleType) else made[0]

    def _as(self, made: Value, kind: Type) -> Value:
        """As arrays in the dtypes of a type."""
        if not isinstance(made, tuple):
            array = np.asarray(made)
            return rounded(array, kind.dtype, self._wide) if isinstance(kind, ArrayType) else array
        if isinstance(kind, ArrayType) or len(made) != len(kind.parts):
            return made
        return tuple(self._as(v, k) for v, k in zip(made, kind.parts, strict=True))

    def _hold(self, one: Instruction, made: Value, many: bool) -> None:
        """Raises InvalidError where a value is not what its instruction states."""
        if not many and not _fits(made, one.type):
            raise InvalidError(f"{one.opcode} {one.name} gives {_shape(made)}, and not {one.type}")


def _is_scalar(kind: Type) -> bool:
    if isinstance(kind, TupleType):
        return all(_is_scalar(part) for part in kind.parts)
    return not kind.dims


def _size(kind: Type) -> int:
    """Elements that an instruction of this type makes; the parts of a tuple are there already."""
    return kind.size if isinstance(kind, ArrayType) else 0


def _fits(value: Value, kind: Type) -> bool:
    if isinstance(kind, TupleType):
        same = isinstance(value, tuple) and len(value) == len(kind.parts)
        return same and all(_fits(v, k) for v, k in zip(value, kind.parts, strict=True))
    return isinstance(value, np.ndarray) and value.shape == kind.dims


def _shape(value: Value) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_shape, value))})"
    return str([*value.shape])
