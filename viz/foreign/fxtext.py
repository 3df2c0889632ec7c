"""The text of an FX graph as a program: its statements in order, as plain data that a worker
executes.

A text is a stranger's: it is parsed, and only what has a meaning as data is taken. Never evaluates
or imports anything. Sizes that are symbols get numbers, the same for the same symbol.
"""

from __future__ import annotations

import ast
import json
import re
import zlib
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from viz.importers.snapshot import Op
from viz.importers.torch import fx

_TYPE: Final = re.compile(r"(\w+)\[([^\]]*)\](?:\[([^\]]*)\])?")
_SYMBOL: Final = re.compile(r"Sym\((.*)\)$")
_OVERLOAD: Final = re.compile(r"\.(\w+)(?: |$)")
_OPERAND: Final = re.compile(r"\$(\d+)")
_SLOT: Final = re.compile(r"operand_(\d+)$")
_DTYPES: Final[Mapping[str, str]] = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "i64": "int64",
    "i32": "int32",
    "i16": "int16",
    "i8": "int8",
    "u8": "uint8",
    "b8": "bool",
    "c64": "complex64",
    "c128": "complex128",
}
_NAMESPACES: Final = ("aten.", "prims.")
_EFFECTS: Final = ("call", "module")
"""Statements that may do anything."""
_SILENT: Final = ("torch.set_grad_enabled",)
"""What changes no value."""
_LARGEST: Final = 1 << 53
_DEEPEST: Final = 100


class CannotError(Exception):
    """A text cannot be executed; its own text says why."""


@dataclass(frozen=True)
class Input:
    """What a graph is given: the statement that makes it, its dtype, and its sizes as a text."""

    at: int
    dtype: str
    sizes: str


Statement = tuple[str, str, str, str, tuple[int, ...]]
"""Op, dtype, arguments as JSON in which `$0` is the first source, shape, numbers of its sources."""


@dataclass
class Program:
    """A graph: its statements in order, and of these what is given, by name, all names, and what it
    returns: numbers of statements, None where that is no value of the graph."""

    statements: list[Statement] = field(default_factory=lambda: list[Statement]())
    inputs: dict[str, Input] = field(default_factory=dict[str, Input])
    names: dict[str, int] = field(default_factory=dict[str, int])
    outputs: list[int | None] = field(default_factory=lambda: list[int | None]())


def program(text: str, given: Program | None = None, free: Container[str] = ()) -> Program:
    """The graph of a text. `given`: a program whose values are its inputs, by their names, but for
    those that are `free`; what comes is both. Raises CannotError."""
    snapshot = fx.parse(text)
    if snapshot.odd or not snapshot.ops:
        raise CannotError(f"{snapshot.odd:,} lines of the text are not understood")
    (block,) = snapshot.root.blocks
    return _Maker(given, free).program(block.ops)


