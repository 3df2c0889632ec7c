"""What differs between C, CUDA C++ and HIP C++, as data.

Holds no node: `cstyle.py` walks programs, `cstyle_ops.py` writes expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from core.render.c_lines.matrix import Helper


@dataclass(frozen=True)
class Dialect:
    """One language of the C family.

    `kernel` is the text before a function's name, with {threads} for the size of its work group;
    `helper` the qualifiers of helper functions; `restrict` the qualifier of pointers; `shared` that
    of shared memory, with {align}; `special` maps the prefix of a hardware index to the text
    before x, y or z; `shuffle` is the value of {x} in the lane whose number is this one's XOR
    {mask}; `bitcast` reads the bits of {x}, of type {source}, as {target}; `struct` declares a
    vector type called {name} of {count} times {type}; `literal` is a value of it;
    `product` writes the helper of a matrix instruction; `matrices` the lines of an LDMATRIX, of a
    name, a struct, an address, how many matrices and whether transposed;
    `infinity` and `nan` are those values as float; `needs` are lines, by dtype, that reject a
    compiler without its type, with what has it.
    """

    language: str
    header: tuple[str, ...]
    kernel: str
    helper: str
    restrict: str
    types: Mapping[str, str]
    struct: str
    literal: str
    bitcast: str
    shared: str = ""
    barrier: str = ""
    special: Mapping[str, str] = field(default_factory=dict[str, str])
    shuffle: str = ""
    aligned: bool = False
    product: Callable[[Helper], tuple[str, ...]] | None = None
    matrices: Callable[[str, str, str, int, bool], tuple[str, ...]] | None = None
    infinity: str = "INFINITY"
    nan: str = "NAN"
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


TYPES: Mapping[str, str] = {
    "bool": "bool", "int8": "signed char", "uint8": "unsigned char", "int16": "short",
    "uint16": "unsigned short", "int32": "int", "uint32": "unsigned int", "int64": "long long",
    "uint64": "unsigned long long", "float32": "float", "float64": "double",
    "fp8e4m3": "unsigned char", "fp8e5m2": "unsigned char",
}  # fmt: skip
"""The types that every language has under one name. 8-bit floats are kept as their bits."""
