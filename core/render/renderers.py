"""`RENDERERS`: which function makes which kind of text of a linear program.

A row of `KINDS` that is rendered has a module of its name in this folder, with a function `render`.
Never renders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Final

from core.render.kinds import KINDS
from core.render.rendered import Rendered
from core.target import Family, Target
from core.uop import UOp

Render = Callable[[Sequence[UOp], str, Target], Rendered]
RENDERERS: Final[Mapping[str, Render]] = MappingProxyType(
    {k.name: import_module(f"core.render.{k.name}").render for k in KINDS if k.rendered}
)
"""By the name of the kind. Other kinds are made by a tool, of another text, or are reports."""


def renderers(family: Family) -> list[tuple[str, Render]]:
    """(kind, renderer) of each text that is rendered for a family; first what its devices load."""
    found = [k for k in KINDS if family in k.families and k.name in RENDERERS]
    found.sort(key=lambda kind: family not in kind.loaded)
    return [(k.name, RENDERERS[k.name]) for k in found]
