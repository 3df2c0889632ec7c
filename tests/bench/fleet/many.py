"""Ten thousand packed runs, of the rows of a few and without their matches, which the page does not
read.

A function of its arguments. Writes as `pack` does.
"""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from tests.bench.fleet.eras import COMMITS, era_of
from tests.bench.fleet.runs import START, Recording, commit_name
from viz.fleet.folder import Folder
from viz.fleet.layout import CONTENTS, TABLES
from viz.fleet.packing import BATCH, Done, write_batch
from viz.fleet.tables import Packed, packed
from viz.views.store import Store


def write_many(recorded: dict[tuple[int, str], list[Recording]], to: Folder, count: int) -> None:
    """Packs `count` runs, each with the rows of a recording of its compiler."""
    rows = {key: [_packed(one.path) for one in found[:1]] for key, found in recorded.items()}
    programs = sorted({program for _, program in recorded})
    shared: dict[str, set[str]] = {table: set() for table in CONTENTS}
    waiting: list[Packed] = []
    for number in range(count):
        commit = number * COMMITS // count
        program = programs[number % len(programs)]
        run = random.Random(number).choice(rows[era_of(commit), program])
        started = START + timedelta(hours=4 * commit, seconds=10 * number)
        head = {
            **run.head,
            "run_id": f"{random.Random(number).getrandbits(128):032x}",
            "commit": commit_name(commit),
            "program": program,
            "time": started.isoformat(),
        }
        waiting.append(replace(run, head=head, date=head["time"][:10]))
        if len(waiting) == BATCH or number == count - 1:
            write_batch(to, waiting, shared, Done())
            waiting = []


def _packed(path: Path) -> Packed:
    store = Store(path)
    try:
        run = packed(store, "")
        none = {**run.tables, "matches": {name: [] for name in TABLES["matches"]}}
        return replace(run, tables=none)
    finally:
        store.close()
