"""Which tests `make test` leaves out: those that take longest, named in `tests/thorough.txt`.

Of each file at least one test stays, and all that play a promise of the README from end to end
(KEPT). These open the page as well, so the tests of its single controls (NONE) are left out.
`python -m tests.thorough REPORT` writes the list anew from a report of a whole run
(`python -m pytest -n 2 --dist loadgroup --junitxml=REPORT`): the cheapest tests stay, up to a share
of the time of all. Of those that are left out, `tests/in_turn.py` has the longest.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
LIST = Path(__file__).with_suffix(".txt")
KEPT = ("tests/journeys/", "tests/test_demo.py", "tests/docs/test_documents.py")
NONE = ("tests/browser/", "tests/states/")
SHARE = 0.145
"""Of the time of all tests: less than five minutes on two cores, with the start of processes."""
CASES = 4
"""Cases of a test that a quick run tries."""


def left_out() -> frozenset[str]:
    """The tests that are named: file, "::", function."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def spread(cases: list[T]) -> list[T]:
    """The cases that a quick run tries: some from the first to the last."""
    step = max(1, len(cases) - 1) / (CASES - 1)
    return cases if len(cases) <= CASES else [cases[round(at * step)] for at in range(CASES)]


def times_of(report: Path) -> dict[str, list[float]]:
    """How long each case of each test took in a report."""
    took: dict[str, list[float]] = defaultdict(list)
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        file = f"{case.get('classname', '').replace('.', '/')}.py"
        function = case.get("name", "").partition("[")[0].partition("@")[0]
        took[f"{file}::{function}"].append(float(case.get("time", "0")))
    return dict(took)


def choose(report: Path) -> list[str]:
    """The tests to leave out, by how long they took in a report."""
    took = times_of(report)
    total = sum(map(sum, took.values()))
    costs = {name: sum(spread(times)) for name, times in took.items()}
    cheapest: dict[str, str] = {}
    for name in sorted(costs, key=costs.__getitem__):
        cheapest.setdefault(name.partition("::")[0], name)
    stays = {name for name in cheapest.values() if not name.startswith(NONE)}
    stays |= {name for name in costs if name.startswith(KEPT)}
    left = SHARE * total - sum(costs[name] for name in stays)
    out: list[str] = []
    for name in sorted(costs, key=costs.__getitem__):
        if name not in stays:
            left -= costs[name]
            if left < 0 or name.startswith(NONE):
                out.append(name)
    return sorted(out)


def main(arguments: list[str]) -> int:
    """The exit status."""
    (report,) = arguments
    names = [name for name in choose(Path(report)) if Path(name.partition("::")[0]).is_file()]
    head = "# Tests that `make test` leaves out; `python -m tests.thorough` writes this.\n"
    LIST.write_text(head + "".join(f"{name}\n" for name in names), encoding="utf-8")
    print(f"{len(names)} tests are left out")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
