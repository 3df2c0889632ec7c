"""`DIALECT`: the dialect of `core`, in which its recorder writes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import core
from core.render.kinds import KINDS
from core.target import targets
from viz.coredialect.arguments import lasting, spell
from viz.coredialect.facts import CoreFacts
from viz.coredialect.graph import graph_data
from viz.coredialect.listing import program_text
from viz.coredialect.ops import OPS
from viz.coredialect.optwords import opt_words
from viz.coredialect.tiles.message import tiles_data
from viz.dialect.dialect import Action, Dialect, TextKind
from viz.format.schema import CORE_DIALECT

USUAL: Final = ("sm_90", "gfx942")
"""The newest parts for data centres of both makers."""

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
    texts=tuple(
        TextKind(
            name=kind.name,
            title=kind.title,
            language=kind.language,
            ending=kind.ending,
            families=() if kind.tools else kind.families,
            lasts=kind.lasts,
        )
        for kind in KINDS
    ),
    targets={target.name: target.family for target in targets.values()},
    devices={
        "CPU": "cpu",
        "CUDA": "nvidia",
        "PTX": "nvidia",
        "AMD": "amd",
        "WEBGPU": "webgpu",
        "OPENCL": "opencl",
        "REFERENCE": "none",
    },
    device_titles={
        "CPU": "CPU, LLVM",
        "REFERENCE": "Reference, NumPy",
        "PTX:EMU": "PTX emulator",
        "AMD:EMU": "AMD emulator",
    },
    reference="REFERENCE",
    edited={"llvm": "cpu"},
    opt_words=opt_words,
    usual=USUAL,
    browser={"kind": "wgsl", "target": "webgpu"},
    sources=Path(str(core.__file__)).resolve().parent,
    tiles=tiles_data,
    actions=frozenset(Action),
)
