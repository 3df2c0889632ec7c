"""What a kernel declares: registers, parameters, variables in shared, local, constant and global
memory; and where each lies."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from core.runtime.emulator.program import DATA_WINDOW, Data, Parameter, Space
from core.runtime.emulator.ptx.text import Reader
from core.runtime.emulator.ptx.types import KINDS, bits_of

MOST_REGISTERS: Final = 1 << 24
"""Of one declaration. ptxas takes more, but 999,999,999 of them cost it eight seconds."""
_MOST_ELEMENTS: Final = 1 << 20
"""Of a variable; the shared memory of no GPU holds more bytes."""


@dataclass(frozen=True, slots=True)
class Register:
    """A register's number and width in bits; 1 for a predicate."""

    number: int
    bits: int


@dataclass(frozen=True, slots=True)
class Variable:
    """Memory that has a name. `address` in its space."""

    space: Space
    address: int


@dataclass
class Names:
    """The declarations so far. `dynamic`: there is shared memory whose size the launch says; it
    begins at `dynamic_start`, aligned to 16 bytes."""

    registers: list[str] = field(default_factory=list[str])
    parameters: list[Parameter] = field(default_factory=list[Parameter])
    variables: dict[str, Variable] = field(default_factory=dict[str, Variable])
    data: list[Data] = field(default_factory=list[Data])
    constants: bytearray = field(default_factory=bytearray)
    dynamic_start: int = 0
    dynamic: bool = False
    shared_bytes: int = 0
    local_bytes: int = 0
    shared_names: dict[int, str] = field(default_factory=dict[int, str])
    local_names: dict[int, str] = field(default_factory=dict[int, str])
    _single: dict[str, Register] = field(default_factory=dict[str, Register])
    _many: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])

    def declare_registers(self, reader: Reader) -> None:
        """`.reg .b32 %r<5>, %x;`. Raises CompileError."""
        kind = reader.word().removeprefix(".")
        if kind not in KINDS:
            raise reader.error(f"registers of type .{kind} are not supported")
        while True:
            name = reader.word()
            if reader.takes("<"):
                count = reader.number().value
                if count > MOST_REGISTERS:
                    raise reader.error(
                        f"{count} registers {name}", f"declare at most {MOST_REGISTERS}"
                    )
                self._many[name] = (count, bits_of(kind))
                reader.next(">")
            else:
                self._single[name] = self._new(name, bits_of(kind))
            if not reader.takes(","):
                return

    def _new(self, name: str, bits: int) -> Register:
        self.registers.append(name)
        return Register(len(self.registers) - 1, bits)

    def unread(self) -> int:
        """A new register without a name."""
        return self._new("_", 1).number

    def register(self, name: str) -> Register | None:
        """The register of a name, if one was declared."""
        found = self._single.get(name)
        if found is not None:
            return found
        match = re.fullmatch(r"(.*?)(\d{1,9})", name)  # there are not as many as have more digits
        if match is None or match[1] not in self._many:
            return None
        count, bits = self._many[match[1]]
        if int(match[2]) >= count or (len(match[2]) > 1 and match[2][0] == "0"):
            return None
        self._single[name] = self._new(name, bits)
        return self._single[name]

    def declare_variable(self, space: Space, reader: Reader, dynamic: bool = False) -> None:
        """`.align 16 .b8 name[64] = {...};`, after its space. Raises CompileError."""
        align, kind = _type(reader)
        name = reader.word()
        size, has_size = _size(reader)
        item = KINDS[kind].itemsize
        nbytes, align = item * size, align or item
        content = _content(reader, item) if reader.takes("=") else b""
        if not has_size and dynamic and space is Space.SHARED:
            at = _up(self.dynamic_start, max(align, 16))
            self.dynamic, self.shared_names[at] = True, name
            self.variables[name] = Variable(space, at)
            return
        if not has_size and not content:
            raise reader.error(f"{name} has no size")
        nbytes = max(nbytes, len(content))
        self._place(space, name, nbytes, align, content, reader)

    def _place(
        self, space: Space, name: str, nbytes: int, align: int, content: bytes, reader: Reader
    ) -> None:
        if space is Space.SHARED:
            at = _up(self.shared_bytes, align)
            self.shared_bytes, self.shared_names[at] = at + nbytes, name
        elif space is Space.LOCAL:
            at = _up(self.local_bytes, align)
            self.local_bytes, self.local_names[at] = at + nbytes, name
        elif space is Space.CONSTANT:
            at = _up(len(self.constants), align)
            self.constants += bytes(at - len(self.constants)) + content.ljust(nbytes, b"\0")
        elif space is Space.GLOBAL:
            last = self.data[-1] if self.data else None
            at = DATA_WINDOW if last is None else _up(last.address + len(last.content) + 256, 256)
            self.data.append(Data(name, at, content.ljust(nbytes, b"\0"), True))
        else:
            raise reader.error(f"{name} in .{space.value}")
        self.variables[name] = Variable(space, at)

    def declare_parameter(self, reader: Reader) -> None:
        """`.param .u64 .ptr .global .align 1 name`, after ".param". Raises CompileError."""
        align, kind = _type(reader)
        name = reader.word()
        size, _ = _size(reader)
        item = KINDS[kind].itemsize
        last = self.parameters[-1] if self.parameters else None
        start = 0 if last is None else last.offset + last.nbytes
        at = _up(start, max(align, item))
        nbytes = item * size
        self.parameters.append(Parameter(name, at, nbytes, kind in ("u64", "b64")))
        self.variables[name] = Variable(Space.PARAM, at)


def _type(reader: Reader) -> tuple[int, str]:
    """(alignment or 0, type); what a pointer leads to is skipped."""
    align, kind, pointee = 0, "", False
    while reader.peek().startswith("."):
        word = reader.word().removeprefix(".")
        if word == "align":
            value = reader.number().value
            align = align if pointee else value
        elif word == "ptr":
            pointee = True
        elif word in KINDS and not kind:
            kind = word
        elif word not in ("global", "shared", "const", "local", "visible", "extern", "weak"):
            raise reader.error(f".{word} in a declaration")
    if not kind:
        raise reader.error("a declaration without a type")
    return align, kind


def _size(reader: Reader) -> tuple[int, bool]:
    """(elements, whether it says so): [4][2] has 8, no brackets 1, [] none."""
    count, known = 1, True
    while reader.takes("["):
        if reader.takes("]"):
            count, known = 0, False
            continue
        count *= reader.number().value
        if not 0 <= count <= _MOST_ELEMENTS:
            raise reader.error(f"{count} elements, where a variable has at most {_MOST_ELEMENTS}")
        reader.next("]")
    return count, known


def _content(reader: Reader, item: int) -> bytes:
    found = bytearray()
    many = reader.takes("{")
    while True:
        value = reader.number().value
        found += (value % (1 << 8 * item)).to_bytes(item, "little")
        if not (many and reader.takes(",")):
            break
    if many:
        reader.next("}")
    return bytes(found)


def _up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple
