"""What an object file in the ELF format needs of others (System V ABI, chapter "Object Files")."""

from __future__ import annotations

import struct

SYMBOL_TABLE, UNDEFINED = 2, 0


def undefined_symbols(code: bytes) -> set[str]:
    """The names that a 64-bit little-endian object file uses and does not define."""
    assert code[:6] == b"\x7fELF\x02\x01"
    (start,) = struct.unpack_from("<Q", code, 40)
    size, count = struct.unpack_from("<HH", code, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", code, start + i * size) for i in range(count)]
    found: set[str] = set()
    for section in sections:
        _, kind, _, _, offset, length, link, _, _, entry = section
        if kind != SYMBOL_TABLE:
            continue
        names = sections[link][4]
        for at in range(offset + entry, offset + length, entry):
            name, _, _, where, _, _ = struct.unpack_from("<IBBHQQ", code, at)
            if where == UNDEFINED:
                end = code.index(b"\0", names + name)
                found.add(code[names + name : end].decode())
    return found
