"""Writes PTX lines: register names by class, the registers of each value, constants as bits.

Decides nothing about which instruction a node becomes.
"""

from __future__ import annotations

from typing import Final

from core.dtype import ConstType, DType, dtypes
from core.render.listing import Listing, resolve
from core.render.ptx_lines.names import family, indices_of, role_of
from core.render.rendered import Lines
from core.uop.bits import to_bits
from core.uop.ops import Ops
from core.uop.uop import UOp

_classes: Final = {
    "bool": "p", "int8": "h", "uint8": "h", "int16": "h", "uint16": "h", "float16": "h",
    "bfloat16": "h", "fp8e4m3": "h", "fp8e5m2": "h", "int32": "r", "uint32": "r", "int64": "rd",
    "uint64": "rd", "float32": "f", "float64": "fd",
}  # fmt: skip
REGISTER_TYPES: Final = {"p": "pred", "h": "b16", "r": "b32", "rd": "b64", "f": "f32", "fd": "f64"}


def class_of(dtype: DType) -> str:
    """The prefix of the registers that hold one element of `dtype`. 8-bit integers live in 16-bit
    registers, always sign- or zero-extended."""
    return _classes[dtype.name]


def bits_of(dtype: DType) -> str:
    """The untyped PTX type of the register of one element: pred, b16, b32 or b64."""
    return {"f": "b32", "fd": "b64"}.get(class_of(dtype), REGISTER_TYPES[class_of(dtype)])


def register_type(dtype: DType) -> str:
    """The PTX type that moves and selections of one element take."""
    return REGISTER_TYPES[class_of(dtype)]


def type_of(dtype: DType) -> str:
    """The PTX arithmetic type of one element; 8-bit integers compute in 16 bits."""
    if dtypes.is_float(dtype):
        return f"f{dtype.bits}"
    return ("u" if dtypes.is_unsigned(dtype) else "s") + str(max(16, dtype.bits))


def immediate(dtype: DType, value: ConstType) -> str:
    """The exact text of one constant element."""
    scalar = dtype.scalar()
    if dtypes.is_bool(scalar):
        return "-1" if value else "0"
    if scalar.name == "float32":
        return f"0f{to_bits(value, scalar):08X}"
    if scalar.name == "float64":
        return f"0d{to_bits(value, scalar):016X}"
    if dtypes.is_float(scalar):
        return f"0x{to_bits(value, scalar):04X}"
    return str(int(value))


def takes_immediate(dtype: DType) -> bool:
    """Whether instructions take constants of `dtype` as they are: integers and wide floats."""
    return dtypes.is_int(dtype) or class_of(dtype) in ("f", "fd")


class Writer:
    """The body of one kernel. `at(u)` says which node the following lines belong to."""

    def __init__(self, listing: Listing) -> None:
        self.listing = listing
        self.lines = Lines()
        self._families: dict[str, tuple[str, int]] = {}
        self._single: dict[str, str] = {}
        self._indices = indices_of(listing.uops)
        self._role = ""
        self._values: dict[UOp, tuple[str, ...]] = {}

    def at(self, u: UOp) -> None:
        """Lines from here on belong to `u`, and new registers have its role."""
        self.lines.at = self.listing.position[u]
        self._role = role_of(u, self._indices)

    def bind(self, u: UOp, registers: tuple[str, ...]) -> None:
        """One register per element of the value of `u`."""
        self._values[u] = registers

    def fresh(self, kind: str, role: str = "") -> str:
        """A new register of a class, of the node's role or another."""
        name = family(role or self._role, kind)
        number = self._families.get(name, ("", 0))[1]
        self._families[name] = kind, number + 1
        return f"%{name}{number}"

    def named(self, name: str, kind: str) -> str:
        """A register with a name of its own."""
        if name in self._single:
            name += f"_{self.lines.at}"
        self._single[name] = kind
        return f"%{name}"

    def declarations(self) -> list[str]:
        """The lines that declare all registers so far."""
        found: list[str] = []
        for kind, type_ in REGISTER_TYPES.items():
            single = [f"%{name}" for name, of in self._single.items() if of == kind]
            many = [f"%{name}<{n}>" for name, (of, n) in self._families.items() if of == kind]
            found += [f".reg .{type_} {name};" for name in (*single, *many)]
        return found

    def of(self, dtype: DType) -> str:
        """A new register for one element of `dtype`."""
        return self.fresh(class_of(dtype))

    def do(self, line: str) -> None:
        """One instruction."""
        self.lines.add(f"  {line};")

    def let(self, kind: str, text: str, role: str = "") -> str:
        """`text` is an instruction with {} for its destination, a new register of class `kind`."""
        name = self.fresh(kind, role)
        self.do(text.format(name))
        return name

    def label(self, name: str) -> None:
        """A jump target."""
        self.lines.add(f"{name}:")

    def lane(self, u: UOp, lane: int) -> str:
        """Element `lane` of `u` as a register or, where instructions take one, an immediate."""
        u = resolve(u)
        value = _constant(u, lane)
        if value is None or not takes_immediate(u.dtype):
            return self.register(u, lane)
        return immediate(u.dtype, value)

    def register(self, u: UOp, lane: int) -> str:
        """Element `lane` of `u` in a register. Raises RenderError where nothing computed it."""
        u = resolve(u)
        registers = self._values.get(u)
        if registers is not None:
            return registers[lane if len(registers) > 1 else 0]
        value = _constant(u, lane)
        if value is None:
            raise self.listing.error("used before it is computed", u, "check the linear order")
        return self._moved(u.dtype, value)

    def constant(self, u: UOp) -> None:
        """A CONST or VCONST: in registers from here on, where instructions take no immediate."""
        if takes_immediate(u.dtype):
            return
        values: tuple[ConstType, ...] = u.arg if u.op is Ops.VCONST else (u.arg,)
        self.bind(u, tuple(self._moved(u.dtype, value) for value in values))

    def _moved(self, dtype: DType, value: ConstType) -> str:
        text = f"mov.{register_type(dtype)} {{}}, {immediate(dtype, value)}"
        return self.let(class_of(dtype), text, "const")


def _constant(u: UOp, lane: int) -> ConstType | None:
    if u.op is Ops.CONST:
        return u.arg
    return u.arg[lane] if u.op is Ops.VCONST else None
