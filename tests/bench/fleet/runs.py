"""A thousand runs made of a hundred: copies of recorded traces with other times and identities.

A function of the recordings and its arguments. Never changes a recording.
"""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench.fleet.eras import COMMITS, RECORDED, era_of
from viz.format.blocks import EVENTS, LAUNCHES, REWRITES, TRIES, Columns
from viz.format.pack import Ints
from viz.read.tracefile import TraceFile

START = datetime(2026, 1, 5, tzinfo=UTC)
NOISE = 0.08
"""Of a run's times as a whole, as a standard deviation of their logarithm; single times have twice
that."""
SLOWER = ("rule gep_of_wide", "pass devectorize")
"""What the slower rule makes slower: pooled apart before and after it."""


@dataclass(frozen=True)
class Recording:
    """A recorded trace, with a factor for each number of a rule, name of a pass or a kernel, and
    context: from the time that it took here, beside whatever else the machine did, to that of all
    recordings of the program."""

    path: Path
    program: str
    rules: Mapping[int, float]
    names: Mapping[int, float]
    contexts: Mapping[int, float]
    kernels: Mapping[int, float]

    @property
    def blocks(self) -> tuple[tuple[Columns, str, tuple[str, ...], Mapping[int, float]], ...]:
        """The kinds of blocks that hold times: the column that chooses the factor, those of times,
        and the factors."""
        return (
            (EVENTS, "match_rule", ("match_us",), self.rules),
            (TRIES, "rule", ("us", "function_us"), self.rules),
            (REWRITES, "name", ("us",), self.names),
            (LAUNCHES, "name", ("ns",), self.kernels),
        )


def read_all(
    recorded: Mapping[tuple[int, str], Sequence[Path]],
) -> dict[tuple[int, str], list[Recording]]:
    """The recordings with their factors."""
    costs = {(era, path): _costs(path) for (era, _), paths in recorded.items() for path in paths}
    pooled: dict[tuple[str, bool, str], list[float]] = {}
    for (era, program), paths in recorded.items():
        for path in paths:
            for name, (cost, _) in costs[era, path].items():
                pooled.setdefault((program, name in SLOWER and era > 0, name), []).append(cost)
    typical = {key: statistics.median(values) for key, values in pooled.items()}
    made: dict[tuple[int, str], list[Recording]] = {}
    for (era, program), paths in recorded.items():
        for path in paths:
            factors: dict[str, dict[int, float]] = {
                "rule": {},
                "pass": {},
                "kernel": {},
                "launch": {},
            }
            for name, (cost, numbers) in costs[era, path].items():
                wanted = typical[program, name in SLOWER and era > 0, name]
                own = dict.fromkeys(numbers, wanted / cost if cost else 1.0)
                factors[name.partition(" ")[0]].update(own)
            one = Recording(path, program, *factors.values())
            made.setdefault((era, program), []).append(one)
    return made


def _costs(path: Path) -> dict[str, tuple[float, list[int]]]:
    """The mean time of a match of each rule, a pass of each name and the compilation of each
    kernel, the median of its launches, and the numbers that these have in the file."""
    found: dict[str, tuple[list[float], set[int]]] = {}

    def add(name: str, time: float, number: int, count: int = 1) -> None:
        times, numbers = found.setdefault(name, ([], set()))
        times += [time / count] * min(count, 1000)
        numbers.add(number)

    file = TraceFile(path)
    file.refresh()
    for (_, rule), (matches, _, ns) in file.totals.items():
        if matches:
            add(f"rule {file.rules[rule].name}", ns, rule, matches)
    numbers = {text: at for at, text in enumerate(file.strings.all)}
    for rewrite in file.rewrites.values():
        add(f"pass {rewrite.name}", rewrite.us or 0, numbers.get(rewrite.name, 0))
    for context in file.contexts.values():
        add(f"kernel {context.name}", context.us or 0, context.id)
    for name, _, _, ns, _ in file.launches:
        add(f"launch {name}", ns, numbers.get(name, 0))
    file.close()
    return {
        name: (
            (statistics.median if name.startswith("launch ") else statistics.fmean)(times),
            [*numbers],
        )
        for name, (times, numbers) in found.items()
    }


def commit_name(commit: int) -> str:
    """The hash of a simulated commit."""
    return random.Random(f"commit {commit}").randbytes(20).hex()


def make_runs(
    recorded: Mapping[tuple[int, str], Sequence[Recording]],
    folder: Path,
    count: int,
    tell: Callable[[str], None],
) -> list[Path]:
    """`count` runs over all commits, the programs in turn; those that are there stay."""
    folder.mkdir(parents=True, exist_ok=True)
    programs = [name for name, weight in RECORDED.items() for _ in range(weight)]
    found: list[Path] = []
    for number in range(count):
        commit = number * COMMITS // count
        program = programs[number % len(programs)]
        path = folder / f"{number:05}-{program}.viz"
        if not path.exists():
            choose = random.Random(number)
            tell(path.name)
            _rewrite(choose.choice(recorded[era_of(commit), program]), path, commit, number, choose)
        found.append(path)
    return found


def _rewrite(
    recording: Recording, path: Path, commit: int, number: int, choose: random.Random
) -> None:
    part = path.with_suffix(".part")
    shutil.copyfile(recording.path, part)
    noise = np.random.default_rng(number)
    whole = float(noise.lognormal(0, NOISE))

    def other(values: Sequence[int] | Ints, factors: Sequence[float]) -> list[int]:
        own = noise.lognormal(0, 2 * NOISE, len(values)) * whole
        return np.rint(np.asarray(values, np.float64) * factors * own).astype(np.int64).tolist()

    db = sqlite3.connect(part)
    with db:
        started = START + timedelta(hours=4 * commit, seconds=60 * number)
        meta = {
            "run": f"{choose.getrandbits(128):032x}",
            "started": started.isoformat(),
            "commit": {"id": commit_name(commit), "dirty": 0},
            "name": recording.program,
        }
        for key, value in meta.items():
            db.execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (key, json.dumps(value)))
        rows = db.execute("SELECT pass, rule, ns FROM rule_totals").fetchall()
        if rows:
            names, rules, ns = zip(*rows, strict=True)
            made = other(ns, [recording.rules.get(rule, 1.0) for rule in rules])
            db.executemany(
                "UPDATE rule_totals SET ns = ? WHERE pass = ? AND rule = ?",
                zip(made, names, rules, strict=True),
            )
        ids, us = zip(*db.execute("SELECT id, us FROM contexts WHERE us IS NOT NULL"), strict=True)
        made = other(us, [recording.contexts.get(context, 1.0) for context in ids])
        db.executemany("UPDATE contexts SET us = ? WHERE id = ?", zip(made, ids, strict=True))
        for columns, key, times, factors in recording.blocks:
            kind = columns.kind
            for block, data in db.execute("SELECT id, data FROM blocks WHERE kind = ?", (kind,)):
                values: dict[str, Any] = columns.unpack(data)
                own = [factors.get(one, 1.0) for one in values[key].tolist()]
                for name in times:
                    values[name] = other(values[name], own)
                packed = columns.pack([*values.values()])
                db.execute("UPDATE blocks SET data = ? WHERE id = ?", (packed, block))
    db.close()
    part.rename(path)
