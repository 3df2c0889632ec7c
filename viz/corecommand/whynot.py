"""`uopviz why-not`: why a rule did not fire at a node of a pass, or where in it it nearly did.

Reads a run and prints; the function of a rule that declined is called again, in a process of its
own.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from core.errors import TraceError
from viz.command.columns import Column, plural, table
from viz.command.line.names import (
    Row,
    below,
    find_kernel,
    find_pass,
    find_rule,
    is_file,
    is_node,
    node_number,
)
from viz.command.session import put, trace_of
from viz.terminal import Line, Styled
from viz.views.store import Store
from viz.why.answers import NEAR_MISSES, WHY_DECLINED, WHY_NOT, why_given
from viz.why.subject import Subject

_ROWS: Final = 20
"""Near misses that are listed."""


def why_not(options: argparse.Namespace) -> int:
    """Why a rule did not fire."""
    _sort_out(options)
    node = None if options.node is None else node_number(options.node)
    store = trace_of(options)
    rows = store.tree()["rows"]
    kernel = None if options.kernel is None else find_kernel(rows, options.kernel)
    within = rows if kernel is None else below(rows, kernel["id"])
    chosen = find_pass(within, options.pass_name, kernel["name"] if kernel else "")
    rules = store.rules()
    rule = find_rule(rules, options.rule, _tried(store, chosen["id"]))
    if node is None:
        misses = store.ask(NEAR_MISSES, chosen["id"], rule["id"])
        return put(options, misses, near_lines(misses))
    if options.load is not None:
        said = why_given(store, chosen["id"], node, rule["id"], _file(options.load))
    else:
        answer = WHY_DECLINED if options.call else WHY_NOT
        said = store.ask(answer, chosen["id"], node, rule["id"])
    assert said is not None, "the pass was found above"
    return put(options, said, reason_lines(said, rule))


def _sort_out(options: argparse.Namespace) -> None:
    """Which of the words is which: the last one is the rule, a node is one that is called like it,
    and a trace stands before a pass. Ends with exit code 2 where one is missing."""
    given = (options.trace, options.pass_name, options.node, options.rule)
    words = [word for word in given if word is not None]
    options.trace = options.node = None
    has_trace = bool(words) and (len(words) == 4 or is_file(words[0]))
    if len(words) == 3 and not is_node(words[1]):
        has_trace = True
    rest = words[has_trace:]
    if len(rest) < 2:
        missing = "PASS and RULE" if not rest else "PASS or RULE"
        is_one = "are" if not rest else "is"
        options.error(f"{missing} {is_one} missing: uopviz why-not [TRACE] PASS [NODE] RULE")
    if has_trace:
        options.trace = words[0]
    options.pass_name, options.rule = rest[0], rest[-1]
    if len(rest) == 3:
        options.node = rest[1]


def _file(name: str) -> Path:
    """A file that is to be run. Raises TraceError where there is none."""
    path = Path(name).resolve()
    if not path.is_file():
        raise TraceError(
            "there is no such file", where=name, hint="--load takes the Python file with the rule"
        )
    return path


def _tried(store: Store, rewrite: int) -> set[int]:
    """The rules of a pass, by their numbers in the run."""
    subject = Subject(store, rewrite)
    return {subject.process.rule(rule) for rule in subject.order}


def reason_lines(said: Row, rule: Row) -> Iterator[Line]:
    """An answer: the sentence, the rule, and what is known of the pattern and of the function."""
    yield Styled(said["said"], "heading")
    place = f"{rule['file']}:{rule['line']}"
    pairs = [("rule", f"{rule['name']}  {rule['equation']}".rstrip()), ("written at", place)]
    pairs.append(("node", f"u{said['node']} = {said['text']}"))
    if (step := said["step"]) is not None:
        pairs.append(("tried", f"after step {step}" if step else "before any step"))
    if (by := said["by"]) is not None and said["kind"] in ("pattern", "declined"):
        pairs.append(("then", f"{by['name']} fired, at step {by['step']}"))
    pairs += [("tried in", name) for name in said["passes"]]
    yield from _pairs(pairs)
    if said["pattern"] is not None:
        yield from _pattern(said["pattern"])
    if (line := said["line"]) is not None:
        ways = "" if line["ways"] == 1 else f", for the last of {line['ways']} ways to match"
        yield ""
        yield f"declined at {line['file']}:{line['line']}{ways}"
        yield Styled(f"  {line['text']}", "name")
        yield from _pairs([(one["name"], one["value"]) for one in line["values"]])
    if said["notCalled"] is not None:
        yield Styled(said["notCalled"], "hint")


def _pattern(fit: Row) -> Iterator[Line]:
    """What a pattern bound, and where it failed."""
    bad = fit["misfit"]
    yield ""
    if bad is None:
        yield "the pattern fits"
    else:
        parts = plural(len(fit["fitted"]), "part")
        yield f"{parts} of the pattern fit; it fails at {_path(bad['path'])}"
        yield from _pairs(
            [
                ("node", f"u{bad['node']} = {bad['text']}"),
                ("expected", bad["expected"]),
                ("found", bad["found"]),
            ]
        )
    yield from _pairs([(one["name"], f"u{one['node']} = {one['text']}") for one in fit["binds"]])
    if not fit["installed"] and fit["why"]:
        yield Styled(f"the recorded pattern, without conditions in code: {fit['why']}", "hint")


def near_lines(misses: Row) -> Iterator[Line]:
    """Where a rule nearly fits."""
    tried = plural(misses["tried"], "node")
    yield Styled(
        f"{misses['name']} in {misses['pass']}: tried at {tried}"
        if misses["known"]
        else f"{misses['name']} in {misses['pass']}: {tried} with an op that it may begin with",
        "heading",
    )
    if not misses["inPass"]:
        known = "" if misses["rulesKnown"] else " known to be"
        yield Styled(f"it is not{known} among the rules of this pass", "problem")
    furthest = "it got furthest without fitting at" if misses["rows"] else "it nearly fits no other"
    yield f"  its pattern fits {misses['fitting']:,} of them; {furthest}"
    if not misses["rows"] and misses["fits"]:
        yield "  it fits"
        fits = [(f"u{one['node']}", one["text"]) for one in misses["fits"]]
        yield from table((Column("node", style="name"), Column("is")), fits, head=False)
        if misses["fitting"] > len(fits):
            yield Styled(f"{plural(misses['fitting'] - len(fits), 'more node')}", "hint")
    columns = (
        Column("node", style="name"),
        Column("parts", True),
        Column("fails at"),
        Column("expected"),
        Column("found"),
    )
    rows = [
        (
            f"u{row['node']}",
            str(row["fitted"]),
            f"{_path(row['pattern']['misfit']['path'])} u{row['pattern']['misfit']['node']}",
            row["pattern"]["misfit"]["expected"],
            row["pattern"]["misfit"]["found"],
        )
        for row in misses["rows"][:_ROWS]
    ]
    if rows:
        yield from table(columns, rows)
    if len(misses["rows"]) > _ROWS:
        yield Styled(f"{plural(len(misses['rows']) - _ROWS, 'more row')}; --json has all", "hint")
    if misses["leftOut"]:
        yield Styled(misses["leftOut"], "problem")


def _path(path: list[int]) -> str:
    """A part of a pattern: `.1.0` is the first source of the second; `.` the whole pattern."""
    return "." + ".".join(map(str, path))


def _pairs(pairs: list[tuple[str, str]]) -> Iterator[Line]:
    wide = max((len(name) for name, _ in pairs), default=0)
    for name, value in pairs:
        yield Styled(f"  {name:<{wide}}", "hint"), "  ", value
