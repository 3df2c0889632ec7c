"""Environment variables that look like settings and are none: a line says so, with the right name.

A name is close to a setting if one character was added, left out or replaced, or two neighbours
changed places, behind the first one, which is the same. Of a setting with three letters or fewer,
such as TC, only what adds an S or its last letter again counts: too many programs have such names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from core.helpers import Flag, Text, notice

ELSEWHERE: Final = frozenset({"CACHELEVEL", "FUSE_ARANGE", "NOLOCALS", "WINO"})
"""Settings of compilers that programs are moved here from; here they have no meaning."""
_SHORT: Final = 3


def misspelled(names: Iterable[str], prefixes: tuple[str, ...] = ()) -> dict[str, str]:
    """Those of `names` that no setting has although they look like one; for each the setting that
    is meant, "" where none is close. Whatever begins with one of `prefixes` looks like one."""
    settings = {**Flag.table, **Text.table}
    by_letter: dict[str, list[str]] = {}
    for setting in settings:
        by_letter.setdefault(setting[0], []).append(setting)
    found: dict[str, str] = {}
    for name in names:
        if name in settings:
            continue
        close = (s for s in by_letter.get(name[:1], ()) if _slip(name, s))
        if (meant := next(close, "")) or name in ELSEWHERE or name.startswith(prefixes):
            found[name] = meant
    return found


def say_misspelled(
    names: Iterable[str], prefixes: tuple[str, ...] = (), known: Collection[str] = ()
) -> None:
    """A notice of each misspelled name; `known`: names with a prefix that are used, too."""
    for name, meant in misspelled((n for n in names if n not in known), prefixes).items():
        end = f"; did you mean {meant}?" if meant else ": it does nothing"
        notice(f"{name} is set, but there is no such setting{end}")


def _slip(name: str, setting: str) -> bool:
    """Whether one slip of the keyboard makes `name` of `setting`."""
    if len(setting) <= _SHORT:
        return name in (setting + setting[-1], setting + "S")
    if abs(len(name) - len(setting)) > 1:
        return False
    at = 0
    while at < min(len(name), len(setting)) and name[at] == setting[at]:
        at += 1
    left, right = name[at:], setting[at:]
    return (
        left[1:] == right
        or left == right[1:]
        or left[1:] == right[1:]
        or (left[:2] == right[1::-1] and left[2:] == right[2:])
    )
