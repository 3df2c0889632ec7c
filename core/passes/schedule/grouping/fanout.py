"""Who uses which value, through which view, and where the uses of a value come together again.

An index of one graph, computed once. Never decides anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import InitVar, dataclass, field

from core.shape import ShapeTracker
from core.uop import GroupOp, Ops, UOp

BARRIERS = frozenset({Ops.CONTIGUOUS, Ops.ASSIGN, Ops.COPY, Ops.KERNEL, Ops.SINK})
"""Nodes that end a kernel."""
COMPUTE = GroupOp.Elementwise | {Ops.REDUCE_AXIS}
"""Nodes that a kernel computes."""
_LEAVES = {Ops.CONST, Ops.DEVICE, Ops.IOTA, Ops.BUFFER, Ops.UNIQUE, Ops.BIND, Ops.DEFINE_VAR}
"""Nodes whose uses decide nothing: they are memory already, or need none."""


@dataclass(frozen=True, slots=True)
class Use:
    """`user` reads a value, directly (None) or through a view."""

    user: UOp
    st: ShapeTracker | None


@dataclass
class Fanout:
    """The uses of every value of a graph whose movement ops are views."""

    sink: UOp
    nodes: InitVar[Iterable[UOp]]
    """All nodes of the graph, sources first."""
    order: dict[UOp, int] = field(init=False)
    uses: dict[UOp, list[Use]] = field(init=False)
    reads_memory: set[UOp] = field(init=False)
    meets: dict[UOp, UOp] = field(init=False)
    """For each value the first node that every way from it to the sink passes."""
    depth: dict[UOp, int] = field(init=False)
    """How many such meeting points lie between a node and the sink."""

    def __post_init__(self, nodes: Iterable[UOp]) -> None:
        self.order = {u: n for n, u in enumerate(nodes)}
        self.uses = {u: [] for u in self.order if u.op not in _LEAVES}
        self.reads_memory = set()
        for u in self.order:
            values = u.src[1:] if u.op is Ops.ASSIGN else u.src
            stored = u.op in BARRIERS or u.op in (Ops.BUFFER, Ops.BUFFER_VIEW)
            if stored or any(s in self.reads_memory for s in values):
                self.reads_memory.add(u)
            if u.op is Ops.VIEW:
                continue
            direct: Use | None = None
            for s in values:
                if s.op is Ops.VIEW:
                    if s.src[0].op not in _LEAVES:
                        self.uses[s.src[0]].append(Use(u, s.arg))
                elif s.op not in _LEAVES:
                    direct = direct or Use(u, None)
                    self.uses[s].append(direct)
        self.meets, self.depth = _post_dominators(self.uses, self.sink)

    def between(self, first: UOp, last: UOp, may: Callable[[UOp], bool]) -> list[UOp] | None:
        """The nodes on the ways from `first` to `last`, where all of them lead; without `first`,
        in topological order. None where `may` does not hold for one of those before `last`."""
        found = {last}
        stack = [first]
        while stack:
            for use in self.uses[stack.pop()]:
                if use.user not in found:
                    if not may(use.user):
                        return None
                    found.add(use.user)
                    stack.append(use.user)
        return sorted(found, key=self.order.__getitem__)

    def meeting(self, may: Callable[[UOp], bool]) -> set[UOp]:
        """The nodes of which `may` holds for all others on the ways to where their uses meet."""
        found: set[UOp] = set()
        # depth of the last meeting point that such ways lead to
        top = {self.sink: 0}
        for u, uses in reversed(self.uses.items()):
            if u is self.sink:
                continue
            meet = self.meets[u]
            level = self.depth[meet]
            for use in uses:
                v = use.user
                if v is not meet and not (may(v) and top[v] <= level):
                    top[u] = self.depth[u]
                    break
            else:
                found.add(u)
                top[u] = top[meet] if may(meet) else level
        return found


def _post_dominators(
    uses: dict[UOp, list[Use]], sink: UOp
) -> tuple[dict[UOp, UOp], dict[UOp, int]]:
    """For each node the first one that every way from it to the sink passes, and its depth in the
    tree of these.

    It is the nearest common ancestor of the users in the tree built so far, users first (Cooper,
    Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", 2001, for a graph without cycles). Beside
    its parent each node keeps one ancestor farther up to jump to, chosen so that any ancestor is a
    logarithmic number of hops away (Myers, "An Applicative Random-Access Stack", 1983).
    """
    parent: dict[UOp, UOp] = {sink: sink}
    jump: dict[UOp, UOp] = {sink: sink}
    depth = {sink: 0}

    def common(a: UOp, b: UOp) -> UOp:
        if depth[a] < depth[b]:
            a, b = b, a
        while depth[a] > depth[b]:
            a = jump[a] if depth[jump[a]] >= depth[b] else parent[a]
        while a is not b:
            a, b = (jump[a], jump[b]) if jump[a] is not jump[b] else (parent[a], parent[b])
        return a

    for u, used in reversed(uses.items()):
        if u is not sink:
            above = used[0].user if used else sink
            for use in used[1:]:
                above = common(above, use.user)
            far, level = jump[above], depth[above]
            parent[u], depth[u] = above, level + 1
            jump[u] = jump[far] if level - depth[far] == depth[far] - depth[jump[far]] else above
    return parent, depth
