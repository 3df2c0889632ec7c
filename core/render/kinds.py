"""`KINDS`: every kind of text that is made of a kernel or a schedule, one row each.

The explorer takes from it titles, highlighting and columns, and `renderers.py` what to render for a
target. Never imports a renderer: showing texts needs none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from core.target import Family


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of text. `name` is what traces and addresses of pages call it, `title` what people
    read, `language` how it is highlighted, `ending` that of its files.

    `families`: the targets that it is made for, by a renderer, or by a tool of another text; none
    for a report. `loaded` for the families whose devices load it. `tools`: only where programs are
    installed that uopviz does not bring. `rendered`: the module of its name in this folder makes it
    of a linear program. `lasts`: another run of the same program has the same text, on any machine.
    """

    name: str
    title: str
    language: str
    ending: str
    families: tuple[Family, ...] = ()
    loaded: tuple[Family, ...] = ()
    tools: bool = False
    rendered: bool = False
    lasts: bool = True


SEARCH: Final = "search"
"""The report of a beam search."""
KINDS: Final = (
    Kind("ptx", "PTX", "ptx", ".ptx", ("nvidia",), ("nvidia",), rendered=True),
    Kind("amd_isa", "AMD ISA", "asm", ".s", ("amd",)),
    Kind("hip", "HIP", "cpp", ".hip", ("amd",), rendered=True),
    Kind("llvm", "LLVM IR", "llvm", ".ll", ("cpu", "amd"), ("cpu", "amd"), rendered=True),
    Kind("cpu_asm", "CPU assembly", "asm", ".s", ("cpu",)),
    Kind("c", "C", "c", ".c", ("cpu",), rendered=True),
    Kind("cuda", "CUDA C++", "cpp", ".cu", ("nvidia",), rendered=True),
    Kind("wgsl", "WGSL", "wgsl", ".wgsl", ("webgpu",), ("webgpu",), rendered=True),
    Kind("opencl", "OpenCL C", "c", ".cl", ("opencl",), ("opencl",), rendered=True),
    Kind("sass", "SASS", "asm", ".sass", ("nvidia",), tools=True),
    # reports of what is decided outside of rewrites: in kernels, then in schedules
    Kind("linear", "Linear program", "text", ".txt"),
    Kind("choice", "Choice of opts", "text", ".txt", lasts=False),
    Kind(SEARCH, "Search", "text", ".txt", lasts=False),
    Kind("grouping", "Grouping", "text", ".txt"),
    Kind("order", "Order of kernels", "text", ".txt"),
    Kind("memory", "Memory plan", "text", ".txt"),
    Kind("captured", "Captured step", "text", ".txt"),
)
"""In the order in which the explorer prefers them."""

KIND: Final[Mapping[str, Kind]] = MappingProxyType({kind.name: kind for kind in KINDS})
"""Every kind by name."""
