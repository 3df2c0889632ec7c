"""A million pairs: the prover against execution, for a night. It can be stopped, and goes on.

    python -m tests.core.prove.night [--pairs N] [--first SEED] [--jobs N] [--state FILE]

Prints how many answers there were of each kind as it goes, and exits with 1 after an answer that is
false. What was done is kept in a file for the same checker: another one begins anew.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import SystemRandom
from typing import Any, Final

from tests.core.prove.judged import MISSING, Judged, judged

ROOT: Final = Path(__file__).parents[3]
BLOCK: Final = 1_024
BLOCKS: Final = 8
"""Blocks after which a process ends: it keeps what it was asked."""
PAIRS: Final = 1_000_000
STATE: Final = ROOT / ".venv" / "prover-night.json"


def revision(folders: Iterable[str] = ()) -> str:
    """What the answers depend on: the text of the checker, of the compiler's core and of this, and
    of further folders."""
    found = hashlib.sha256()
    for folder in ("core", "tests/core/prove", *folders):
        for path in sorted((ROOT / folder).rglob("*.py")):
            found.update(path.read_bytes())
    return found.hexdigest()[:16]


class Night:
    """What is done: the blocks of seeds behind the first one, and the answers."""

    def __init__(self, path: Path, first: int | None) -> None:
        self._path, self._revision = path, revision()
        kept = _kept(path)
        same = kept.get("revision") == self._revision and first in (None, kept.get("first"))
        kept = kept if same else {}
        self.first: int = kept.get("first", first) or SystemRandom().randrange(1 << 40)
        self.blocks: int = kept.get("blocks", 0)
        self.found = Judged(Counter(kept.get("counts", {})), list(kept.get("wrong", [])))

    def keep(self) -> None:
        """Writes it down, at once or not at all."""
        data = {"revision": self._revision, "first": self.first, "blocks": self.blocks,
                "counts": dict(self.found.counts), "wrong": self.found.wrong}  # fmt: skip
        new = self._path.with_suffix(".new")
        new.write_text(json.dumps(data))
        new.replace(self._path)

    def told(self, pairs: int) -> str:
        """How far it is."""
        counts = ", ".join(f"{kind} {n:,}" for kind, n in self.found.counts.most_common()
                           if kind != MISSING)  # fmt: skip
        return f"{self.found.pairs:,} of {pairs:,} pairs: {counts}; false {len(self.found.wrong)}"


def _kept(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        return {}


def block(first: int) -> Judged:
    """The answers to one block of seeds."""
    return judged(range(first, first + BLOCK))


def run(night: Night, pairs: int, jobs: int) -> None:
    """Asks until there are enough pairs, in blocks of seeds that are done in order."""
    said = time.monotonic()
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, fresh, max_tasks_per_child=BLOCKS) as pool:
        while night.found.pairs < pairs:
            firsts = [night.first + (night.blocks + k) * BLOCK for k in range(4 * jobs)]
            for found in pool.map(block, firsts):
                night.found.add(found)
                night.blocks += 1
                night.keep()
                for text in found.wrong:
                    print(f"\nFALSE: {text}", flush=True)
                if time.monotonic() - said > 30:
                    said = time.monotonic()
                    print(night.told(pairs), flush=True)
                if night.found.pairs >= pairs:
                    break


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.core.prove.night")
    parser.add_argument("--pairs", type=int, default=PAIRS, help=f"how many (default {PAIRS:,})")
    parser.add_argument("--first", type=int, help="the first seed (default: a random one)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--state", type=Path, default=STATE, help="where it is kept what is done")
    chosen = parser.parse_args()
    night = Night(chosen.state, chosen.first)
    print(f"first seed {night.first}, {night.blocks} blocks done, kept in {chosen.state}")
    run(night, chosen.pairs, chosen.jobs)
    print(night.told(chosen.pairs))
    return 1 if night.found.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
