"""Keeps the engine's own graphs beside a recording, and reads the page's graphs as such graphs.

Both sides become UOps, which are interned: equal op, dtype, argument, tag and sources are one
object. The texts that the page shows of a node are compared on their own (`Texts`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from core.uop.data.args import encode_arg
from core.uop.engine.observe import NullObserver
from core.uop.uop import UOp
from viz.coredialect.arguments import spell
from viz.dialect.argtext import ArgTexts


@dataclass
class Kept:
    """One rewrite: its graphs at both ends; per step the node before and after, then the pairs of
    nodes of which the engine said that the first is the second from here on."""

    name: str
    sink: UOp
    result: UOp | None = None
    steps: list[list[tuple[UOp, UOp]]] = field(default_factory=list)
    happened: bool = False


class Keeper(NullObserver):
    """Keeps all rewrites of one thread that a trace has: those inside others only where something
    happened in them."""

    def __init__(self) -> None:
        self._all: list[Kept] = []
        self._open: list[Kept | None] = []

    @property
    def rewrites(self) -> list[Kept]:
        """In the order in which they began."""
        return [kept for kept in self._all if kept.happened]

    def context_begin(self, *_: object) -> None:
        self._happens()
        self._open.append(None)

    def context_end(self, *_: object) -> None:
        self._open.pop()

    def rewrite_begin(self, name: str, sink: UOp, *_: object) -> None:
        inside = bool(self._open) and self._open[-1] is not None
        kept = Kept(name, sink, happened=not inside)
        self._all.append(kept)
        self._open.append(kept)
        if not inside:
            self._happens()

    def match(self, rule: object, before: UOp, after: UOp, *_: object) -> None:
        self._happens().steps.append([(before, after)])

    def rebuild(self, old: UOp, new: UOp) -> None:
        self._happens().steps[-1].append((old, new))

    def decline(self, *_: object) -> None:
        self._happens()

    def rewrite_end(self, result: UOp | None, *_: object) -> None:
        kept = self._open.pop()
        assert kept is not None
        kept.result = result

    def _happens(self) -> Any:
        for kept in reversed(self._open):
            if kept is not None:
                kept.happened = True
        return self._open[-1] if self._open else None


class Texts:
    """The node tables of bundles, read back as UOps by the texts in them and nothing else."""

    def __init__(self, roots: Iterable[UOp]) -> None:
        self._numbers: dict[tuple[object, ...], int] = {}
        self._seen: dict[UOp, int] = {}
        self._nodes: dict[int, UOp] = {}
        for root in roots:
            for u in root.toposort(lambda n: n not in self._seen):
                if u not in self._seen:
                    sources = tuple(self._seen[s] for s in u.src)
                    fields = (u.op.name, str(u.dtype), _shown(u.arg), _shown(u.tag), sources)
                    number = self._numbers.setdefault(fields, len(self._numbers))
                    self._seen[u] = number
                    self._nodes.setdefault(number, u)

    @property
    def alike(self) -> int:
        """How many nodes have the texts of another one."""
        return len(self._seen) - len(self._nodes)

    def table(self, bundle: dict[str, Any]) -> list[UOp]:
        """The node that each line of the table describes; KeyError for one that was never there."""
        nodes, made = bundle["nodes"], []
        numbers: list[int] = []
        for op, dtype, arg, tag, src in zip(
            *(nodes[name] for name in ("op", "dtype", "arg", "tag", "src")), strict=True
        ):
            given = bundle["args"][arg] if arg >= 0 else None
            tagged = bundle["tags"][tag] if tag >= 0 else None
            sources = tuple(numbers[s] for s in src)
            fields = (bundle["ops"][op], bundle["dtypes"][dtype], given, tagged, sources)
            numbers.append(self._numbers[fields])
            made.append(self._nodes[numbers[-1]])
        return made


def _shown(arg: object) -> str | None:
    return (
        None if arg is None else ArgTexts(spell)(json.dumps(encode_arg(arg), separators=(",", ":")))
    )


_SPELL = ArgTexts(spell)


State = dict[int, tuple[int, list[int]]]


def states(bundle: dict[str, Any]) -> Iterator[State]:
    """The slots before the first step, and after each: node and slots of its sources. One
    dictionary, which changes."""
    initial = bundle["initial"]
    columns = (initial["slot"], initial["node"], initial["src"])
    state = {slot: (node, src) for slot, node, src in zip(*columns, strict=True)}
    yield state
    for step in bundle["steps"]:
        for slot, node, src in step["set"]:
            state[slot] = node, src
        for slot in step["drop"]:
            del state[slot]
        yield state


def graph_of(root: int, state: State, table: list[UOp]) -> UOp:
    """The graph in the slots, made of their contents and edges alone. What is not reachable from
    the root must not be there."""
    made: dict[int, UOp] = {}
    stack = [root]
    while stack:
        slot = stack[-1]
        node, edges = state[slot]
        missing = [e for e in edges if e not in made]
        if missing:
            stack.extend(missing)
            continue
        stack.pop()
        made[slot] = table[node].rebuild(tuple(made[e] for e in edges))
    assert made.keys() == state.keys(), "a slot is not reachable from the root"
    return made[root]


class Outcomes:
    """What the engine has said so far of each node: its graph after any of the steps."""

    def __init__(self) -> None:
        self._became: dict[UOp, UOp] = {}
        self._known: dict[UOp, UOp] = {}

    def add(self, events: Iterable[tuple[UOp, UOp]]) -> None:
        """The events of one step."""
        self._known.clear()
        for old, new in events:
            if old is not new:
                self._became[old] = new

    def of(self, root: UOp) -> UOp:
        """`root` with every node replaced by what it has become, as far as that is known."""
        made, stack = self._known, [root]
        while stack:
            u = stack[-1]
            became = self._became.get(u)
            missing = [s for s in (u.src if became is None else (became,)) if s not in made]
            if became is None and not missing:
                rebuilt = u.rebuild(tuple(made[s] for s in u.src))
                became = None if rebuilt is u else rebuilt
                missing = [rebuilt] if became and rebuilt not in made else []
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            made[u] = u if became is None else made[became]
        return made[root]
