"""The key of a whole graph with its buffers told apart by the order in which they are met.

Keys of nodes (viz/compare/matching/keys.py) say nothing about which of two buffers of a size a node
reads: numbers counted by a process would make every graph differ. In a graph as a whole, buffers
are renumbered from the root down. Never compares.
"""

from __future__ import annotations

from typing import Final

from viz.budget import take
from viz.compare.matching.side import Part

_STEP: Final = 0x9E3779B97F4A7C15
_MASK: Final = (1 << 64) - 1
_NODE: Final = 200


def graph_key(part: Part, root: int) -> int:
    """The key of the graph below a node; 0 for a graph without buffers. Raises BudgetError."""
    if not part.key(root):
        return 0
    sources, ops = part.file.nodes.sources, part.file.nodes.field("op")
    dialect = part.process.dialect.dialect
    counted = {s for s in set(ops.tolist()) if dialect.op(part.file.name(s)).counted}
    if not counted:
        return 0
    number: dict[int, int] = {}
    below: dict[int, list[int]] = {}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node in below:
            continue
        found = below[node] = sources(node)
        take(2 + len(found), _NODE + 40 * len(found))
        if int(ops[node]) in counted:
            number[node] = len(number) + 1
        waiting += reversed(found)
    if not number:
        return 0
    heads = part.keys.heads
    keys: dict[int, int] = {}
    for node in sorted(below):  # a source has a smaller number than its user
        key = int(heads[node]) ^ number.get(node, 0)
        for s in below[node]:
            key = ((key ^ keys[s]) * _STEP + 1) & _MASK
            key ^= key >> 29
        keys[node] = key
    return keys[root]
