"""What differs between C, CUDA C++, HIP C++ and OpenCL C, as data.

Holds no node: `cstyle.py` walks programs, `cstyle_ops.py` writes expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from core.dtype import AddrSpace
from core.render.c_lines.matrix import Helper

SUFFIXES: Mapping[str, str] = {"uint32": "u", "int64": "ll", "uint64": "ull", "float32": "f"}
"""What ends a literal of a dtype; others need nothing."""


@dataclass(frozen=True)
class Images:
    """How a language reads and writes images: `header` is a line before functions; `reads` and
    `writes` declare the parameter {name}; `load` is the texel of {image} at {x}, {y}, and `store`
    the statement that makes it {value}."""

    header: str
    reads: str
    writes: str
    load: str
    store: str


@dataclass(frozen=True)
class Dialect:
    """One language of the C family.

    `kernel` is the text before a function's name, with {threads} for the size of its work group and
    {x}, {y} and {z} for that along each axis; `helper` the qualifiers of helper functions;
    `restrict` the qualifier of pointers, and `spaces` those that name the memory they point to;
    `shared` that of shared memory, with {align}; `special` maps the prefix of a hardware index to
    its text, with {axis} for x, y or z and {number} for 0, 1 or 2; `shuffle` is the value of {x} in
    the lane whose number is this one's XOR {mask}; `bitcast` reads the bits of {x}, of type
    {source}, as {target}; `vector` names the type of {count} elements of {dtype}, which is {type}
    here; `struct` declares it, unless the language has it; `literal` is a value of it, `element`
    the {lane} of {x}, which is one;
    `bits` are the floats that are kept as their bits; `suffixes` ends literals, by dtype, and
    `float_functions` the names of functions of float32;
    `product` writes the helper of a matrix instruction; `matrices` the lines of an LDMATRIX, of a
    name, a struct, an address, how many matrices and whether transposed;
    `images` is how it has images, None where it has none;
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
    vector: str = "{dtype}x{count}"
    element: str = "{x}.v[{lane}]"
    spaces: Mapping[AddrSpace, str] = field(default_factory=dict[AddrSpace, str])
    bits: frozenset[str] = frozenset({"fp8e4m3", "fp8e5m2"})
    suffixes: Mapping[str, str] = field(default_factory=lambda: SUFFIXES)
    float_functions: str = "f"
    images: Images | None = None
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
