"""Asynchronous copies of PTX: cp.async from global to shared memory, its groups and waits.

Source: NVIDIA, "Parallel Thread Execution ISA", "Data Movement and Conversion Instructions:
cp.async".
"""

from __future__ import annotations

from typing import Final

from core.runtime.emulator.program import Commit, Copy, Instruction, Space, Wait
from core.runtime.emulator.ptx.forms import Form
from core.runtime.emulator.ptx.moving import address_of
from core.runtime.emulator.ptx.text import Number

_BYTES: Final = {"ca": (4, 8, 16), "cg": (16,)}
"""What is copied through which caches."""
_PREFETCHES: Final = ("L2::64B", "L2::128B", "L2::256B")


def copy(form: Form) -> list[Instruction]:
    """cp.async, and its commit_group, wait_group and wait_all."""
    if "async" not in form.modifiers or form.types:
        raise form.unknown()
    rest = [m for m in form.modifiers if m != "async"]
    if rest == ["commit_group"]:
        form.count(0)
        return [Commit(line=form.line, name=form.opcode, guard=form.guard)]
    if rest in (["wait_all"], ["wait_group"]):
        every = rest == ["wait_all"]
        form.count(0 if every else 1)
        behind = 0 if every else _number(form, 0, "the number of groups")
        return [
            Wait(
                line=form.line,
                name=form.opcode,
                guard=form.guard,
                behind=behind,
                commits=every,
            )
        ]
    return [_copy(form, rest)]


def _copy(form: Form, rest: list[str]) -> Instruction:
    caches = [m for m in rest if m in _BYTES]
    spaces = [m for m in rest if m in ("shared", "shared::cta", "global")]
    form.only("async", *caches, *spaces, *_PREFETCHES)
    if len(caches) != 1 or [m.split("::")[0] for m in spaces] != ["shared", "global"]:
        raise form.unknown()
    form.count(3, 4)
    nbytes, sizes = _number(form, 2, "the number of bytes"), _BYTES[caches[0]]
    if nbytes not in sizes:
        raise form.error(f"{nbytes} bytes; .{caches[0]} copies {' or '.join(map(str, sizes))}")
    target, target_offset = address_of(form, form.items[0], Space.SHARED)
    source, source_offset = address_of(form, form.items[1], Space.GLOBAL)
    taken = form.operand(form.items[3], "u32") if len(form.items) > 3 else None
    return Copy(
        line=form.line,
        name=form.opcode,
        guard=form.guard,
        nbytes=nbytes,
        target=target,
        target_offset=target_offset,
        source=source,
        source_offset=source_offset,
        taken=taken,
    )


def _number(form: Form, at: int, what: str) -> int:
    found = form.items[at]
    if not isinstance(found, Number) or found.value < 0 or found.bits:
        raise form.error(f"{what} is a literal")
    return found.value
