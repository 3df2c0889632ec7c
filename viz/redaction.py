"""Answers without what says whose run it was: users' folders, command, machine, source texts, and
the texts of exceptions, which may hold anything.

Makes copies; never changes an answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

REDACTED: Final = "(source redacted)"
NO_TEXT: Final = "(text redacted)"
Answer = Mapping[str, Any]

_NAME: Final = re.compile(r"[A-Za-z_][\w.]{0,99}(?=: )")
_PATH: Final = re.compile(r"""(?:[A-Za-z]:|~)?(?:[/\\][^\s/\\:"'()]+)+[/\\]([^\s/\\:"'()]*)""")


def base(place: str) -> str:
    """The last part of a file name."""
    return re.split(r"[/\\]", place)[-1]


def without_folders(sentence: str) -> str:
    """A sentence with the last part of each absolute path that it names."""
    return _PATH.sub(r"\1", sentence)


def run(answer: Answer) -> dict[str, Any]:
    """The run: of its problems, those of passes keep the kind of their exception."""
    problems: list[dict[str, Any]] = []
    for problem in cast("Sequence[Answer]", answer["problems"]):
        what, where = str(problem["what"]), without_folders(str(problem["where"]))
        told = exception(what) if problem["rewrite"] is not None else without_folders(what)
        problems.append({**problem, "what": told, "where": where})
    hidden = {"command": "", "file": "", "machine": "", "name": "run", "problems": problems}
    return {**answer, **hidden}


def rule(answer: Answer) -> dict[str, Any]:
    """A rule without its source text."""
    return {**answer, "source": REDACTED, "file": base(answer["file"])}


def row(answer: Answer) -> dict[str, Any]:
    """A row of the navigator."""
    return {**answer, "caller": base(answer["caller"])}


def kernel(answer: Answer) -> dict[str, Any]:
    """A kernel."""
    return {**answer, "tensorCalls": _bases(answer["tensorCalls"])}


def lineage(answer: Answer) -> dict[str, Any]:
    """Where nodes come from and go."""
    return {**answer, "lines": _bases(answer["lines"])}


def bundle(answer: Answer) -> dict[str, Any]:
    """A pass."""
    made = {**answer, "origins": _bases(answer["origins"]), "locs": _bases(answer["locs"])}
    error = cast("Answer | None", answer["error"])
    if error is not None:
        message = exception(str(error["message"]))
        made["error"] = {**error, "message": message, "traceback": REDACTED}
    return made


def exception(message: str) -> str:
    """`ValueError: (text redacted)`."""
    name = _NAME.match(message)
    return f"{name[0]}: {NO_TEXT}" if name else NO_TEXT


def _bases(places: Sequence[str]) -> list[str]:
    return [base(place) for place in places]
