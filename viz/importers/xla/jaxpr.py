"""The text of a jaxpr as a snapshot: an op for each of its equations.

An equation is `results = primitive[parameters] operands`, where results have types; inner jaxprs
are parameters, and stay text. Format: `str(jaxpr)` of JAX.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from viz.importers.snapshot import Block, Op, Snapshot, Value

_LAMBDA: Final = re.compile(r"\s*\{\s*lambda\s")
_LET: Final = re.compile(r"\.\s*let\b")
_VARIABLE: Final = re.compile(r"([A-Za-z_]\w*):(\S+)")
_EQUATION: Final = re.compile(r"\s*((?:[A-Za-z_]\w*:\S+\s+)+)=\s+([A-Za-z_][\w\-:]*)", re.DOTALL)
_OPENS: Final = "([{"
_CLOSES: Final = ")]}"
MAX_OPS: Final = 1_000_000


def is_jaxpr(head: str) -> bool:
    """Whether a text that begins like this is a jaxpr."""
    return _LAMBDA.match(head) is not None


def parse(text: str) -> Snapshot:
    """The graph of a text. Never raises: what is not understood is counted."""
    block = Block()
    root = Op("jaxpr", blocks=[block], line=0)
    made = Snapshot(root)
    values: dict[str, Value] = {}
    head = _LAMBDA.match(text)
    constants = text.find(";", head.end()) if head else -1
    let = _LET.search(text, constants) if constants >= 0 else None
    if head is None or let is None:
        made.odd += 1
        return made

    def add(op: Op) -> None:
        block.ops.append(op)
        made.ops += 1

    for inputs in (text[head.end() : constants], text[constants + 1 : let.start()]):
        for name, kind in _VARIABLE.findall(inputs):
            op = Op("parameter", type=kind, text=name, line=0)
            values[name] = Value(op, 0, name)
            add(op)
    first = text.count("\n", 0, let.end())
    for line, statement in _statements(text[let.end() :], first):
        found = _EQUATION.match(statement)
        if found is None:
            word, _, result = statement.strip().removesuffix("}").partition(" ")
            if word != "in":
                made.odd += 1
                continue
            op = Op("output", line=line)
            op.text = _operands(op, result.strip().removeprefix("(").removesuffix(")"), values)
            add(op)
            continue
        op = Op(found[2], line=line)
        rest = statement[found.end() :]
        parameters = ""
        if rest.startswith("["):
            end = _end(rest)
            parameters, rest = " ".join(rest[: end + 1].split()), rest[end + 1 :]
        op.text = " ".join(filter(None, (parameters, _operands(op, rest, values))))
        results = _VARIABLE.findall(found[1])
        op.type = ", ".join(kind for _, kind in results)
        for at, (name, _) in enumerate(results):
            values[name] = Value(op, at, name)
        add(op)
        if made.ops > MAX_OPS:
            break
    return made


def _operands(op: Op, text: str, values: dict[str, Value]) -> str:
    """The operands of an equation; as text those that are no variables, with their places."""
    said: list[str] = []
    for word in text.replace(",", " ").split():
        value = values.get(word)
        if value is None:
            said.append(word)
        else:
            op.operands.append(value)
            said.append(f"${len(op.operands) - 1}")
    plain = [f"${at}" for at in range(len(said))]
    return "" if said == plain else " ".join(said)


def _statements(text: str, first: int) -> Iterator[tuple[int, str]]:
    """Lines with their numbers; those whose brackets are open go on. The last bracket of a jaxpr
    closes one that is not here."""
    waiting: list[str] = []
    depth = begin = 0
    for number, line in enumerate(text.split("\n"), first):
        if not line.strip():
            continue
        begin = begin if waiting else number
        waiting.append(line)
        depth += sum((c in _OPENS) - (c in _CLOSES) for c in line)
        if depth <= 0:
            yield begin, "\n".join(waiting)
            waiting, depth = [], 0
    if waiting:
        yield begin, "\n".join(waiting)


def _end(text: str) -> int:
    """Where the bracket that a text begins with is closed."""
    depth = 0
    for at, c in enumerate(text):
        depth += (c in _OPENS) - (c in _CLOSES)
        if depth == 0:
            return at
    return len(text)
