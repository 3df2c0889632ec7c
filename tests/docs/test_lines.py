"""How lines of code are counted."""

from __future__ import annotations

from pathlib import Path

from tests.docs.of_tiles import CUDA, ROOT, TRITON, cuda_table, line_table, lines_of_code

MODULE = '''"""A module
of two lines."""

import os
from os import path

NAME = 1


@decorator
def first(
    x: int,
) -> int:
    """Says

    what it does."""

    # a comment
    total = x + (
        1
    )
    if total:

        return 2
    return total


class Second:
    """A class."""

    field: int = 0
    """Not the docstring of the class."""
'''


def test_lines_of_functions_and_classes(tmp_path: Path) -> None:
    """The decorator, 3 lines of def, 3 of total, if and 2 returns; class, field and its text."""
    file = tmp_path / "module.py"
    file.write_text(MODULE, encoding="utf-8")
    assert lines_of_code(file) == 13


def test_every_comparison_has_a_row() -> None:
    text = line_table()
    assert all(f"`{name}.py` |" in text for name in TRITON)


def test_every_shipped_kernel_stands_beside_one_in_cuda() -> None:
    """With the lines of its modules here, counted anew, and a source that can be looked up."""
    folder = ROOT / "core/tile/kernels"
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert {name for _, names, *_ in CUDA for name in names} == modules
    text = cuda_table()
    for kernel, names, lines, what in CUDA:
        own = sum(lines_of_code(folder / f"{name}.py") for name in names)
        assert f"| {kernel} | {own} | {lines} | {what} |" in text
        assert " at " in what or "on PyPI" in what