class _Maker:
    def __init__(self, given: Program | None, free: Container[str]) -> None:
        self._given, self._free = given, free
        self._made = Program() if given is None else Program([*given.statements], {**given.inputs})
        self._places: dict[Op, int] = {}

    def program(self, ops: list[Op]) -> Program:
        needed = _needed(ops)
        for op in ops:
            if op not in needed:
                continue
            if op.name == "placeholder":
                self._input(op)
            elif op.name == "output":
                self._returned(op)
            else:
                self._put(op, *self._called(op))
        return self._made

    def _put(self, op: Op, name: str, arguments: list[Any], shape: str = "") -> None:
        made = self._made
        dtype = _named_dtype(arguments) or _type(op.type)[0]
        sources = tuple(self._place(value.of) for value in op.operands)
        self._places[op] = len(made.statements)
        if op.key:
            made.names[op.key] = len(made.statements)
        made.statements.append((name, dtype, json.dumps(arguments), shape, sources))

    def _place(self, of: object) -> int:
        found = self._places.get(of) if isinstance(of, Op) else None
        if found is None:
            raise CannotError("a value is read that nothing in the text makes")
        return found

    def _input(self, op: Op) -> None:
        if self._given is not None:
            known = self._given.names.get(op.key)
            if known is not None:
                self._places[op] = self._made.names[op.key] = known
                return
            if op.key not in self._free:
                raise CannotError(f"{op.key} is no value of the graph before")
        symbol = _SYMBOL.match(op.type)
        at = len(self._made.statements)
        if symbol is not None:
            self._put(op, "number", [_size(symbol[1])])
            self._made.inputs[op.key] = Input(at, "int", symbol[1])
            return
        dtype, sizes, strides = _type(op.type)
        if not dtype or sizes is None:
            raise CannotError(f"the type of {op.key} is not known: {op.type[:60]}")
        self._put(op, "placeholder", _layout(op.key, sizes, strides))
        self._made.inputs[op.key] = Input(at, dtype, str(sizes))

    def _returned(self, op: Op) -> None:
        expression = _expression(op.text or "$0")
        if isinstance(expression, ast.Call):  # pytree.tree_unflatten([...], spec)
            expression = expression.args[0] if expression.args else expression
        parts = expression.elts if isinstance(expression, (ast.Tuple, ast.List)) else [expression]
        for part in parts:
            found = _SLOT.match(part.id) if isinstance(part, ast.Name) else None
            if found is not None:
                self._made.outputs.append(self._place(op.operands[int(found[1])].of))
            elif isinstance(part, ast.Constant):
                self._made.outputs.append(None)
            else:
                raise CannotError("the graph returns what is neither a value nor a constant")

    def _called(self, op: Op) -> tuple[str, list[Any]]:
        """What a statement calls, and with which arguments."""
        if op.name in _EFFECTS:
            raise CannotError(f"there is no meaning of this here: {op.text[:60]}")
        if op.name == "get_attr":
            dtype, sizes, strides = _type(op.type)
            if not dtype or sizes is None:
                raise CannotError(f"the type of {op.text[:60]} is not known")
            return "get_attr", _layout(op.text, sizes, strides)
        name, text = op.name, op.text
        if name.startswith(_NAMESPACES):
            found = _OVERLOAD.match(text)
            name = f"{name}.{found[1] if found else 'default'}"
            text = text[found.end() :] if found else text
        elif name.startswith("Tensor."):
            name = name.removeprefix("Tensor")
        text = text or ", ".join(f"${at}" for at in range(len(op.operands)))
        call = _expression(f"f({text})")
        if not isinstance(call, ast.Call):
            raise CannotError(f"the arguments of {op.name} are not understood")
        arguments = [_argument(one) for one in call.args]
        if call.keywords:
            arguments.append({"kw": {str(k.arg): _argument(k.value) for k in call.keywords}})
        return name, arguments


def writes(name: str) -> bool:
    """Whether an op, such as `aten.copy_` or `Tensor.add_`, writes what it is given."""
    last = name.split(".")[1 if "." in name else 0]
    return last.endswith("_") and not last.endswith("__")


def _needed(ops: list[Op]) -> set[Op]:
    """What the result follows from: what is returned, what writes, and what these read."""
    found: set[Op] = set()
    stack = [op for op in ops if op.name in ("output", "placeholder")]
    stack += [
        op
        for op in ops
        if writes(op.name) or (op.name in _EFFECTS and not op.name.startswith(_SILENT))
    ]
    while stack:
        op = stack.pop()
        if op not in found:
            found.add(op)
            stack += [value.of for value in op.operands if isinstance(value.of, Op)]
    return found


