"""C, for reading: what a CPU kernel does, in a language that everyone knows.

Never compiled by the project: the CPU runs what LLVM makes of `llvm.py`. 16-bit floats are types of
newer compilers; a text that has them says so to older ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.render.c_lines.dialect import TYPES, Dialect
from core.render.c_lines.function import render_with
from core.render.rendered import Rendered
from core.target import Target
from core.uop.uop import UOp


def _needs(condition: str, what: str) -> tuple[str, ...]:
    return (f"#if !({condition})", f'#error "{what}"', "#endif")


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
    needs={
        "float16": _needs(
            "defined(__FLT16_MANT_DIG__)",
            "this kernel computes with _Float16, which takes gcc 12, clang 15 or newer",
        ),
        "bfloat16": _needs(
            "defined(__BFLT16_MANT_DIG__) || __clang_major__ >= 17",
            "this kernel computes with __bf16, which takes gcc 13, clang 17 or newer",
        ),
    },
)


def render(uops: Sequence[UOp], name: str, target: Target) -> Rendered:
    """A C function. Raises RenderError for a node that C has no text for."""
    return render_with(DIALECT, uops, name)
