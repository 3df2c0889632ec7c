"""Rules that are wrong on purpose: operands swapped, a constant off by one, a condition dropped.

A mutant has the pattern and the name of its rule, and its function with one change. It stands in
for the rule by `Policy(replace={rule.name: mutant})`.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any, Literal

from core.errors import UopvizError
from core.uop import Rule

Kind = Literal["operands swapped", "constant off by one", "condition dropped"]
KINDS: tuple[Kind, ...] = ("operands swapped", "constant off by one", "condition dropped")


@dataclass(frozen=True, eq=False)
class Mutant:
    """One mutant of a rule; `line` is the text of the line that was changed, as it is now."""

    kind: Kind
    original: Rule
    rule: Rule
    line: str

    def __str__(self) -> str:
        return f"{self.original.name}: {self.kind}: {self.line}"


@dataclass(frozen=True)
class Change:
    """What is changed: how, and at which node of the function, in the order of `ast.walk`."""

    kind: Kind
    make: Callable[[Any], None]
    place: int


def mutants_of(rule: Rule) -> list[Mutant]:
    """Every mutant of a rule whose function is written as a `def` without a closure."""
    made = (_mutant(rule, change) for change in _changes_of(rule))
    return [mutant for mutant in made if mutant is not None]


def one_mutant(rule: Rule, rng: Random) -> Mutant | None:
    """One of them; None where there is none, or where it is no rule."""
    changes = _changes_of(rule)
    return _mutant(rule, rng.choice(changes)) if changes else None


def texts_of(rule: Rule) -> list[tuple[Kind, str, str]]:
    """Every mutant as text: its kind, the line that was changed, as it is now, and the definition
    of the function with its decorators as they are."""
    found: list[tuple[Kind, str, str]] = []
    for change in _changes_of(rule):
        body = _parsed(rule)
        assert body is not None
        node = next(node for at, node in enumerate(ast.walk(body)) if at == change.place)
        change.make(node)
        line = ast.unparse(node).splitlines()[0]
        found.append((change.kind, line, ast.unparse(ast.fix_missing_locations(body)) + "\n"))
    return found


@lru_cache(maxsize=1024)
def _changes_of(rule: Rule) -> tuple[Change, ...]:
    code = getattr(rule.function, "__code__", None)
    if code is None or code.co_freevars or not rule.source:
        return ()
    function = _parsed(rule)
    return tuple(_changes(function)) if function is not None else ()


def _parsed(rule: Rule) -> ast.FunctionDef | None:
    (first, *_) = ast.parse(textwrap.dedent(rule.source)).body
    return first if isinstance(first, ast.FunctionDef) else None


def _mutant(rule: Rule, change: Change) -> Mutant | None:
    body = _parsed(rule)
    assert body is not None
    node = next(node for at, node in enumerate(ast.walk(body)) if at == change.place)
    change.make(node)
    line = ast.unparse(node).splitlines()[0]
    changed = _function(body, rule.function)
    try:
        made = Rule(
            rule.pattern,
            changed,
            rule.name,
            changes_type=rule.changes_type,
            assumes=rule.assumes,
        )
    except UopvizError:
        return None
    return Mutant(change.kind, rule, made, line)


def _function(body: ast.FunctionDef, original: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a definition, in the module of the original."""
    body.decorator_list = []
    module = ast.fix_missing_locations(ast.Module([body], []))
    names = dict(original.__globals__)
    exec(compile(module, f"<mutant of {body.name}>", "exec"), names)
    return names[body.name]


def _changes(function: ast.FunctionDef) -> Iterator[Change]:
    inside = {id(node) for s in function.body for node in ast.walk(s)}
    for place, node in enumerate(ast.walk(function)):
        if id(node) not in inside:
            continue
        match node:
            case ast.BinOp(op=ast.Sub() | ast.Div() | ast.FloorDiv() | ast.Mod() | ast.LShift()):
                yield Change("operands swapped", _swap_operands, place)
            case ast.Compare(ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()]):
                yield Change("operands swapped", _swap_compared, place)
            case ast.Call(args=[_, _, *_]) if not any(
                isinstance(a, ast.Starred) for a in node.args
            ):
                yield Change("operands swapped", _swap_arguments, place)
            case ast.Constant(value=int() as value) if type(value) is int:
                yield Change("constant off by one", _add_one, place)
            case ast.If(body=[ast.Return(value=None | ast.Constant(value=None))], orelse=[]):
                yield Change("condition dropped", _never, place)
            case ast.IfExp(orelse=ast.Constant(value=None)):
                yield Change("condition dropped", _always, place)
            case ast.BoolOp():
                yield Change("condition dropped", _drop_last, place)
            case _:
                pass


def _swap_operands(node: ast.BinOp) -> None:
    node.left, node.right = node.right, node.left


def _swap_compared(node: ast.Compare) -> None:
    node.left, node.comparators[0] = node.comparators[0], node.left


def _swap_arguments(node: ast.Call) -> None:
    node.args[-2], node.args[-1] = node.args[-1], node.args[-2]


def _add_one(node: ast.Constant) -> None:
    assert isinstance(node.value, int)
    node.value += 1


def _never(node: ast.If) -> None:
    node.test = ast.Constant(False)


def _always(node: ast.IfExp) -> None:
    node.test = ast.Constant(True)


def _drop_last(node: ast.BoolOp) -> None:
    node.values.pop()
    if len(node.values) == 1:
        node.values.append(node.values[0])