def _expression(text: str) -> ast.expr:
    """The operands of an expression are names in it. Raises CannotError."""
    try:
        return ast.parse(_OPERAND.sub(r"operand_\1", text), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise CannotError(f"not understood: {text[:60]}") from None


def _argument(expression: ast.expr, depth: int = 0) -> Any:
    """An argument as typed JSON; `$0` is the first source. Raises CannotError."""
    if depth > _DEEPEST:
        raise CannotError("an argument is nested too deep")
    match expression:
        case ast.Constant(value=bool() | None as value):
            return value
        case ast.Constant(value=int() as value):
            return value if abs(value) < _LARGEST else {"int": str(value)}
        case ast.Constant(value=float() as value):
            return {"float": repr(value)}
        case ast.Constant(value=str() as value):
            return {"text": value}
        case ast.Constant(value=value) if value is ...:
            return {"ellipsis": True}
        case ast.Name(id="Ellipsis"):
            return {"ellipsis": True}
        case ast.Name(id="inf" | "nan" as name):
            return {"float": name}
        case ast.Name(id=name) if (slot := _SLOT.match(name)) is not None:
            return f"${slot[1]}"
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _negative(_argument(operand, depth + 1))
        case ast.List(elts=parts):
            return [_argument(part, depth + 1) for part in parts]
        case ast.Tuple(elts=parts):
            return {"tuple": [_argument(part, depth + 1) for part in parts]}
        case ast.Slice(lower=lower, upper=upper, step=step):
            parts = (lower, upper, step)
            return {"slice": [None if p is None else _argument(p, depth + 1) for p in parts]}
        case ast.Call(func=ast.Name(id="slice"), args=parts, keywords=[]) if len(parts) == 3:
            return {"slice": [_argument(part, depth + 1) for part in parts]}
        case ast.Call(func=ast.Name(id="device")):
            return {"device": "cpu"}
        case ast.Attribute(value=ast.Name(id="torch"), attr=name):
            return {"torch": f"torch.{name}"}
        case _:
            raise CannotError(f"an argument is not understood: {ast.unparse(expression)[:60]}")


def _named_dtype(arguments: list[Any]) -> str:
    """The dtype that is among the arguments of a conversion."""
    stack: list[Any] = [*arguments]
    while stack:
        match stack.pop():
            case {"torch": str(name)} if name.removeprefix("torch.") in _DTYPES.values():
                return name.removeprefix("torch.")
            case {"kw": dict() as named}:
                stack += cast("dict[str, Any]", named).values()
            case _:
                continue
    return ""


def _negative(value: Any) -> Any:
    match value:
        case int() if type(value) is int:
            return -value
        case {"float": str(text)}:
            return {"float": f"-{text}"}
        case {"int": str(text)}:
            return {"int": f"-{text}"}
        case _:
            raise CannotError("an argument is the negative of what is no number")


def _layout(name: str, sizes: list[int], strides: list[int] | None) -> list[Any]:
    made: list[Any] = [{"text": name}, {"shape": sizes}]
    return made if strides is None else [*made, {"stride": strides}]


def _type(text: str) -> tuple[str, list[int] | None, list[int] | None]:
    """Dtype, sizes and strides of `f32[4, 8][8, 1]cpu`; "" and None where they are not known."""
    found = _TYPE.match(text)
    if found is None:
        return "", None, None
    sizes = [_size(part) for part in found[2].split(",") if part.strip()]
    strides = [_size(part) for part in (found[3] or "").split(",") if part.strip()]
    return _DTYPES.get(found[1], ""), sizes, strides if len(strides) == len(sizes) else None


def _size(text: str) -> int:
    """A size: a number, or an expression of symbols. Raises CannotError."""
    try:
        return _evaluated(ast.parse(text.strip(), mode="eval").body, 0)
    except (SyntaxError, ValueError, RecursionError, MemoryError, ZeroDivisionError):
        raise CannotError(f"a size is not understood: {text[:60]}") from None


def _evaluated(expression: ast.expr, depth: int) -> int:
    if depth > _DEEPEST:
        raise CannotError("a size is nested too deep")
    match expression:
        case ast.Constant(value=int() as value) if abs(value) < _LARGEST:
            return value
        case ast.Name(id=name):
            return 4 + 2 * (zlib.crc32(name.encode()) % 4)
        case ast.BinOp(left=left, op=operator, right=right):
            a, b = _evaluated(left, depth + 1), _evaluated(right, depth + 1)
            match operator:
                case ast.Add():
                    made = a + b
                case ast.Sub():
                    made = a - b
                case ast.Mult():
                    made = a * b
                case ast.FloorDiv():
                    made = a // b
                case ast.Mod():
                    made = a % b
                case ast.Pow() if 0 <= b <= 8:
                    made = a**b
                case _:
                    raise CannotError("a size has an operator that is not known")
            if abs(made) >= _LARGEST:
                raise CannotError("a size is too large")
            return made
        case _:
            raise CannotError(f"a size is not understood: {ast.unparse(expression)[:60]}")
