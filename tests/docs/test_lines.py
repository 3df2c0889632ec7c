"""How lines of code are counted."""

from __future__ import annotations

from pathlib import Path

from tests.docs.of_tiles import TRITON, line_table, lines_of_code

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
