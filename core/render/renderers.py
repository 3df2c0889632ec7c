"""Which function makes which kind of text of a linear program.

A row of `KINDS` that is rendered has a module of its name in this folder, with a function `render`;
it is imported when the first text of the kind is made. Never renders.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module

from core.render.kinds import KIND, KINDS
from core.render.rendered import Rendered
from core.target import Family, Target
from core.uop import UOp

Render = Callable[[Sequence[UOp], str, Target], Rendered]


@cache
def renderer(kind: str) -> Render:
    """What renders a kind of text. Raises KeyError for a kind that is made by a tool, of another
    text, or is a report."""
    if not KIND[kind].rendered:
        raise KeyError(kind)
    return import_module(f"core.render.{kind}").render


def rendered_kinds(family: Family) -> list[str]:
    """The kinds of text that are rendered for a family; first what its devices load."""
    found = [k for k in KINDS if family in k.families and k.rendered]
    found.sort(key=lambda kind: family not in kind.loaded)
    return [k.name for k in found]
