"""Finds nodes by their structure: `MUL(x, CONST 64)`, over all graphs of one trace file.

    MUL(x, CONST 64)     a product with the constant 64, on either side: x is any node
    ADD(x, x)            the same node twice
    ADD|SUB(_, LOAD)     one of several ops; `_` is any node
    REDUCE(LOAD, ...)    any number of further sources
    CAST.float16(x)      a node of this dtype
    CONST 0.5            a node with this argument; in quotes, "a b", where it is more than a word

Ops and dtypes are compared without regard to case. Nodes are matched all at once, as arrays; only a
name that is used twice is checked node by node. Never evaluates anything.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from core.errors import TraceError
from core.uop.ops import GroupOp
from viz.budget import take
from viz.format import schema
from viz.read.tracefile import Rewrite, TraceFile
from viz.replay.argtext import arg_text

Mask = npt.NDArray[np.bool_]
MAX_LENGTH: Final = 400
"""Characters of a query."""
MAX_DEPTH: Final = 12
MAX_COUNTED: Final = 20_000
"""Nodes of one pass that are visited to count its hits."""
_COMMUTATIVE: Final = frozenset(op.name.casefold() for op in GroupOp.Commutative)
_TOKEN: Final = re.compile(
    r'\s*(?:(?P<word>[A-Za-z_]\w*)|(?P<number>-?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf)|nan)'
    r'|"(?P<text>[^"]*)"|(?P<sign>\.\.\.|[(),.|]))'
)  # fmt: skip
_SHOUTED: Final = re.compile(r"\s*[A-Z_][A-Z0-9_]*([|.][\w|.]*)?\s*(\(|\s[-\d\"])")
"""How a structure begins whose op is in capitals, as those of `core` are."""
_CALLED: Final = re.compile(r"\s*([A-Za-z_]\w*)\s*\(")


@dataclass(frozen=True)
class Shape:
    """A node as a query describes it; None stands for anything. `name`: equal names are one node;
    `rest`: more sources than `src` may follow."""

    ops: frozenset[str] | None = None
    dtype: str | None = None
    arg: str | None = None
    src: tuple[Shape, ...] | None = None
    rest: bool = False
    name: str | None = None

    def walk(self) -> Iterator[Shape]:
        """This and all below it."""
        yield self
        for inner in self.src or ():
            yield from inner.walk()

    @property
    def commutes(self) -> bool:
        """Whether its two sources may stand in either order."""
        two = self.src is not None and len(self.src) == 2 and not self.rest
        return two and self.ops is not None and self.ops <= _COMMUTATIVE


@dataclass(frozen=True)
class Place:
    """Where a rewrite first has a node that was asked for: the state after `step` steps. `count`:
    how many such nodes come with it there."""

    rewrite: int
    step: int
    node: int
    count: int


def is_structural(text: str, ops: Callable[[], Iterable[str]] = tuple) -> bool:
    """Whether a query asks for a structure, not for a text: an op with sources or an argument. An
    op that is not in capitals is one of `ops`."""
    if _SHOUTED.match(text):
        return True
    called = _CALLED.match(text)
    return called is not None and called[1].casefold() in {op.casefold() for op in ops()}


def parse(text: str) -> Shape:
    """The structure that a query describes. Raises TraceError with what is wrong in it."""
    if len(text) > MAX_LENGTH:
        raise TraceError(f"the query is longer than {MAX_LENGTH} characters")
    parser = _Parser(text)
    found = parser.node(0)
    parser.end()
    return found


@dataclass(frozen=True)
class _Token:
    kind: str
    """word, number, text or sign; "" for the end."""
    text: str
    at: int


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [*self._read()]
        self._next = 0

    def _read(self) -> Iterator[_Token]:
        at, text = 0, self._text.rstrip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise self._wrong("this cannot be read", at)
            kind = str(found.lastgroup)
            yield _Token(kind, found[kind], found.start(kind))
            at = found.end()
        yield _Token("", "", len(text))

    def node(self, depth: int) -> Shape:
        if depth > MAX_DEPTH:
            raise self._wrong("the query is nested too deeply")
        words = [self._take("an op, a name or _", "word")]
        while self._is("|"):
            words.append(self._take("an op", "word"))
        dtype = self._take("a dtype", "word").casefold() if self._is(".") else None
        has_arg = self._token.kind in ("number", "text")
        arg = self._take("an argument", "number", "text") if has_arg else None
        src, rest = self._sources(depth) if self._is("(") else (None, False)
        plain = dtype is None and arg is None and src is None and len(words) == 1
        if plain and words[0] != "_" and words[0].islower():
            return Shape(name=words[0])
        ops = None if words == ["_"] else frozenset(word.casefold() for word in words)
        return Shape(ops, dtype, arg, src, rest)

    def _sources(self, depth: int) -> tuple[tuple[Shape, ...], bool]:
        src: list[Shape] = []
        while not self._is(")"):
            if src and not self._is(","):
                raise self._wrong("a comma or ) is expected")
            if self._is("..."):
                if not self._is(")"):
                    raise self._wrong("... comes last")
                return tuple(src), True
            src.append(self.node(depth + 1))
        return tuple(src), False

    def end(self) -> None:
        if self._token.kind:
            raise self._wrong("the query should end")

    @property
    def _token(self) -> _Token:
        return self._tokens[self._next]

    def _is(self, sign: str) -> bool:
        """Whether the next token is this sign, which is taken then."""
        found = self._token.kind == "sign" and self._token.text == sign
        self._next += found
        return found

    def _take(self, what: str, *kinds: str) -> str:
        token = self._token
        if token.kind not in kinds:
            raise self._wrong(f"{what} is expected")
        self._next += 1
        return token.text

    def _wrong(self, what: str, at: int | None = None) -> TraceError:
        at = self._token.at if at is None else at
        return TraceError(
            f"{what}, at character {at + 1} of the query",
            where=self._text[:at] + " <-- here",
            hint="for example MUL(x, CONST 64), ADD(x, x), LOAD(...), CAST.float16(x)",
        )


class Structures:
    """Structural search in one file."""

    def __init__(self, file: TraceFile) -> None:
        self._file = file

    def search(self, shape: Shape) -> list[Place]:
        """For every rewrite that has such a node in one of its graphs, where the first one is; in
        the order of the rewrites. Raises BudgetError."""
        mask = self._matching(shape)
        if not mask.any():
            return []
        return sorted(self._places(mask, self._above(mask)), key=lambda place: place.rewrite)

    def ops(self) -> list[str]:
        """The ops of all nodes."""
        column = self._file.nodes.field("op")
        take(len(column) // 8)
        return [self._file.text(op) for op in np.unique(column).tolist()]

    def describe(self, node: int) -> str:
        """A node with its argument and its sources' ops, on one line."""
        parts = [self._label(s) for s in self._file.nodes.sources(node)[:8]]
        return f"{self._label(node)}({', '.join(parts)})" if parts else self._label(node)

    def _label(self, node: int) -> str:
        op, arg = (self._file.text(int(self._file.nodes.field(f)[node])) for f in ("op", "arg"))
        shown = arg_text(arg)[:40] if arg else ""
        return f"{op} {shown}".strip()

    def _matching(self, shape: Shape) -> Mask:
        """Which nodes match, by number."""
        mask = self._candidates(shape)
        names = Counter(part.name for part in shape.walk() if part.name is not None)
        if any(count > 1 for count in names.values()):
            for node in np.flatnonzero(mask).tolist():
                mask[node] = any(True for _ in self._binds(shape, node, {}))
        return mask

    def _candidates(self, shape: Shape) -> Mask:
        """Which nodes match where equal names may be different nodes."""
        nodes = self._file.nodes
        size = nodes.count + 1
        take(size // 8, 4 * size)
        mask = np.ones(size, np.bool_)
        mask[0] = False
        if shape.ops is not None:
            mask &= self._texts_in("op", mask, lambda text: text.casefold() in (shape.ops or ()))
        if shape.dtype is not None:
            mask &= self._texts_in("dtype", mask, lambda text: text.casefold() == shape.dtype)
        if shape.arg is not None:
            wanted = shape.arg
            mask &= self._texts_in("arg", mask, lambda text: _same_arg(text, wanted))
        if shape.src is None:
            return mask
        begins, sources = nodes.source_arrays()
        found = np.flatnonzero(mask)
        lengths = begins[found + 1] - begins[found]
        fits = lengths >= len(shape.src) if shape.rest else lengths == len(shape.src)
        found = found[fits]
        inner = [self._candidates(part) for part in shape.src]
        columns = [sources[begins[found] + i] for i in range(len(inner))]
        keep = np.ones(len(found), np.bool_)
        for column, ok in zip(columns, inner, strict=True):
            keep &= ok[column]
        if shape.commutes:
            keep |= inner[0][columns[1]] & inner[1][columns[0]]
        mask[:] = False
        mask[found[keep]] = True
        return mask

    def _texts_in(self, field: str, mask: Mask, wanted: Callable[[str], bool]) -> Mask:
        """Of all nodes, those whose text of a field is wanted; asked once per text."""
        column = self._file.nodes.field(field)[: len(mask)]
        texts = np.unique(column[mask])
        take(4 * len(texts), 8 * len(column))
        kept = [t for t in texts.tolist() if wanted(self._file.text(t))]
        return np.isin(column, kept)

    def _binds(self, shape: Shape, node: int, known: dict[str, int]) -> Iterator[dict[str, int]]:
        """Every way to bind names so that `shape` matches a node that is a candidate."""
        take(2)
        if shape.name is not None:
            if known.get(shape.name, node) == node:
                yield {**known, shape.name: node}
        elif self._is_like(shape, node):
            sources = self._file.nodes.sources(node)
            parts = shape.src or ()
            yield from self._bind_all(parts, sources, known)
            if shape.commutes:
                yield from self._bind_all(parts[::-1], sources, known)

    def _bind_all(
        self, parts: Sequence[Shape], nodes: Sequence[int], known: dict[str, int]
    ) -> Iterator[dict[str, int]]:
        """The same of several, one after the other."""
        if not parts:
            yield known
            return
        for bound in self._binds(parts[0], nodes[0], known):
            yield from self._bind_all(parts[1:], nodes[1:], bound)

    def _is_like(self, shape: Shape, node: int) -> bool:
        """Whether a node itself is as described, whatever its sources are."""
        fields = self._file.nodes
        op, dtype, arg = (
            self._file.text(int(fields.field(f)[node])) for f in ("op", "dtype", "arg")
        )
        count = len(fields.sources(node))
        return (
            (shape.ops is None or op.casefold() in shape.ops)
            and (shape.dtype is None or dtype.casefold() == shape.dtype)
            and (shape.arg is None or _same_arg(arg, shape.arg))
            and (
                shape.src is None
                or count == len(shape.src)
                or (shape.rest and count > len(shape.src))
            )
        )

    def _above(self, mask: Mask) -> Mask:
        """Which nodes have a hit among themselves and all below them."""
        begins, sources = self._file.nodes.source_arrays()
        size = len(mask)
        take(len(sources) // 2 + size // 8, 24 * len(sources) + 2 * size)
        users = np.repeat(np.arange(size), np.diff(begins[: size + 1]))
        order = np.argsort(sources[: len(users)], kind="stable")
        users = users[order]
        starts = np.searchsorted(sources[order], np.arange(size + 1))
        above = mask.copy()
        fresh = np.flatnonzero(mask)
        while len(fresh):
            lengths = starts[fresh + 1] - starts[fresh]
            total = int(lengths.sum())
            take(total // 4 + 1, 16 * total)
            offsets = np.repeat(starts[fresh] - np.cumsum(lengths) + lengths, lengths)
            next_ = np.unique(users[offsets + np.arange(total)])
            fresh = next_[~above[next_]]
            above[fresh] = True
        return above

    def _places(self, mask: Mask, above: Mask) -> Iterator[Place]:
        waiting: dict[int, Rewrite] = {}
        for rewrite in [*self._file.rewrites.values()]:
            if 0 < rewrite.sink < len(above) and above[rewrite.sink]:
                yield self._place(rewrite.id, 0, rewrite.sink, mask, above)
            elif rewrite.matches or rewrite.rebuilds:
                waiting[rewrite.id] = rewrite
        done = Counter[int]()
        for at in range(len(self._file.event_blocks) if waiting else 0):
            arrays = self._file.event_blocks.at(at)
            if arrays is None:
                continue
            take(len(arrays.kind) // 8)
            root = np.zeros(len(arrays.kind), np.int64)
            """The node by which an event brings a hit into the graph, 0 for none."""
            for kind, column, of in (
                (schema.MATCH, arrays.match[:, 2], above),
                (schema.REBUILD, arrays.rebuild[:, 1], mask),
            ):
                inside = np.where((column > 0) & (column < len(of)), column, 0)
                root[arrays.kind == kind] = np.where(of[inside], inside, 0)
            hits = np.flatnonzero(root)
            rewrites, first = np.unique(arrays.rewrite[hits], return_index=True)
            matches = arrays.kind == schema.MATCH
            for number, position in zip(rewrites.tolist(), hits[first].tolist(), strict=True):
                if waiting.pop(number, None) is not None:
                    before = matches[: position + 1] & (arrays.rewrite[: position + 1] == number)
                    step = done[number] + int(before.sum())
                    yield self._place(number, step, int(root[position]), mask, above)
            for number, count in zip(
                *np.unique(arrays.rewrite[matches], return_counts=True), strict=True
            ):
                done[int(number)] += int(count)

    def _place(self, rewrite: int, step: int, root: int, mask: Mask, above: Mask) -> Place:
        """The hit nearest to `root`, and how many there are below it."""
        nearest, count = 0, 0
        seen, level = {root}, [root]
        while level and len(seen) < MAX_COUNTED:
            below: list[int] = []
            for node in level:
                if mask[node]:
                    nearest, count = nearest or node, count + 1
                sources = self._file.nodes.sources(node)
                take(1 + len(sources), 100)
                for source in sources:
                    if above[source] and source not in seen:
                        seen.add(source)
                        below.append(source)
            level = below
        return Place(rewrite, step, nearest, count)


def _same_arg(text: str, wanted: str) -> bool:
    """Whether an argument in typed JSON is what a query writes; numbers are compared as such."""
    shown = arg_text(text)
    if shown == wanted:
        return True
    try:
        return float(shown) == float(wanted)
    except ValueError:
        return False
