"""Checks the types and names of arguments at the user's call, by the annotations of methods.

The annotations are read once, so no method has to check types by hand. Values (axes out of range,
shapes that do not fit) are checked by the methods themselves.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Set
from numbers import Real
from operator import index
from types import FunctionType
from typing import Any, Final, TypeAlias

import numpy as np

from core.dtype import DType
from core.errors import DTypeError
from core.uop.uop import UOp

Accepts: TypeAlias = Callable[[Any], bool]
Check: TypeAlias = Callable[[tuple[Any, ...], Mapping[str, Any]], None]


def _is_int(value: Any) -> bool:
    try:
        index(value)
    except (TypeError, DTypeError):  # a Tensor raises the second
        return False
    return True


def _is_flag(value: object) -> bool:
    return isinstance(value, bool | np.bool_) or (isinstance(value, int) and value in (0, 1))


def _each(accepts: Accepts) -> Accepts:
    """Lists, tuples and the like of what `accepts` takes."""

    def check(value: object) -> bool:
        if isinstance(value, str | bytes | Mapping | Set) or not isinstance(value, Iterable):
            return False
        # of an array, the first element stands for all
        return all(map(accepts, value.flat[:1] if isinstance(value, np.ndarray) else value))

    return check


def _is_pair(value: Any) -> bool:
    return value is None or (_each(_is_int)(value) and len(list(value)) == 2)


_ints: Final = _each(_is_int)


def _is_int_or_none(value: object) -> bool:
    return value is None or _is_int(value)


def _is_number(value: object) -> bool:
    return isinstance(value, Real | np.bool_)


def _of(*types: type[Any]) -> Accepts:
    return lambda value: isinstance(value, types)


def _either(*kinds: Accepts) -> Accepts:
    first, *others = kinds
    if not others:
        return first
    rest = _either(*others)
    return lambda value: first(value) or rest(value)  # at every call: no loop, no generator


def _is_part(value: object) -> bool:
    """Whether a value is a pair whose ends may be values of variables, or None."""
    return _is_sizes(value)


def _is_device(value: object) -> bool:
    return (
        value is None or isinstance(value, str) or _each(lambda name: isinstance(name, str))(value)
    )


def _is_size(value: object) -> bool:
    """Whether a value is an integer, or one of variables."""
    return isinstance(value, UOp) or _is_int(value)


_sizes: Final = _each(_is_size)


def _is_sizes(value: Any) -> bool:
    """Whether a value is a pair of such, or None."""
    return value is None or (_sizes(value) and len(list(value)) == 2)


Kind: TypeAlias = tuple[str, Accepts]
_KINDS: Final[Mapping[str, Kind]] = {
    "None": ("None", _of(type(None))),
    "int": ("an integer", _is_int),
    "float": ("a number", _is_number),
    "ConstType": ("a number", _is_number),
    "Number": ("a number", _either(_is_number, _of(UOp))),
    "bool": ("True or False", _is_flag),
    "str": ("text", _of(str)),
    "bytes": ("bytes", _of(bytes, bytearray)),
    "memoryview": ("memory", _of(memoryview)),
    "Array": ("a NumPy array", _of(np.ndarray)),
    "DTypeLike": ("a dtype or its name", _of(DType, str)),
    "DeviceLike": ("the name of a device, or of several", _is_device),
    "Sequence[str]": ("names", _each(_of(str))),
    "Sequence[int]": ("integers", _ints),
    "Sequence[int | None]": ("integers or None", _each(_is_int_or_none)),
    "Sequence[float]": ("numbers", _each(_is_number)),
    "Sequence[tuple[int, int] | None]": ("a pair or None per axis", _each(_is_pair)),
    "Sequence[tuple[int, int | UOp] | None]": ("a pair or None per axis", _each(_is_part)),
    "Sequence[Callable[[Tensor], Tensor]]": ("functions", _each(callable)),
    "Callable[..., Any]": ("a function", callable),
    "Callable[[int], float]": ("a function", callable),
    "Axes": ("an axis, several, or None", _either(_of(type(None)), _is_int, _ints)),
    "Sizes": ("an integer or several", _either(_is_int, _ints)),
    "Widths": ("integers, or a pair or None per axis", _either(_sizes, _each(_is_sizes))),
}
"""Per annotation: its name in errors, and what it accepts."""
ANYTHING: Final = frozenset(
    {
        *("Any", "object", "Data", "UOp", "Item", "tuple[Item, ...]", "Sequence[Any]"),
        "Callable[..., UOp]",
    }
)
"""Annotations that the methods check themselves, with more specific errors."""
_UNION: Final = re.compile(r" \| (?![^\[]*\])")


def kinds_of(annotation: str, cls: type[Any]) -> list[Kind] | None:
    """What a parameter accepts, where `Tensor` is the class `cls`; None: anything, or an annotation
    that is not known here."""
    parts = _UNION.split(annotation)
    if ANYTHING.intersection(parts) or {"Tensor", "Number"}.issubset(parts):
        return None
    tensor: Kind = ("a Tensor", _of(cls))
    found: dict[str, Kind] = {**_KINDS, "Tensor": tensor}
    found["Sequence[Tensor]"] = ("Tensors", _each(tensor[1]))
    return [found[part] for part in parts] if found.keys() >= set(parts) else None


def check_of(
    function: FunctionType, cls: type[Any], static: bool = False, tensor: type[Any] | None = None
) -> Check | None:
    """The check of the arguments of a public method of `cls`; None where nothing is checked. The
    first is the object or class that it is called on, unless the method is `static`. `tensor`: the
    class of Tensors, where that is another; then the number of arguments is checked, too.

    The check raises DTypeError.
    """
    named: dict[str, Kind] = {}
    places: list[str] = []
    keywords: list[str] = []
    open_ended = False
    rest = ""
    called = function.__name__.removeprefix("__").removesuffix("__")
    called = (
        cls.__name__
        if called == "init"
        else called
        if tensor is None
        else (f"{cls.__name__}.{called}")
    )
    needed: list[str] = []
    for name, parameter in _parameters(function).items():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            places.append(name)
        if places == [name] and not static:
            continue
        if parameter.default is parameter.empty and parameter.kind in _GIVEN:
            needed.append(name)
        open_ended |= parameter.kind is parameter.VAR_KEYWORD
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            keywords.append(name)
        several = parameter.kind is parameter.VAR_POSITIONAL
        rest = name if several else rest
        text = parameter.annotation
        if text is parameter.empty or parameter.kind is parameter.VAR_KEYWORD:
            continue
        # lengths that are given one by one are checked by `as_ints`
        kinds = None if several and "int" in text else kinds_of(text, tensor or cls)
        if kinds is not None:
            words = " or ".join(words for words, _ in kinds)
            named[name] = (words, _either(*(accepts for _, accepts in kinds)))
    if not named and open_ended:
        return None

    def refuse(name: str, value: object) -> None:
        raise DTypeError(
            f"{called}: {name} is {_short(value)}",
            hint=f"{name} takes {named[name][0]}",
        )

    def check(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        for i, value in enumerate(args):
            name = places[i] if i < len(places) else rest
            if (kind := named.get(name)) is not None and not kind[1](value):
                refuse(name, value)
        for name, value in kwargs.items():
            if name not in keywords and not open_ended:
                raise DTypeError(
                    f"{called} has no argument called {name}",
                    hint=f"by name it takes {', '.join(keywords) or 'nothing'}",
                )
            if (kind := named.get(name)) is not None and not kind[1](value):
                refuse(name, value)

    if tensor is None:
        return check

    def check_all(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        check(args, kwargs)
        if len(args) > len(places) and not rest:
            raise DTypeError(
                f"{called} with {len(args) - 1} arguments by place",
                hint=f"it takes {', '.join(places[1:]) or 'none'}",
            )
        given = {*places[: len(args)], *kwargs}
        if missing := [name for name in needed if name not in given]:
            raise DTypeError(
                f"{called} without {' and '.join(missing)}",
                hint=f"it takes {', '.join(keywords)}",
            )

    return check_all


_GIVEN: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def _parameters(function: FunctionType) -> Mapping[str, inspect.Parameter]:
    """The parameters of a function, those of a TypedDict (`**more: Unpack[T]`) one by one."""
    found: dict[str, inspect.Parameter] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        unpacked = re.fullmatch(r"Unpack\[(\w+)\]", str(parameter.annotation))
        if parameter.kind is not parameter.VAR_KEYWORD or unpacked is None:
            found[name] = parameter
            continue
        for key, kind in inspect.get_annotations(function.__globals__[unpacked[1]]).items():
            text = getattr(kind, "__forward_arg__", kind)
            found[key] = inspect.Parameter(
                key, parameter.KEYWORD_ONLY, default=None, annotation=text
            )
    return found


def _short(value: object) -> str:
    text = f"{value!r} ({type(value).__name__})"
    return text if len(text) <= 80 and "\n" not in text else f"of type {type(value).__name__}"
