"""Reads pickles without running anything of them: whatever class or function one names is an inert
record of its name and of what it was given.

Python's own unpickler in Python is used: the one in C makes room for as much as a hostile file
says. What does not end in time, or holds too much, raises TraceError.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any, Final, cast

from core.errors import BudgetError, TraceError
from viz.budget import Budget, take, within

MAX_BYTES: Final = 256 << 20
_MAX_NAMES: Final = 500
"""Classes and functions that a file may name."""
_SECONDS: Final = 120.0
_ITEMS: Final = 200_000_000
_MEMORY: Final = 4 << 30
_RECORD: Final = 300
"""Bytes of a record."""
_CONTAINER: Final = 80
"""Bytes of a container, about."""
_CONTAINERS: Final = (
    *(pickle.EMPTY_LIST, pickle.EMPTY_DICT, pickle.EMPTY_SET, pickle.FROZENSET, pickle.LIST),
    *(pickle.DICT, pickle.TUPLE, pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3, pickle.MARK),
)
"""The opcodes that make containers."""


class Record:
    """What a pickle has instead of an object. `named`: its class; `given`: the arguments it was to
    be made with; `fields`: its attributes."""

    named = ""

    given: tuple[Any, ...]
    fields: Mapping[str, Any]

    def __new__(cls, *given: Any) -> Record:
        take(4, _RECORD)
        record = super().__new__(cls)
        record.given, record.fields = given, {}
        return record

    def __setstate__(self, state: object) -> None:
        if isinstance(state, tuple):  # with slots: two of them
            parts = [one for one in cast("tuple[object, ...]", state) if isinstance(one, dict)]
        else:
            parts = [state] if isinstance(state, dict) else []
        self.fields = {
            key: value
            for part in parts
            for key, value in cast("dict[object, Any]", part).items()
            if isinstance(key, str)
        }


# the class is documented as what `pickle.Unpickler` is without C
_Unpickler: Final = pickle._Unpickler  # pyright: ignore[reportPrivateUsage]


def _counted(load: Callable[[Any], None]) -> Callable[[Any], None]:
    """A load of an opcode that makes a container: one byte of the file becomes many of memory."""

    def call(reader: Any) -> None:
        take(1, _CONTAINER)
        load(reader)

    return call


class _Reader(_Unpickler):
    dispatch = _Unpickler.dispatch | {
        code[0]: _counted(_Unpickler.dispatch[code[0]]) for code in _CONTAINERS
    }

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file, encoding="ascii", errors="replace")
        self._names: dict[tuple[str, str], type[Record]] = {}

    def find_class(self, module: str, name: str) -> type[Record]:
        """A record of this name: nothing is imported, and nothing looked up."""
        key = module, name
        if key not in self._names:
            if len(self._names) >= _MAX_NAMES:
                raise pickle.UnpicklingError("it names too many classes")
            self._names[key] = type("Record", (Record,), {"named": name})
        return self._names[key]

    def persistent_load(self, pid: object) -> None:
        """What is stored elsewhere is not there."""

    def get_extension(self, code: int) -> None:
        """Numbers that stand for classes are those of another process."""
        raise pickle.UnpicklingError("it names a class by a number")


def read(file: IO[bytes], where: str) -> Any:
    """What a pickle holds, of numbers, texts, bytes, tuples, lists, dicts, sets and Records. Raises
    TraceError."""
    file.seek(0, 2)
    if file.tell() > MAX_BYTES:
        raise TraceError(f"the file has more than {MAX_BYTES >> 20} MB", where)
    file.seek(0)
    try:
        with within(Budget("a pickle", seconds=_SECONDS, items=_ITEMS, memory=_MEMORY)):
            return _Reader(file).load()
    except BudgetError as error:
        raise TraceError("the pickle takes too long to read, or holds too much", where) from error
    except Exception as error:  # a stranger's bytes may fail in any way
        what = f"the pickle cannot be read: {type(error).__name__}: {str(error)[:100]}"
        raise TraceError(what, where) from error


def items(value: object) -> Sequence[Any]:
    """The items of a list or tuple; none of anything else."""
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else ()
