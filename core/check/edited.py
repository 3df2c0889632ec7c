"""Source texts that a user has edited: which a device can run, and the program with such a text.

A text stands in for the compiler's own. It may compute anything; what it must not hold is refused
before any of it is compiled. Runs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from core.check.emulated_edited import checked_llvm, checked_ptx
from core.check.isolate import MAX_TEXT
from core.check.llvm_edited import checked_ir
from core.errors import DeviceError, RunError
from core.runtime.emulator.device import EMULATED
from core.target import Target, targets
from core.toolchain.processor import host_target
from core.toolchain.program import Program


@dataclass(frozen=True)
class Editable:
    """What a device runs as text. `checked(text, own, name)` is the text to run. It raises
    CompileError, with "line 3" as its place, where `text` is not of its language, and RunError
    where it holds what an edited text must not hold; `own` is the compiler's text of the same
    kernel `name`."""

    kind: str
    target: Callable[[], Target]
    checked: Callable[[str, str, str], str]


def _emulated(device: str) -> Target:
    return targets[EMULATED[device].default]


EDITABLE: Final[Mapping[str, Editable]] = {
    "CPU": Editable("llvm", host_target, checked_ir),
    "PTX:EMU": Editable("ptx", lambda: _emulated("PTX:EMU"), checked_ptx),
    "AMD:EMU": Editable("llvm", lambda: _emulated("AMD:EMU"), checked_llvm(_emulated("AMD:EMU"))),
}
"""By device. Other devices run no text that was edited."""


@dataclass(frozen=True)
class Edited:
    """A text that a user asks to run; `kind` as in `Artifact`."""

    kind: str
    text: str


def editable_on(devices: Iterable[str]) -> list[dict[str, str]]:
    """The kinds of text that can be run once they are edited: of which target, on which device."""
    found: list[dict[str, str]] = []
    for name in devices:
        text = EDITABLE.get(name)
        if text is not None:
            with suppress(DeviceError):  # not on this kind of machine
                found.append({"device": name, "kind": text.kind, "target": text.target().name})
    return found


def with_text(program: Program, device: str, source: Edited) -> Program:
    """The program with the edited text in place of its own. Raises RunError and CompileError."""
    found = EDITABLE.get(device)
    if found is None or found.kind != source.kind or program.source.kind != source.kind:
        raise RunError(
            f"{device} cannot run an edited {source.kind!r} text",
            hint="; ".join(f"{name} runs {e.kind!r}" for name, e in EDITABLE.items()),
        )
    if len(source.text) > MAX_TEXT:
        raise RunError(
            f"the edited text is too long: {len(source.text):,} characters",
            hint=f"at most {MAX_TEXT:,}",
        )
    text = found.checked(source.text, program.source.text, program.name)
    return replace(program, source=replace(program.source, text=text, lines=()))
