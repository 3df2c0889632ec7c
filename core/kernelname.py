"""`kernel_name`: what a kernel is called, from its AST alone.

The same AST has the same name in every process, so that names can be compared between runs, typed
and searched for. Never counts what was named before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from core.uop import UOp
from core.uop.call.givenkernel import check_node
from core.uop.data.serial import digest
from core.uop.kernelinfo import KERNEL_NAME, KernelInfo
from core.uop.kernels import sizes_of

_LETTERS: Final = "bcdfghjklmnpqrstvwxz"
"""No vowels, so that no words come out; no digits, which would read as one more size."""
_SUFFIX: Final = 4
"""Letters of the suffix: 160,000 suffixes for each shape."""
_MOST_SIZES: Final = 16
"""Sizes that a name shows; the suffix tells the rest apart."""


def kernel_name(ast: UOp) -> str:
    """A name that says the shape and then tells kernels of one shape apart: `r_32_10_ktzw`.

    E and the sizes of the output for elementwise kernels; r, these and the reduced sizes for
    reduces; then four letters of a hash of the AST. The name in the AST's KernelInfo, where it has
    one that every language takes.
    """
    check_node(ast, "kernel_name")
    info = ast.arg
    if isinstance(info, KernelInfo) and info.found_for:  # as without a search
        info = replace(info, opts=None, found_for="")
        ast = ast.replace(arg=info)
    if isinstance(info, KernelInfo):
        if KERNEL_NAME.fullmatch(info.name):
            return info.name
        if info.name:  # a name that is not taken does not tell kernels apart
            ast = ast.replace(arg=KernelInfo(opts=info.opts))
    out, reduced = sizes_of(ast)
    sizes = [n for n in (*out, *reduced) if n != 1] or [1]
    rest = digest(ast)
    letters: list[str] = []
    for _ in range(_SUFFIX):
        rest, at = divmod(rest, len(_LETTERS))
        letters.append(_LETTERS[at])
    return "_".join(["r" if reduced else "E", *map(str, sizes[:_MOST_SIZES]), "".join(letters)])
