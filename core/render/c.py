"""C, for reading: what a CPU kernel does, in a language that everyone knows.

Never compiled by the project: the CPU runs what LLVM makes of `llvm.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.render.cstyle import render_with
from core.render.cstyle_dialect import TYPES, Dialect
from core.render.rendered import Rendered
from core.target import Target
from core.uop.uop import UOp

DIALECT = Dialect(
    language="c",
    header=("#include <math.h>", "#include <stdbool.h>"),
    kernel="void ",
    helper="static inline",
    restrict="restrict",
    types={**TYPES, "float16": "_Float16", "bfloat16": "__bf16"},
    struct="typedef struct {{ {type} v[{count}]; }} {name};",
    literal="({name}){{{{{values}}}}}",
    bitcast="((union {{ {source} a; {target} b; }}){{.a = {x}}}).b",
    shared="_Alignas({align})",
)


def render(uops: Sequence[UOp], name: str, target: Target) -> Rendered:
    """A C function. Raises RenderError for a node that C has no text for."""
    return render_with(DIALECT, uops, name)
