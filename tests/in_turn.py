"""Which of the tests that take longest `make test-all` runs: a quarter of them, in turn.

They are named in `tests/in_turn.txt`, each in one of four parts that take as long as each other.
Which part has its turn follows from the commit, so that a run can be repeated; `make nightly` runs
all of them, and so does pytest without `--in-turn`. None of them is in `make test`: each property
has another test there. `python -m tests.in_turn REPORT` writes the list anew from a report of a
whole run (`python -m pytest -n 2 --dist loadgroup --junitxml=REPORT`).
"""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tests.thorough import left_out, times_of

LIST: Final = Path(__file__).with_suffix(".txt")
PARTS: Final = 4
SECONDS: Final = 1.0
"""All cases of a test that is in a part take that long at least."""


def parts() -> list[list[str]]:
    """The tests of each part: file, "::", function."""
    made: list[list[str]] = [[] for _ in range(PARTS)]
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            part, _, name = line.partition(" ")
            made[int(part)].append(name)
    return made


@functools.cache
def resting() -> frozenset[str]:
    """The tests that have no turn at this commit."""
    now = part_of(commit())
    return frozenset(name for at, names in enumerate(parts()) if at != now for name in names)


def part_of(digest: str) -> int:
    """The part that has its turn at a commit; the first where there is none."""
    return int(digest or "0", 16) % PARTS


def commit() -> str:
    """The commit that is checked out; "" in a tree that is no checkout of git."""
    asked = ["git", "-C", str(LIST.parent), "rev-parse", "HEAD"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def choose(times: dict[str, float], names: Iterable[str]) -> list[tuple[int, str]]:
    """The part of each of these tests that takes long, by the time that all its cases took: the
    longest first, each into the part that takes least so far."""
    taken = [0.0] * PARTS
    found: list[tuple[int, str]] = []
    for name in sorted(names, key=lambda name: (-times.get(name, 0.0), name)):
        if (took := times.get(name, 0.0)) < SECONDS:
            break
        part = taken.index(min(taken))
        taken[part] += took
        found.append((part, name))
    return sorted(found, key=lambda row: (row[1], row[0]))


def main(arguments: list[str]) -> int:
    """The exit status."""
    (report,) = arguments
    rows = choose({name: sum(all_) for name, all_ in times_of(Path(report)).items()}, left_out())
    head = "# Tests that `make test-all` runs in turn; `python -m tests.in_turn` writes this.\n"
    LIST.write_text(head + "".join(f"{part} {name}\n" for part, name in rows), encoding="utf-8")
    print(f"{len(rows)} tests are run in turn")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
