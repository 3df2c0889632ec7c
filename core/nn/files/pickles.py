"""Pickles, read as plain values: numbers, text, bytes, lists, tuples and dicts. Sets become lists.

A machine of its own for the opcodes of protocols 0 to 5. It imports nothing, calls nothing but the
two functions that a caller gives it, and knows no opcode for attributes, classes or registered
extensions. A few bytes may stand for millions of opcodes, and an opcode may use a long value once
more, so there are limits of the memory that all opcodes may take, which grows with the file, and of
every value that is used again.
"""

from __future__ import annotations

import pickletools
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar, cast

T = TypeVar("T")
Call = Callable[[str, tuple[object, ...]], object]
"""What a pickle's call of the function `module.name` with arguments gives."""

ROOM: Final = 1 << 24
ROOM_RATIO: Final = 64
"""Bytes that all opcodes may take: so many, and so many more per byte of the file. What PyTorch
writes of a Tensor is about 30 opcodes, which take 4 KiB, in 100 bytes and more."""
OPCODES_LIMIT: Final = 1 << 22
"""Most opcodes, and so values on the stack, however large the file is."""
_OPCODE: Final = 64
"""What each opcode takes, as values of the stack and then of a list or dict."""
_TAKEN: Final[Mapping[str, int]] = {
    **dict.fromkeys(("MARK", "EMPTY_LIST", "EMPTY_SET", "LIST", "FROZENSET"), 96),
    **dict.fromkeys(("EMPTY_DICT", "DICT", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"), 96),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"), 128),
    **dict.fromkeys(("REDUCE", "NEWOBJ", "BINPERSID"), 192),
}
"""Bytes that opcodes take beside that: objects with their heads, and places in dicts that grow."""
_NAME: Final = 512
"""Bytes of a name that is met first."""
MARKS_LIMIT: Final = 1000
"""How deep the parts that are begun may be nested; each has a stack of its own."""
ARGUMENTS_LIMIT: Final = 64
NAME_LIMIT: Final = 1024
INTEGER_LIMIT: Final = 1024
KEY_LIMIT: Final = 64
"""Most arguments of a call, characters of a name, bits of an integer, and of one that is a key:
many longer ones have equal hashes."""
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

    __slots__ = ("name",)

    def __init__(self, module: str, name: str) -> None:
        _limit("characters of a name", len(module) + len(name), NAME_LIMIT)
        self.name = f"{module}.{name}"


class _Machine:
    """The stack of a pickle, and the values that it gave numbers."""

    def __init__(self, call: Call, persistent: Callable[[object], object], room: int) -> None:
        self._call, self._persistent = call, persistent
        self._room, self._taken = room, 0
        self._names: dict[tuple[str, str], Named] = {}
        self._stack: list[Any] = []
        self._marks: list[list[Any]] = []
        self._memo: dict[int, object] = {}

    def run(self, text: bytes) -> object:
        """The value of a whole pickle."""
        for count, (opcode, arg, _) in enumerate(pickletools.genops(text)):
            if opcode.name == "STOP":
                return self._stack.pop()
            _limit("opcodes", count, OPCODES_LIMIT)
            self._take(_OPCODE + _TAKEN.get(opcode.name, 0))
            self._step(opcode.name, arg)
        raise ValueError("it does not end")  # genops says so first

    def _step(self, op: str, arg: Any) -> None:
        stack = self._stack
        match op:
            case "PROTO" | "FRAME":
                pass
            case "MARK":
                _limit("marks", len(self._marks), MARKS_LIMIT)
                self._marks.append(stack)
                self._stack = []
            case "POP":
                stack.pop()
            case "POP_MARK":
                self._marked()
            case "DUP":
                stack.append(stack[-1])
            case "PUT" | "BINPUT" | "LONG_BINPUT":
                self._remember(int(arg), stack[-1])
            case "MEMOIZE":
                self._remember(len(self._memo), stack[-1])
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
                module, name = arg.split(" ", 1)
                stack.append(self._named(module, name))
            case "STACK_GLOBAL":
                name, module = _of(str, stack.pop()), _of(str, stack.pop())
                stack.append(self._named(module, name))
            case "REDUCE" | "NEWOBJ":
                args = _of(tuple, stack.pop())
                _limit("arguments", len(args), ARGUMENTS_LIMIT)
                stack.append(self._call(_of(Named, stack.pop()).name, args))
            case "BUILD":  # attributes: a plain dict has none
                stack.pop()
                _of(dict, stack[-1])
            case "BINPERSID":
                stack.append(self._persistent(stack.pop()))
            case _ if op in _PUSHES:
                if isinstance(arg, int):
                    _limit("bits of an integer", arg.bit_length(), INTEGER_LIMIT)
                self._take(sys.getsizeof(arg))
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

    def _take(self, count: int) -> None:
        self._taken += count
        _limit("bytes of values", self._taken, self._room)

    def _named(self, module: str, name: str) -> Named:
        """One object for each name, however often it is met."""
        found = self._names.get((module, name))
        if found is None:
            found = self._names[module, name] = Named(module, name)
            self._take(_NAME + sys.getsizeof(found.name) + sys.getsizeof(module + name))
        return found

    def _remember(self, number: int, value: object) -> None:
        _limit("bits of a number", number.bit_length(), KEY_LIMIT)
        self._memo[number] = value

    def _push(self, value: object) -> None:
        self._stack.append(value)

    def _marked(self) -> list[Any]:
        values, self._stack = self._stack, self._marks.pop()
        return values


def plain_value(
    text: bytes, call: Call, persistent: Callable[[object], object], file_bytes: int
) -> object:
    """What a pickle in a file of `file_bytes` describes. `call` gives the values of its calls,
    `persistent` those that it keeps elsewhere. Classes and functions that it names are `Named`.

    Raises ValueError, TypeError, LookupError or OverflowError for what is no pickle, and ValueError
    for opcodes that make anything else, or more than a file of that size may."""
    return _Machine(call, persistent, ROOM + ROOM_RATIO * file_bytes).run(text)


def _limit(what: str, found: int, most: int) -> None:
    if found > most:
        raise ValueError(f"its pickle has more than {most:,} {what}")


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
        if isinstance(key, int):
            _limit("bits of a key", key.bit_length(), KEY_LIMIT)
        known[key] = value
    return known
