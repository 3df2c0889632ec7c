"""Texts for emulated devices that a user has edited: of the front end's language, with the
parameters that the kernel is started with.

Nothing else has to be refused: the emulator interprets the text, and every access is checked.
"""

from __future__ import annotations

from collections.abc import Callable

from core.errors import RunError
from core.runtime.emulator.llvm.translate import translate
from core.runtime.emulator.program import Code
from core.runtime.emulator.ptx import front as ptx
from core.target import Target


def checked_ptx(text: str, own: str, name: str) -> str:
    """`Editable.checked` for PTX."""
    return _same_parameters(text, own, name, ptx.read)


def checked_llvm(target: Target) -> Callable[[str, str, str], str]:
    """`Editable.checked` for LLVM IR of an AMD GPU."""
    return lambda text, own, name: _same_parameters(
        text, own, name, lambda code, kernel: translate(code, kernel, target)
    )


def _same_parameters(text: str, own: str, name: str, read: Callable[[str, str], Code]) -> str:
    same_sizes(*([p.nbytes for p in read(t, name).parameters] for t in (text, own)))
    return text


def same_sizes(sizes: list[int], wanted: list[int]) -> None:
    """Raises RunError where the parameters of an edited kernel take other bytes than those of the
    compiler's."""
    if sizes != wanted:
        raise RunError(
            f"the edited kernel takes {len(sizes)} parameters of {sizes} bytes",
            f"the compiler's takes {len(wanted)} of {wanted} bytes",
            "leave the parameters as they are",
        )
