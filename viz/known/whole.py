"""What is known of kernels as a whole, `WholeKernel` of docs/json.md: read strictly, counted, and
in words. Never runs one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final, cast

from core.errors import FormatError
from viz.views.checks import Checks

STATES: Final = ("equal", "rounding", "differs", "unknown")
"""The text gives the same, or the same but for rounding, or something else; or it was not run."""
LATE: Final = "the time for all kernels was over"
"""Why a kernel was not run that may be run by the next check; never kept."""
STEPS: Final = "passes"
"""`place` where the program that the text was made of is wrong, too."""
RULE: Final = "rule "
PASS: Final = "pass "
"""What `place` begins with where bisect named a rule, or only a pass."""
SEARCH: Final = "search"
"""In the answer of a worker: whether bisect would look into the same program."""
SAID: Final = {
    "equal": "equal on all arguments",
    "rounding": "equal but for rounding",
    "differs": "differs",
    "unknown": "not run",
}
MOST: Final = 10_000
"""Kernels of a run."""
_TEXT: Final = 1000
_NUMBERS: Final = ("kernel", "sets", "ulps")
_TEXTS: Final = ("device", "place", "inputs", "why")
Data = dict[str, Any]


def unknown(why: str) -> Data:
    """What is known of a kernel that was not run, without its number."""
    return {
        "state": "unknown",
        "device": "",
        "sets": 0,
        "ulps": 0,
        "place": "",
        "inputs": "",
        "outcome": None,
        "why": why[:_TEXT],
    }


def whole_kernel(data: object) -> Data:
    """A `WholeKernel` as it was written. Raises FormatError for anything else."""
    if not isinstance(data, dict):
        raise _bad()
    fields = cast("Data", data)
    if fields.get("state") not in STATES:
        raise _bad()
    made: Data = {"state": fields["state"]}
    for name in _NUMBERS:
        if type(number := fields.get(name)) is not int or number < 0:
            raise _bad()
        made[name] = number
    for name in _TEXTS:
        if not isinstance(text := fields.get(name), str):
            raise _bad()
        made[name] = text[:_TEXT]
    made["outcome"] = _outcome(fields.get("outcome"))
    if (made["outcome"] is None) == (made["state"] == "differs"):
        raise _bad()
    return made


def kernels_in(stated: object) -> list[Data]:
    """The kernels of `Checks` that a file states, which may hold anything; those that are none are
    left out."""
    listed = cast("Data", stated).get("kernels") if isinstance(stated, dict) else None
    found: dict[int, Data] = {}
    for one in cast("list[object]", listed)[:MOST] if isinstance(listed, list) else []:
        with suppress(FormatError):
            kernel = whole_kernel(one)
            found[kernel["kernel"]] = kernel
    return [found[number] for number in sorted(found)]


def settled(checks: Checks) -> set[int]:
    """The kernels that another check would not run again."""
    late = {one["kernel"] for one in checks.kernels() if one["why"] == LATE}
    return checks.run_here() - late


def counted(kernels: Iterable[Data]) -> dict[str, int]:
    """How many kernels are in each state."""
    counts = Counter(one["state"] for one in kernels)
    return {state: counts[state] for state in STATES}


def blamed(one: Data) -> str:
    """What is to blame for a text that differs where no step is, in words."""
    if one["place"] == STEPS:
        return (
            "its program is wrong already, by code of a pass outside of rules, or by a step that "
            "is not known to be: `uopviz bisect` looks for it"
        )
    if one["place"].startswith((RULE, PASS)):
        return f"bisect names {one['place']}"
    if one["place"]:
        return f"the {one['place']} is wrong"
    return "the rendering is wrong, or a pass before it"


def _outcome(data: object) -> Data | None:
    """The outcome of a run that differs: its numbers, and the sentence that says it."""
    if data is None:
        return None
    if not isinstance(data, dict):
        raise _bad()
    fields = cast("Data", data)
    numbers = {name: fields.get(name) for name in ("output", "index", "got", "wanted")}
    known = all(n is None or type(n) in (int, float) for n in numbers.values())
    if not known or not isinstance(said := fields.get("said"), str):
        raise _bad()
    at = fields.get("coordinates")
    if at is not None and not (
        isinstance(at, list) and all(type(n) is int for n in cast("list[object]", at))
    ):
        raise _bad()
    return {**numbers, "coordinates": at, "said": said[:_TEXT]}


def _bad() -> FormatError:
    return FormatError("not what is known of a kernel", hint="delete the file; it is made anew")
