"""`DIALECT`: the dialect of `core`, in which its recorder writes."""

from __future__ import annotations

from typing import Final

from viz.coredialect.arguments import lasting, spell
from viz.coredialect.facts import CoreFacts
from viz.coredialect.graph import graph_data
from viz.coredialect.listing import program_text
from viz.coredialect.ops import OPS
from viz.coredialect.tiles.message import tiles_data
from viz.dialect.dialect import Action, Dialect
from viz.format.schema import CORE_DIALECT

DIALECT: Final = Dialect(
    name=str(CORE_DIALECT["name"]),
    version=int(CORE_DIALECT["version"]),
    title="uopviz",
    ops=OPS,
    facts=CoreFacts,
    spell=spell,
    lasting=lasting,
    derived_text=program_text,
    graph_data=graph_data,
    tiles=tiles_data,
    actions=frozenset(Action),
)
