"""The answer about what has changed since a run was recorded: its maker, files and rules, with
notes on these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from viz.budget import take
from viz.format.cells import as_int, as_text
from viz.read.records import RuleRecord
from viz.views.runs.process import Process
from viz.views.since.files import NamedFiles
from viz.views.since.maker import Maker, maker_of
from viz.views.since.rules import FileToday, RuleToday

_NAMED: Final = 3
"""Names in a sentence."""
_SHORT: Final = 60
_ROW: Final = 200
"""Bytes of a rule or file in the answer."""
_SHOWN: Final = "its graphs and sources are shown as they were recorded"


def since_data(
    processes: Sequence[Process],
    own: bool,
    rules: Mapping[int, RuleRecord],
    short: Callable[[str], str],
) -> dict[str, Any]:
    """The answer in the form of the page. `rules`: by their numbers in the run; `short`: a file's
    name as the page shows it. Raises BudgetError."""
    files = NamedFiles(processes)
    maker = maker_of(processes, own)
    states = files.states()
    take(len(states), _ROW * len(states))
    program = {short(path): state for path, state in states.items() if path in files.of_program}
    found = dict(_rules_today(rules, files))
    other = {number: today for number, today in found.items() if today.state != "same"}
    return {
        "maker": maker.data(),
        "files": [{"file": short(path), "state": state} for path, state in states.items()],
        "rules": [
            {"rule": number, "state": today.state, "line": today.line}
            for number, today in other.items()
        ],
        "compared": len(found),
        "notes": [
            *_of_maker(maker),
            *_of_files(program),
            *_of_rules([(rules[n].name, today.state) for n, today in other.items()], len(found)),
        ],
    }


def _rules_today(
    rules: Mapping[int, RuleRecord], files: NamedFiles
) -> Iterable[tuple[int, RuleToday]]:
    """How each rule has changed, as far as that is known."""
    today: dict[str, FileToday | None] = {}
    for number, rule in rules.items():
        if rule.file not in today:
            lines = files.lines(rule.file)
            take(8 * len(lines or ()), 0)
            today[rule.file] = None if lines is None else FileToday(lines)
        file, source = today[rule.file], as_text(rule.texts.get("source"))
        if file is not None:
            take(4 + len(source) // 16, _ROW)
            line = as_int(rule.texts.get("sourceLine"), rule.line)
            if (found := file.find(rule.name, source, line)) is not None:
                yield number, found


def _of_maker(maker: Maker) -> Iterable[dict[str, str]]:
    """What is said of who made it; nothing where it was made here, by this version."""
    name = " ".join(part for part in (maker.compiler, maker.version) if part)
    if not maker.own:
        who = f"by {name}" if name else "by another compiler"
        yield _note(
            f"recorded {who}, not by uopviz",
            f"{_SHOWN}; its kernels cannot be compiled or run here",
        )
    elif not maker.same:
        recorded = maker.version or "of an unknown version"
        reader = maker.reader or "of an unknown version"
        yield _note(
            f"recorded with uopviz {recorded}, read with uopviz {reader}",
            f"{_SHOWN}; what is compiled or run here is made by the rules of {reader}",
        )
    elif maker.elsewhere:
        yield _note(
            "recorded elsewhere: on another machine, or by another user",
            f"{_SHOWN}; kernels are compiled only on request",
        )


def _of_files(states: Mapping[str, str]) -> Iterable[dict[str, str]]:
    """What is said of files that are not as they were."""
    for state, one, many in (
        ("changed", "has changed since the run", "have changed since the run"),
        ("gone", "is gone", "are gone"),
    ):
        if names := [file for file, found in states.items() if found == state]:
            said = f"{names[0]} {one}" if len(names) == 1 else f"{len(names):,} files {many}"
            yield _note(_listed(said, names), "lines of the program are shown as they were then")


def _of_rules(states: Sequence[tuple[str, str]], compared: int) -> Iterable[dict[str, str]]:
    """What is said of rules that are not as they were: `states` by their names."""
    for state, one, many in (
        ("changed", "has changed since the run", "have changed since the run"),
        ("gone", "is gone from its file", "are gone from their files"),
    ):
        if names := [name[:_SHORT] for name, found in states if found == state]:
            of = f"{len(names):,} of {compared:,} rules"
            said = f"rule {names[0]} {one}" if len(names) == 1 else f"{of} {many}"
            yield _note(
                _listed(said, names),
                "rules are shown as they were then; what is compiled here uses those of today",
            )


def _listed(said: str, names: Sequence[str]) -> str:
    """A sentence about several with the first of their names."""
    if len(names) == 1:
        return said
    return f"{said}: {', '.join(names[:_NAMED])}" + (", ..." if len(names) > _NAMED else "")


def _note(what: str, hint: str) -> dict[str, str]:
    return {"what": what, "hint": hint}
