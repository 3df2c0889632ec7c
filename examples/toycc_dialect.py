"""The dialect of `toycc.py`, a toy compiler whose division rounds down: what uopviz may know of it.

python examples/toycc.py toy.viz
uopviz open --dialect examples/toycc_dialect.py toy.viz
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Final

from viz.dialect.dialect import Dialect, Fact, Op, OwnAction, View
from viz.dialect.saidfacts import each_node

VERSION: Final = 1
MEANING: Final[dict[str, Callable[[int, int], int]]] = {
    "add": operator.add,
    "mul": operator.mul,
    "div": operator.floordiv,
}


def fact_of(op: str, dtype: str, arg: str, src: tuple[View, ...]) -> Fact:
    """The bounds of a node, where those of its sources are known."""
    if op == "num":
        return Fact(low=arg, high=arg)
    ends = [(s.fact.low, s.fact.high) for s in src]
    if op not in MEANING or not all(low and high for low, high in ends):
        return Fact()
    (a, b), (c, d) = [(int(low), int(high)) for low, high in ends]
    if op == "div" and c <= 0 <= d:
        return Fact()
    values = [MEANING[op](x, y) for x in (a, b) for y in (c, d)]
    return Fact(low=str(min(values)), high=str(max(values)))


def evaluate(root: View) -> str:
    """What the program gives, where each variable is 10."""
    values: dict[int, int] = {}
    for node in root.below():
        if node.op in ("num", "var"):
            values[node.number] = int(node.arg) if node.op == "num" else 10
        elif node.op in MEANING:
            values[node.number] = MEANING[node.op](*(values[s.number] for s in node.src))
        else:
            values[node.number] = values[node.src[0].number]
    return f"{values[root.number]}, where each variable is 10"


DIALECT: Final = Dialect(
    name="toycc",
    version=VERSION,
    title="toycc",
    ops={
        "num": Op(group="const", named="arg"),
        "var": Op(group="memory", named="word"),
        "add": Op(group="arithmetic", commutes=True, joins=True, computes=True),
        "mul": Op(group="arithmetic", commutes=True, joins=True, computes=True),
        "div": Op(group="arithmetic", computes=True),
        "ret": Op(group="control"),
    },
    facts=each_node(fact_of),
    own=(OwnAction(name="evaluate", title="Evaluate", run=evaluate),),
)
