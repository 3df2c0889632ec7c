"""What people call a trace, a kernel, a pass, a rule or a node; and what is meant by it.

A name that nothing has, or that several have, is a TraceError that lists what there is. Never opens
a trace.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NamedTuple

from core.errors import TraceError
from viz.environment import cache_folder, recent
from viz.format.schema import SUFFIX
from viz.terminal import shell_word
from viz.views.tree import GONE

Row = dict[str, Any]
"""A row of the navigator: see `Store.tree`."""
MOST: Final = 8
"""Candidates that an error lists."""
TRACES: Final = 10_000
"""Traces of the cache that a name may mean."""
_FORM: Final = re.compile(r"(.+)#(\d{1,9})")
"""A pass by its name and which of that name it is."""
_NODE: Final = re.compile(r"u?(\d{1,15})")


class Chosen(NamedTuple):
    """The file that is meant, and whether the user named that very file."""

    path: Path
    named: bool


def find_trace(name: str | None) -> Chosen:
    """The file that a person means: a path; nothing (the youngest trace of the cache); `-2` (the
    second youngest); or a part of the name of one trace of the cache."""
    if name is not None and (_is_path(name) or os.path.exists(name)):
        return Chosen(Path(name), True)
    traces = recent(cache_folder(), TRACES)
    if name is None or re.fullmatch(r"-\d{1,6}", name):
        return Chosen(_by_age(traces, -int(name or "-1")), False)
    found = [path for path in traces if name.casefold() in path.stem.casefold()]
    exact = [path for path in found if path.stem == name]
    if len(exact or found) == 1:
        return Chosen((exact or found)[0], False)
    if found:
        raise TraceError(
            f"{len(found)} traces have '{name}' in their name",
            hint="name one: " + _some(shell_word(path.stem) for path in found),
        )
    close = _close(name, [shell_word(path.stem) for path in traces])
    raise TraceError("there is no such trace", name, close or "give a file, or record one: VIZ=1")


def is_file(word: str) -> bool:
    """Whether a word can only be meant as a trace."""
    return _is_path(word) or os.path.exists(word) or re.fullmatch(r"-\d{1,6}", word) is not None


def is_node(word: str) -> bool:
    """Whether a word is called as nodes are: `u123`."""
    return word.startswith("u") and _NODE.fullmatch(word) is not None


def find_kernel(rows: Sequence[Row], name: str) -> Row:
    """The row of the kernel that a person means: its name or the beginning of it, its number, or a
    call that it alone computes, such as `Conv2d`."""
    kernels = [row for row in program_rows(rows) if row["label"] == "kernel"]
    wanted = name.casefold()
    ways = (
        [row for row in kernels if name.isdecimal() and row["id"] == int(name[:18])],
        [row for row in kernels if row["name"] == name],
        [row for row in kernels if row["name"].startswith(name)],
        [row for row in kernels if wanted == row["calls"].casefold()],
        [row for row in kernels if wanted in row["calls"].casefold().split(", ")],
    )
    found = next((rows for rows in ways if rows), [])
    if len(found) == 1:
        return found[0]
    if found:
        raise TraceError(
            f"{len(found)} kernels answer to {name!r}",
            hint="name one by its number: " + _some(map(_kernel, found)),
        )
    names = [row["name"] for row in kernels]
    calls = [call for row in kernels for call in row["calls"].split(", ") if call]
    raise TraceError(
        f"there is no kernel {name!r} in this run",
        hint=_close(name, [*names, *calls])
        or ("its kernels are " + _some(map(_kernel, kernels)) if kernels else "it has no kernels"),
    )


def find_pass(rows: Sequence[Row], name: str, within: str = "") -> Row:
    """The row of the pass that a person means among `rows`: its name or the beginning of it, its
    number, or `simplify#2` for the second of that name. `within` says in an error where."""
    among = rows if name.isdecimal() else program_rows(rows)
    passes = [row for row in among if row["kind"] == "rewrite"]
    stem, position = name, 0
    found = _named(passes, name)
    if not found and (form := _FORM.fullmatch(name)):
        stem, position = form[1], int(form[2])
        found = _named(passes, stem)
        if not 0 < position <= len(found):
            found = []
        found = found[position - 1 : position]
    if len(found) == 1:
        return found[0]
    of = f" in {within}" if within else ""
    if found:
        raise TraceError(
            f"{len(found)} passes{of} answer to {name!r}",
            hint=f"name one by its number, or as {found[0]['name']}#2: " + _some(map(_pass, found)),
        )
    names = [row["name"] for row in passes]
    raise TraceError(
        f"there is no pass {name!r}{of}",
        hint=_close(stem, names)
        or ("its passes are " + _some(dict.fromkeys(names)) if names else "it has no passes"),
    )


def find_rule(rules: Sequence[Row], name: str, among: Collection[int] = ()) -> Row:
    """The rule that a person means: its name or the beginning of it, or its number. Of several, the
    one that is `among` these."""
    ways = (
        [row for row in rules if name.isdecimal() and row["id"] == int(name[:18])],
        [row for row in rules if row["name"] == name],
        [row for row in rules if row["name"].startswith(name)],
    )
    found = next((rows for rows in ways if rows), [])
    if len(found) > 1:
        found = [row for row in found if row["id"] in among] or found
    if len(found) == 1:
        return found[0]
    if found:
        raise TraceError(
            f"{len(found)} rules answer to {name!r}",
            hint="name one by its number: " + _some(map(_rule, found)),
        )
    raise TraceError(
        f"there is no rule {name!r} in this run",
        hint=_close(name, [row["name"] for row in rules]) or "`uopviz stats` lists its rules",
    )


def node_number(name: str) -> int:
    """The number of a node as people write it: `u123`."""
    found = _NODE.fullmatch(name)
    if found is None:
        raise TraceError(f"{name[:40]!r} is no node", hint="write it as the page does: u123")
    return int(found[1])


def program_rows(rows: Iterable[Row]) -> list[Row]:
    """The rows of what the program did, without kernels that were compiled on request."""
    left: set[int] = set()
    found: list[Row] = []
    for row in rows:
        if row.get("target") or row["parent"] in left or row["status"] == GONE:
            left.add(row["row"])
        else:
            found.append(row)
    return found


def in_tree_order(rows: Sequence[Row]) -> list[Row]:
    """Rows with those of kernels compiled on request, which come last, below their kernels."""
    if not any(row.get("target") for row in rows):
        return [*rows]
    children: dict[int, list[Row]] = {}
    for row in rows:
        children.setdefault(row["parent"], []).append(row)
    found: list[Row] = []
    stack = children.pop(-1, [])[::-1]
    while stack:
        found.append(stack.pop())
        stack += children.pop(found[-1]["row"], [])[::-1]
    return found


def below(rows: Iterable[Row], number: int) -> list[Row]:
    """The row with this number and all below it, as a tree of its own."""
    kept: dict[int, Row] = {}
    for row in rows:
        if row["id"] == number:
            kept[row["row"]] = row | {"parent": -1}
        elif row["parent"] in kept:
            kept[row["row"]] = row
    return list(kept.values())


def _named(passes: Sequence[Row], name: str) -> list[Row]:
    ways = (
        [row for row in passes if name.isdecimal() and row["id"] == int(name[:18])],
        [row for row in passes if row["name"] == name],
        [row for row in passes if row["name"].startswith(name)],
    )
    return next((rows for rows in ways if rows), [])


def _by_age(traces: Sequence[Path], position: int) -> Path:
    if not traces:
        raise TraceError(
            "there is no trace yet", hint="record one: VIZ=1 python program.py, or name a file"
        )
    if not 0 < position <= len(traces):
        raise TraceError(
            f"there is no trace -{position}", hint=f"-1 is the youngest of {len(traces)} traces"
        )
    return traces[position - 1]


def _is_path(name: str) -> bool:
    return "/" in name or "\\" in name or name.endswith((SUFFIX, ".html", ".htm"))


def _kernel(row: Row) -> str:
    return f"{row['id']} {row['name']}" + (f" ({row['calls']})" if row["calls"] else "")


def _pass(row: Row) -> str:
    return f"{row['id']} {row['name']}"


def _rule(row: Row) -> str:
    return f"{row['id']} {row['name']} ({row['file']}:{row['line']})"


def _some(names: Iterable[str]) -> str:
    names = list(names)
    more = len(names) - MOST
    return ", ".join(names[:MOST]) + (f" and {more:,} more" if more > 0 else "")


def _close(name: str, names: Sequence[str]) -> str:
    """A hint that names what looks like `name`; "" where nothing does."""
    by_fold = {known.casefold(): known for known in names[:TRACES]}
    found = get_close_matches(name.casefold()[:200], by_fold, 4, 0.6)
    return "did you mean " + " or ".join(by_fold[one] for one in found) + "?" if found else ""
