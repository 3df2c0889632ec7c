"""How long the kernels are that are shipped in core/tile/kernels, beside others.

Counts lines of code: none that are blank, a comment or part of a docstring, and no imports.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

from tests.docs.markdown import code, table

ROOT: Final = Path(__file__).parents[2]
TRITON: Final = {
    "matmul": ("about 40", "`matmul_kernel` of 03-matrix-multiplication.py at 0109391"),
    "attention": (
        "about 110",
        "`_attn_fwd` and `_attn_fwd_inner` of 06-fused-attention.py at 003da47; half or fp8",
    ),
    "attention_backward": (
        "about 180",
        "`_attn_bwd` and the three functions with it, same file: causal, multiples of 128, half",
    ),
}
"""Lines of the kernels alone, counted by hand in Triton's tutorials at a commit, with what they
cover."""


def lines_of_code(path: Path) -> int:
    """Lines of the functions and classes of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: set[int] = set()
    for top in tree.body:
        if not isinstance(top, ast.FunctionDef | ast.ClassDef):
            continue
        nodes = [n for n in ast.walk(top) if isinstance(n, ast.stmt | ast.expr | ast.arg)]
        docs = {
            id(n.body[0])
            for n in ast.walk(top)
            if isinstance(n, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(n) is not None
        }
        skipped = {id(part) for n in nodes if id(n) in docs for part in ast.walk(n)}
        for node in nodes:
            if id(node) not in skipped:
                found |= {node.lineno, node.end_lineno or node.lineno}
        found |= {d.lineno for d in top.decorator_list}
    return len(found)


def line_table() -> str:
    """A row for each shipped kernel."""
    rows: list[tuple[str, int, str, str]] = []
    for path in sorted((ROOT / "core/tile/kernels").glob("*.py")):
        if path.name != "__init__.py":
            other = TRITON.get(path.stem, ("", ""))
            rows.append((code(path.name), lines_of_code(path), *other))
    return table(("module", "lines", "Triton's tutorial", "that is"), rows)
