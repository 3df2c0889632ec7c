"""Pickles, read as plain values: numbers, text, bytes, lists, tuples and dicts. Sets become lists.

A machine of its own for the opcodes of protocols 0 to 5. It imports nothing, calls nothing but the
two functions that a caller gives it, and knows no opcode for attributes, classes or registered
extensions. What is read takes time and memory in proportion to the pickle.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar, cast

T = TypeVar("T")
Call = Callable[[str, tuple[object, ...]], object]
"""What a pickle's call of the function `module.name` with arguments gives."""

_PUSHES: Final = frozenset({
    "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT",
    "UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8",
    "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8",
})  # fmt: skip
"""Opcodes whose argument is the value."""
_CONSTANTS: Final = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_TUPLES: Final = {"EMPTY_TUPLE": 0, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_KEYS: Final = (str, int, float, bytes, type(None))


class Named:
    """A function or class that a pickle names. It is never looked up."""

    def __init__(self, module: object, name: object) -> None:
        self.name = f"{module}.{name}"


class _Machine:
    """The stack of a pickle, and the values that it gave numbers."""

    def __init__(self, call: Call, persistent: Callable[[object], object]) -> None:
        self._call, self._persistent = call, persistent
        self._stack: list[Any] = []
        self._marks: list[list[Any]] = []
        self._memo: dict[int, object] = {}

    def run(self, text: bytes) -> object:
        """The value of a whole pickle."""
        for opcode, arg, _ in pickletools.genops(text):
            if opcode.name == "STOP":
                return self._stack.pop()
            self._step(opcode.name, arg)
        raise ValueError("it does not end")  # genops says so first

    def _step(self, op: str, arg: Any) -> None:
        stack = self._stack
        match op:
            case "PROTO" | "FRAME":
                pass
            case "MARK":
                self._marks.append(stack)
                self._stack = []
            case "POP":
                stack.pop()
            case "POP_MARK":
                self._marked()
            case "DUP":
                stack.append(stack[-1])
            case "PUT" | "BINPUT" | "LONG_BINPUT":
                self._memo[int(arg)] = stack[-1]
            case "MEMOIZE":
                self._memo[len(self._memo)] = stack[-1]
            case "GET" | "BINGET" | "LONG_BINGET":
                stack.append(self._memo[int(arg)])
            case "EMPTY_LIST" | "EMPTY_SET":
                stack.append([])
            case "LIST" | "FROZENSET":
                self._push(self._marked())
            case "TUPLE":
                self._push(tuple(self._marked()))
            case "APPEND":
                value = stack.pop()
                _of(list, stack[-1]).append(value)
            case "APPENDS" | "ADDITEMS":
                values = self._marked()
                _of(list, self._stack[-1]).extend(values)
            case "EMPTY_DICT":
                stack.append({})
            case "DICT":
                self._push(_items({}, self._marked()))
            case "SETITEM":
                value, key = stack.pop(), stack.pop()
                _items(stack[-1], [key, value])
            case "SETITEMS":
                values = self._marked()
                _items(self._stack[-1], values)
            case "GLOBAL":
                stack.append(Named(*arg.split(" ", 1)))
            case "STACK_GLOBAL":
                name, module = _of(str, stack.pop()), _of(str, stack.pop())
                stack.append(Named(module, name))
            case "REDUCE" | "NEWOBJ":
                args = _of(tuple, stack.pop())
                stack.append(self._call(_of(Named, stack.pop()).name, args))
            case "BUILD":  # attributes: a plain dict has none
                stack.pop()
                _of(dict, stack[-1])
            case "BINPERSID":
                stack.append(self._persistent(stack.pop()))
            case _ if op in _PUSHES:
                stack.append(arg)
            case _ if op in _CONSTANTS:
                stack.append(_CONSTANTS[op])
            case _ if op in _TUPLES:
                start = len(stack) - _TUPLES[op]
                if start < 0:
                    raise ValueError("it takes values that it has not made")
                stack[start:] = [tuple(stack[start:])]
            case _:
                raise ValueError(f"its opcode {op} is not read")

    def _push(self, value: object) -> None:
        self._stack.append(value)

    def _marked(self) -> list[Any]:
        values, self._stack = self._stack, self._marks.pop()
        return values


def plain_value(text: bytes, call: Call, persistent: Callable[[object], object]) -> object:
    """What a pickle describes. `call` gives the values of its calls, `persistent` those that it
    keeps elsewhere. Classes and functions that it names are `Named`.

    Raises ValueError, TypeError, LookupError or OverflowError for what is no pickle, and ValueError
    for opcodes that make anything else."""
    return _Machine(call, persistent).run(text)


def _of(kind: type[T], value: object) -> T:
    if not isinstance(value, kind):
        raise TypeError(f"it has a {type(value).__name__} where a {kind.__name__} belongs")
    return value


def _items(into: object, values: Iterable[object]) -> dict[object, object]:
    """Puts keys and values, which alternate, into a dict. Hashing a tuple of tuples may take
    forever, so keys are plain."""
    known = cast("dict[object, object]", _of(dict, into))
    parts = list(values)
    for key, value in zip(parts[::2], parts[1::2], strict=True):
        if not isinstance(key, _KEYS):
            raise TypeError(f"it has a key that is a {type(key).__name__}")
        known[key] = value
    return known
