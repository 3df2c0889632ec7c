"""`KINDS`: every kind of text that is made of a kernel or a schedule, one row each.

A renderer is a module and a row here. The compiler takes from it what to render for a target, and
the explorer its titles, highlighting and columns. Never renders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from core.render import c, cuda, hip, llvm, ptx
from core.render.rendered import Rendered
from core.target import Family, Target
from core.uop import UOp

Render = Callable[[Sequence[UOp], str, Target], Rendered]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of text. `name` is what traces and addresses of pages call it, `title` what people
    read, `language` how it is highlighted, `ending` that of its files.

    `families`: the targets that it is made for. `render` makes it of a linear program; None where a
    tool makes it of another text, or where it is a report. `loaded` for the families whose devices
    load it. `tools`: only where programs are installed that uopviz does not bring.
    """

    name: str
    title: str
    language: str
    ending: str
    families: tuple[Family, ...] = ()
    render: Render | None = None
    loaded: tuple[Family, ...] = ()
    tools: bool = False


KINDS: Final = (
    Kind("ptx", "PTX", "ptx", ".ptx", ("nvidia",), ptx.render, ("nvidia",)),
    Kind("amd_isa", "AMD ISA", "asm", ".s", ("amd",)),
    Kind("hip", "HIP", "cpp", ".hip", ("amd",), hip.render),
    Kind("llvm", "LLVM IR", "llvm", ".ll", ("cpu", "amd"), llvm.render, ("cpu", "amd")),
    Kind("cpu_asm", "CPU assembly", "asm", ".s", ("cpu",)),
    Kind("c", "C", "c", ".c", ("cpu",), c.render),
    Kind("cuda", "CUDA C++", "cpp", ".cu", ("nvidia",), cuda.render),
    Kind("sass", "SASS", "asm", ".sass", ("nvidia",), tools=True),
    # reports of what is decided outside of rewrites: in kernels, then in schedules
    Kind("linear", "Linear program", "text", ".txt"),
    Kind("grouping", "Grouping", "text", ".txt"),
    Kind("order", "Order of kernels", "text", ".txt"),
    Kind("memory", "Memory plan", "text", ".txt"),
)
"""In the order in which the explorer prefers them."""

KIND: Final[Mapping[str, Kind]] = MappingProxyType({kind.name: kind for kind in KINDS})
"""Every kind by name."""


def renderers(family: Family) -> list[tuple[str, Render]]:
    """(kind, renderer) of each text that is rendered for a family; first what its devices load."""
    found = [k for k in KINDS if family in k.families and k.render is not None]
    found.sort(key=lambda kind: family not in kind.loaded)
    return [(k.name, k.render) for k in found if k.render is not None]
