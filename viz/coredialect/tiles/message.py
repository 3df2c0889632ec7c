"""The tiles of a kernel for the page: what they are, which nodes of any pass stand for them, and
what its warps do with those in shared memory.

What a tile is comes from the KernelInfo of the kernel's AST, decoded like any other argument; where
its elements lie, from the layouts. In the form of `Tiles` of viz/web/src/data/messages/tile.ts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.dtype import PtrDType
from core.errors import BudgetError
from core.helpers import prod
from core.tensor_cores import TensorCore
from core.uop.kernelinfo import AxisType, KernelInfo, TileInfo
from core.uop.ops import Ops
from core.uop.pointer import pointer_of
from core.uop.uop import UOp
from viz.budget import part, take
from viz.coredialect.facts import INVALID, CoreFacts, core_facts
from viz.coredialect.tiles.accesses import Lanes, UnknownAddressError, access_of
from viz.coredialect.tiles.layouts import (
    Data,
    instruction_data,
    register_data,
    shared_data,
    swizzle_of,
)
from viz.coredialect.tiles.nodes import Memories, Memory, nodes_of, registers
from viz.read.records import Context, Rewrite
from viz.views.runs.process import Process

MOST_ACCESSES: Final = 2000
"""Loads and stores of shared tiles that are looked at."""
WAVE: Final = 32
"""Lanes of a warp where the graph no longer says."""
MOST_WAVE: Final = 1024
_NODE: Final = 400
"""Bytes of a node in the message."""
_SPACES: Final = {"ST": Ops.DEFINE_LOCAL, "SV": Ops.DEFINE_LOCAL}


class _Tiles:
    """The tiles of a kernel, in the order in which their memories are met."""

    def __init__(self, info: KernelInfo, wave: int) -> None:
        self.data: list[Data] = []
        self.infos: list[TileInfo] = []
        self._wave = wave
        self._known: dict[Memory, int | None] = {}
        self._all: dict[Memory, list[TileInfo]] = {}
        for tile in info.tiles:
            op = _SPACES.get(tile.kind, Ops.DEFINE_REG)
            self._all.setdefault((op.name, str(tile.number)), []).append(tile)

    def of(self, memory: Memory, define: UOp | None) -> int | None:
        """The number of the tile that a memory holds: the first, of several shapes."""
        if memory not in self._known:
            self._known[memory] = self._add(memory, define)
        return self._known[memory]

    def _add(self, memory: Memory, define: UOp | None) -> int | None:
        pointer = None if define is None else define.dtype
        if not isinstance(pointer, PtrDType):
            return None
        first = len(self.data)
        for info in self._all.get(memory, ()):
            if not _fits(info, pointer):
                continue
            if info.base is None:
                self.data.append(shared_data(info, pointer.base.scalar(), self._wave))
            else:
                self.data.append(register_data(info, info.base, pointer.base.scalar().name))
            self.infos.append(info)
        return first if len(self.data) > first else None


def _fits(info: TileInfo, pointer: PtrDType) -> bool:
    """Whether a memory is as large as the tile that it is said to hold; a thread that does the work
    of all has the registers of all."""
    size = info.rows * info.columns * info.stages
    if info.base is None:
        return pointer.size == size
    lanes, elements = info.base.threads, info.base.size("m") * info.base.size("n")
    own = size // elements * info.base.count
    return pointer.size in (own, own * info.warps * lanes)


def tiles_data(process: Process, context: Context, rewrites: Sequence[Rewrite]) -> Data:
    """The tiles of a kernel with these passes. Raises BudgetError."""
    file, facts = process.file, core_facts(process)
    root = facts.uops([process.kernels.ast(context)])[0]
    info = root.arg if root is not None and isinstance(root.arg, KernelInfo) else KernelInfo()
    nodes = nodes_of(file, rewrites)
    memories = Memories(file, nodes)
    lanes = _lanes(facts, memories.indices)
    tiles = _Tiles(info, lanes.wave if lanes else _wave(info))
    defines = dict(
        zip(memories.define.values(), facts.uops([*memories.define.values()]), strict=True)
    )
    said: list[str] = []
    made: Data = {
        "context": process.id(context.id),
        "tiles": tiles.data,
        "nodes": {"node": [], "tile": [], "registers": []},
        "uses": {"node": [], "tiles": []},
        "accesses": [],
        **_instructions(process, memories.instructions),
    }
    columns, owners = made["nodes"], dict[int, int]()
    for node, memory in memories.memory.items():
        tile = tiles.of(memory, defines[memories.define[node]])
        if tile is None:
            continue
        owners[node] = tile
        own = None
        if tiles.data[tile]["space"] == "register":
            u = facts.uops([node])[0]
            own = None if u is None else registers(u, _count(tiles.infos[tile]))
        take(2, _NODE + 8 * len(own or ()))
        columns["node"].append(process.node(node))
        columns["tile"].append(tile)
        columns["registers"].append(own)
    known = {memory: tiles.of(memory, None) for memory in memories.memory.values()}
    for node, used in memories.used.items():
        if node in owners:
            continue
        found = [tile for memory in used if (tile := known.get(memory)) is not None]
        if found:
            take(1, _NODE)
            made["uses"]["node"].append(process.node(node))
            made["uses"]["tiles"].append(found)
    shared = [n for n in memories.accesses if n in owners and not tiles.infos[owners[n]].base]
    if lanes is not None:
        made["accesses"], said = _accesses(process, shared, owners, tiles, lanes)
    made["leftOut"] = "; ".join(said) or None
    return made


def _accesses(
    process: Process, nodes: Sequence[int], owners: dict[int, int], tiles: _Tiles, lanes: Lanes
) -> tuple[list[Data], list[str]]:
    found: list[Data] = []
    said: list[str] = []
    if len(nodes) > MOST_ACCESSES:
        said.append(f"only the first {MOST_ACCESSES:,} of {len(nodes):,} loads and stores")
    unknown = 0
    try:
        with part(1 / 2):
            for node in nodes[:MOST_ACCESSES]:
                u = core_facts(process).uops([node])[0]
                tile = owners[node]
                info = tiles.infos[tile]
                pointer = None if u is None else pointer_of(u.src[0]).dtype
                if u is None or not isinstance(pointer, PtrDType):
                    continue
                try:
                    one = access_of(u, lanes, swizzle_of(info, pointer.base.scalar()), info.rows)
                except (UnknownAddressError, *INVALID):
                    unknown += 1
                    continue
                take(4, _NODE + 16 * len(one.first))
                found.append({
                    "node": process.node(node),
                    "tile": tile,
                    "stores": u.op in (Ops.STORE, Ops.COPY_ASYNC),
                    **vars(one),
                    "first": [*one.first],
                })  # fmt: skip
    except BudgetError as error:
        said.append(f"not all loads and stores: {error.what}")
    if unknown:
        said.append(f"the addresses of {unknown:,} loads and stores depend on memory")
    return found, said


def _instructions(process: Process, nodes: Sequence[int]) -> Data:
    """The matrix instructions of a kernel, and their nodes."""
    cores: dict[TensorCore, int] = {}
    known, numbers = list[int](), list[int]()
    for node, u in zip(nodes, core_facts(process).uops(nodes), strict=True):
        if u is not None and isinstance(u.arg, TensorCore):
            take(1, _NODE)
            known.append(process.node(node))
            numbers.append(cores.setdefault(u.arg, len(cores)))
    return {
        "instructions": [instruction_data(core) for core in cores],
        "wmma": {"node": known, "instruction": numbers},
    }


def _lanes(facts: CoreFacts, nodes: Sequence[int]) -> Lanes | None:
    """The lanes of a warp, as the loops over them and the hardware's indices say; None where there
    are none."""
    wave, sizes = 0, dict[str, int]()
    for u in facts.uops(nodes):
        size = u.src[0].arg if u is not None and u.src and u.src[0].op is Ops.CONST else 0
        if u is None or not isinstance(size, int) or not 0 < size <= MOST_WAVE:
            continue
        if u.op is Ops.RANGE and AxisType.WARP in u.arg:
            wave = size
        elif u.op is Ops.SPECIAL and str(u.arg).startswith("lidx"):
            sizes[u.arg] = size
    return Lanes(wave or min(WAVE, prod(sizes.values())), sizes) if wave or sizes else None


def _wave(info: KernelInfo) -> int:
    """The lanes of a warp as the layouts say."""
    return max((tile.base.threads for tile in info.tiles if tile.base), default=1)


def _count(info: TileInfo) -> int:
    """The registers of each lane."""
    assert info.base is not None
    elements = info.base.size("m") * info.base.size("n")
    return info.rows * info.columns // elements * info.base.count
