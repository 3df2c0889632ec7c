"""Snapshots of a program made into passes of a trace: one step for each pass.

The ops of two snapshots are paired: what is one node; by a name that lasts; by fields and place; by
location; by kind and place.
The step is a match of the pass, at the first op that it changed, and a rebuild of every other op
whose node is another one now. Equal ops stay two nodes: their tags count them.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from viz.importers.roles import ORDER, REGION, roles_of
from viz.importers.snapshot import Block, Op, Value
from viz.write.texts.kepttexts import KeptTexts, Text
from viz.write.writer import TraceWriter

_SYMBOL: Final = re.compile(r'(?:[a-z]\w* )*@("[^"]*"|[\w$.\-]+)')
"""In the custom form: `private @main(...)`."""
_NAMED: Final = re.compile(r'\bsym_name = "([^"]*)"')
"""In the generic form."""
_LONGEST: Final = 4000
"""Characters of what stands on the line of an op."""


@dataclass
class Graph:
    """A snapshot whose nodes are in the trace: its ops in the order of `Op.walk`, and their
    nodes."""

    root: Op
    ops: list[Op]
    nodes: dict[Op, int]
    blocks: dict[Block, int]
    arguments: dict[tuple[Block, int], int]
    """By block and place."""
    text: Text | None = None
    """As the compiler printed it."""

    @property
    def sink(self) -> int:
        """The node of all of it."""
        return self.nodes[self.root]


class Passes:
    """Writes the passes of one program."""

    def __init__(self, writer: TraceWriter) -> None:
        self._writer = writer
        self._rules: dict[str, int] = {}
        self.texts = KeptTexts(writer)
        """What is kept of the texts of snapshots."""

    def graph(self, root: Op, text: Text | None = None) -> Graph:
        """Numbers the nodes of a snapshot, which was printed as a text."""
        made = _Numbering(self._writer, root).made
        if text is not None:
            made.text = text
            for op in made.ops:
                if op.line >= 0:
                    text.nodes.setdefault(op.line, []).append(made.nodes[op])
        return made

    def step(
        self,
        name: str,
        before: Graph,
        after: Graph,
        context: int = 0,
        at: int = 0,
        detail: str = "",
        declined: Iterable[tuple[int, int]] = (),
    ) -> int:
        """A pass that made `after` of `before` at a time; how many steps it has. `detail`: what the
        compiler calls it besides; `declined`: rules that said no, and the nodes."""
        number = self._writer.rewrite_begin(name, before.sink, context=context, matcher=name, at=at)
        self.texts.keep(number, before.text, after.text)
        for rule, node in declined:
            self._writer.decline(number, rule, node)
        steps = 0
        if before.sink != after.sink:
            pairs = _pairs(before, after)
            old, new = self._first(before, after, pairs)
            rule = self._rule(name, detail)
            self._writer.match(number, rule, before.nodes[old], after.nodes[new], {}, 0)
            for op in after.ops:  # sources first
                was = pairs.get(op)
                if was is None:
                    continue
                self._rebuild_blocks(number, before, after, was, op)
                if op is not new:
                    self._rebuild(number, before.nodes[was], after.nodes[op])
            steps = 1
        self._writer.rewrite_end(number, after.sink, nodes=len(after.ops), at=at)
        return steps

    def _rebuild_blocks(self, rewrite: int, before: Graph, after: Graph, was: Op, op: Op) -> None:
        """Blocks that are other nodes now, with their arguments: those that are left of both, in
        order."""
        olds, news = ({g.blocks[b] for b in o.blocks} for g, o in ((before, was), (after, op)))
        left = [block for block in was.blocks if before.blocks[block] not in news]
        new = [block for block in op.blocks if after.blocks[block] not in olds]
        for one, other in zip(left, new, strict=False):
            for at in range(min(len(one.arguments), len(other.arguments))):
                pair = before.arguments.get((one, at)), after.arguments.get((other, at))
                if pair[0] is not None and pair[1] is not None:
                    self._rebuild(rewrite, pair[0], pair[1])
            self._rebuild(rewrite, before.blocks[one], after.blocks[other])

    def _rebuild(self, rewrite: int, old: int, new: int) -> None:
        if old != new:
            self._writer.rebuild(rewrite, old, new)

    def _first(self, before: Graph, after: Graph, pairs: dict[Op, Op]) -> tuple[Op, Op]:
        """The first op that a pass changed in itself, and its new form."""
        for op in after.ops:
            was = pairs.get(op)
            if was is not None and _own(was) != _own(op):
                return was, op
        new = {op for op in after.ops if op not in pairs}
        gone = {*before.ops}.difference(pairs.values())
        for op in after.ops:  # the first that something new has taken the place of
            was = pairs.get(op)
            if was is None or before.nodes[was] == after.nodes[op]:
                continue
            for old, now in zip(was.operands, op.operands, strict=False):
                if not isinstance(old.of, Op) or not isinstance(now.of, Op):
                    continue
                if old.of in gone and now.of in new:
                    return old.of, now.of
        for op in after.ops:  # the first whose operands are other ones
            was = pairs.get(op)
            if was is None or before.nodes[was] == after.nodes[op]:
                continue
            reads_new = any(isinstance(v.of, Op) and v.of in new for v in op.operands)
            if reads_new or len(was.operands) != len(op.operands):
                return was, op
        return before.root, after.root

    def _rule(self, name: str, detail: str) -> int:
        key = f"{name} {detail}"
        if key not in self._rules:
            doc = detail or "a pass of the compiler"
            self._rules[key] = self._writer.rule(name, doc=doc)
        return self._rules[key]


class _Numbering:
    """The nodes of one snapshot."""

    def __init__(self, writer: TraceWriter, root: Op) -> None:
        self._writer = writer
        self._twins: Counter[Hashable] = Counter()
        self._arguments: dict[tuple[Block, int], int] = {}
        self._unknown: dict[str, int] = {}
        self._nodes: dict[Op, int] = {}
        self._blocks: dict[Block, int] = {}
        self._paths = _block_paths(root)
        ops = [*root.walk()]
        self._read_arguments = {
            (value.of, value.number)
            for op in ops
            for value in op.operands
            if isinstance(value.of, Block)
        }
        for op in ops:
            self._nodes[op] = self._node(op)
        self.made = Graph(root, ops, self._nodes, self._blocks, self._arguments)

    def _node(self, op: Op) -> int:
        src = [self._read(value) for value in op.operands]
        numbers = [value.number if isinstance(value.of, Op) else 0 for value in op.operands]
        roles = [*_roles(op), *(REGION for _ in op.blocks)]
        src += [self._block(block) for block in op.blocks]
        text = op.text[:_LONGEST]
        if any(numbers):  # which of several results
            text += " " + ", ".join(f"${at}#{n}" for at, n in enumerate(numbers) if n)
        key = (op.name, op.type, text, tuple(src), op.key)
        self._twins[key] += 1
        twin = self._twins[key]
        tag = " ".join(filter(None, (op.key, f"#{twin}" if twin > 1 else "")))
        return self._writer.node(
            op.name,
            op.type[:200],
            src,
            arg=json.dumps(text) if text else "",
            tag=json.dumps(tag) if tag else "",
            origin=op.place,
            roles=roles,
        )

    def _block(self, block: Block) -> int:
        """A node above all ops of a block that nothing else in it reads."""
        read = {value.of for op in block.ops for value in op.operands}
        ends = [self._nodes[op] for op in block.ops if op not in read]
        arguments = [self._argument(block, at) for at in range(len(block.arguments))]
        unused = [n for at, n in enumerate(arguments) if (block, at) not in self._read_arguments]
        name = json.dumps(block.label) if block.label else ""
        last = self._nodes[block.ops[-1]] if block.ops else 0
        roles = ["" if end == last else ORDER for end in (*unused, *ends)]
        made = self._writer.node("block", "", [*unused, *ends], arg=name, roles=roles)
        self._blocks[block] = made
        return made

    def _argument(self, block: Block, at: int) -> int:
        found = self._arguments.get((block, at))
        if found is None:
            path = self._paths[block]
            self._twins[path, at] += 1  # of blocks that stand in the same place: of twins
            tag = json.dumps(f"{path} {self._twins[path, at]}")
            kind = block.arguments[at][:200]
            found = self._writer.node("argument", kind, arg=json.dumps(f"#{at}"), tag=tag)
            self._arguments[block, at] = found
        return found

    def _read(self, value: Value) -> int:
        match value.of:
            case Op() as op if op in self._nodes:
                return self._nodes[op]
            case Block() as block if value.number < len(block.arguments):
                return self._argument(block, value.number)
            case _:  # defined later, as in a cycle, or nowhere
                name = value.name
                if name not in self._unknown:
                    self._unknown[name] = self._writer.node("value", arg=json.dumps(name))
                return self._unknown[name]


def _roles(op: Op) -> list[str]:
    """What the operands of an op are to it: what the dump says, else by a table; and which of
    several results they are."""
    named = roles_of(op.name, sum(not value.role for value in op.operands))
    names = iter(named)
    found: list[str] = []
    for value in op.operands:
        role = value.role or next(names)
        number = f"#{value.number}" if value.number and isinstance(value.of, Op) else ""
        found.append(" ".join(filter(None, (role, number))))
    return found


def _own(op: Op) -> tuple[str, str, str]:
    return op.name, op.text, op.type


def _by_key(op: Op) -> Hashable | None:
    """By a name that lasts, of the same kind of op."""
    return (op.key, op.name) if op.key else None


def _pairs(before: Graph, after: Graph) -> dict[Op, Op]:
    """The op of `before` that each op of `after` was; both roots are one."""
    old_paths, new_paths = _paths(before.root), _paths(after.root)
    kinds: Sequence[tuple[Callable[[Op], Hashable | None], Callable[[Op], Hashable | None]]] = (
        (before.nodes.__getitem__, after.nodes.__getitem__),
        (_by_key, _by_key),
        (
            lambda op: (*_own(op), op.place, old_paths[op]),
            lambda op: (*_own(op), op.place, new_paths[op]),
        ),
        (lambda op: (*_own(op), op.place), lambda op: (*_own(op), op.place)),
        (
            lambda op: (op.name, op.place) if op.place else None,
            lambda op: (op.name, op.place) if op.place else None,
        ),
        (lambda op: (op.name, old_paths[op]), lambda op: (op.name, new_paths[op])),
    )
    made: dict[Op, Op] = {after.root: before.root}
    left_old = [op for op in before.ops if op is not before.root]
    left_new = [op for op in after.ops if op is not after.root]
    for of_old, of_new in kinds:
        waiting: defaultdict[Hashable, deque[Op]] = defaultdict(deque)
        for op in left_old:
            waiting[of_old(op)].append(op)
        taken: set[Op] = set()
        for op in left_new:
            key = of_new(op)
            if key is not None and waiting[key]:
                made[op] = waiting[key].popleft()
                taken.add(made[op])
        left_old = [op for op in left_old if op not in taken]
        left_new = [op for op in left_new if op not in made]
    return made


def _paths(root: Op) -> dict[Op, tuple[str, ...]]:
    """The names of the ops around each op, and symbols of these, from the root on."""
    found: dict[Op, tuple[str, ...]] = {root: ()}
    stack = [root]
    while stack:
        op = stack.pop()
        inner = (*found[op], f"{op.name} {symbol(op)}")
        for block in op.blocks:
            for o in block.ops:
                found[o] = inner
                stack.append(o)
    return found


def _block_paths(root: Op) -> dict[Block, str]:
    """Where each block stands: the ops around it, and which one of theirs it is."""
    paths = _paths(root)
    return {
        block: "/".join((*paths[op], f"{op.name} {symbol(op)}", str(at)))
        for op in paths
        for at, block in enumerate(op.blocks)
    }


def symbol(op: Op) -> str:
    """Such as "main"; what an op's attributes name is not its own."""
    found = _SYMBOL.match(op.text) or _NAMED.search(op.text)
    return found[1] if found else ""
