"""Random programs without a mistake, recorded and checked, for a night: no step and no kernel may
differ. It can be stopped, and goes on.

    python -m tests.viz.check.night [--steps N] [--first SEED] [--jobs N] [--state FILE]

`python -m tests.bench check --all` is the same.

Programs are those of `tests/core/tensor/random_programs`, for CPU, PTX:EMU and AMD:EMU in turn;
some are on several devices, some are gradients; and functions of Tensors whose length is a variable
(`tests/core/tensor/test_lengths.py`) and operations on tiles (`tests/core/tile`). Prints how many
answers there were of each kind as it goes, and exits with 1 where something is blamed. What was
done is kept in a file for the same code: other code begins anew.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random, SystemRandom
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

import viz
from core import compile
from core.errors import UopvizError
from core.isolation.limits import limit_memory
from core.tile import LAYOUTS
from tests.bench.measure import table
from tests.core.prove.night import ROOT, revision
from tests.core.tensor.random_programs.draft import Rules
from tests.core.tensor.random_programs.program import draw_program
from tests.core.tensor.random_programs.running import (
    How,
    draw_how_on_several,
    forward,
    gradients,
    is_differentiable,
)
from tests.core.tensor.test_lengths import FUNCTIONS, ROWS, length, numbers
from tests.core.tile.running import run
from tests.core.tile.test_every_operation import (
    DTYPES,
    OPERATIONS,
    TARGETS,
    Case,
    kernel_of,
    values,
)
from viz.bisect import worker as task_worker
from viz.check.message import message
from viz.check.part import check_part
from viz.check.parts import Part
from viz.check.whole import judged
from viz.check.whole.kernels import kernels_of, wholes_of
from viz.views.store import Store
from viz.whatif import worker as kernel_worker

STEPS: Final = 1_000_000
STATE: Final = ROOT / ".venv" / "check-night.json"
BLOCK: Final = 6
"""Programs after which what was done is kept."""
MEMORY: Final = 8 << 30
"""Bytes that one process may write."""
DEVICES: Final = ("CPU", "PTX:EMU", "AMD:EMU")
SEVERAL, GRADIENT, LENGTH, TILE = "several devices", "gradients", "lengths", "tiles"
PLACES: Final = (*DEVICES, *DEVICES, SEVERAL, GRADIENT, LENGTH, TILE)
"""Where programs run, in turn."""
KINDS: Final = ("proved", "sampled", "assumes", "unchecked", "differs")
_DTYPES: Final = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                  "float16", "float32", "float32", "float64")  # fmt: skip
ALL: Final = Rules(_DTYPES)
SMOOTH: Final = Rules(("bool", "int32", "float32", "float64", "float64"), smooth=True)
SECONDS: Final = 60.0
"""For the steps of one program, and once more for its kernels."""


@dataclass
class Checked:
    """How many answers there were, by (where it runs, kind); of kernels, the kind begins with
    "kernel "; what could not be run; and what is blamed."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    why: Counter[str] = field(default_factory=Counter[str])
    blamed: list[str] = field(default_factory=list[str])

    def add(self, other: Checked) -> None:
        """Takes others in."""
        self.counts += other.counts
        self.why += other.why
        self.blamed += other.blamed

    @property
    def steps(self) -> int:
        """How many steps were checked."""
        return sum(n for (_, kind), n in self.counts.items() if kind in KINDS)

    def data(self) -> dict[str, Any]:
        """As JSON."""
        rows = [[*key, n] for key, n in sorted(self.counts.items())]
        return {"counts": rows, "why": dict(self.why), "blamed": self.blamed}

    @classmethod
    def of(cls, data: dict[str, Any]) -> Checked:
        """Of what `data` made."""
        counts = Counter({(where, kind): n for where, kind, n in data.get("counts", ())})
        return cls(counts, Counter(data.get("why", {})), list(data.get("blamed", ())))


def place_of(seed: int) -> str:
    """Where the program of a seed runs."""
    return PLACES[seed % len(PLACES)]


def record(seed: int, path: Path) -> bool:
    """Runs the program of a seed and records it; whether there is one that can be run."""
    place = place_of(seed)
    program = {LENGTH: run_length, TILE: run_tile}.get(place, run_program)
    vars(compile)["_kept"].cache_clear()  # its kernels are recorded, whatever came before
    with viz.record(path):
        try:
            return program(seed)
        except UopvizError:
            return False  # an emulator has limits


def run_program(seed: int) -> bool:
    """Runs a random program, forward or backward."""
    place = place_of(seed)
    program = draw_program(Random(seed), SMOOTH if place == GRADIENT else ALL)
    if place != GRADIENT:
        how = draw_how_on_several(Random(seed)) if place == SEVERAL else How(place)
        forward(program, how)
        return True
    if is_differentiable(program):
        gradients(program, How())
        return True
    return False


def run_length(seed: int) -> bool:
    """Runs a function of a Tensor whose length is a variable, for two lengths."""
    choose = Random(seed)
    function = FUNCTIONS[choose.choice([*FUNCTIONS])]
    x = numbers(seed).to(choose.choice(DEVICES)).realize()
    for n in choose.sample(range(1, ROWS + 1), 2):
        function(x[: length(n)]).numpy()
    return True


def run_tile(seed: int) -> bool:
    """Runs a kernel with an operation on tiles on an emulator."""
    choose = Random(seed)
    case = Case(
        choose.choice([*OPERATIONS]),
        choose.choice(LAYOUTS),
        choose.choice((1, 4)),
        choose.choice(DTYPES),
        choose.choice(TARGETS),
    )
    given = values(case.dtype, case.warps)
    wanted = OPERATIONS[case.name][1](given, case.warps, case.dtype)
    run(kernel_of(case, case.target), [given, np.zeros(wanted.shape)], case.target)
    return True


def check_trace(path: Path, place: str, seed: int) -> Checked:
    """What a check says of a trace: of its steps, its passes, and its kernels as a whole."""
    judged.limit_files = task_worker.limit_memory = kernel_worker.limit_files = _unlimited
    found, store = Checked(), Store(str(path))
    try:
        passes = tuple(r["id"] for r in store.tree()["rows"] if r["kind"] == "rewrite")
        parts = check_part(Part(str(path), passes, seconds=SECONDS))
        kernels: dict[int, dict[str, Any]] = {}
        until = time.monotonic() + SECONDS

        def here(tasks: Sequence[dict[str, Any]], told: Any) -> None:
            for at, task in enumerate(tasks):
                if time.monotonic() < until:
                    told(at, task_worker.answer(json.dumps({**task, "memory": 1 << 40})))

        wholes_of(store, kernels_of(store)).run(
            here, lambda one: kernels.update({one["kernel"]: one})
        )
        said = message(store, parts, [*kernels.values()])
    finally:
        store.close()
    for kind, n in said["counts"].items():
        found.counts[place, kind] += n
    for one in said["kernels"]:
        found.counts[place, f"kernel {one['state']}"] += 1
        if one["state"] == "unknown":
            found.why[one["why"][:80]] += 1
        if one["state"] == "differs":
            found.blamed.append(f"seed {seed}, kernel {one['name']}: {one['outcome']}"[:400])
    found.blamed += [f"seed {seed}: {one['said']}" for one in said["undone"]]
    for row in said["rules"]:
        verdict = row["verdict"]
        if verdict["kind"] == "differs":
            found.blamed.append(f"seed {seed}, {row['name']}, {row['first']}: {verdict}"[:600])
        if verdict["kind"] == "unchecked":
            found.why[f"{row['name']}: {verdict['how']}"[:120]] += row["steps"]
    return found


def _unlimited(_: int) -> None:
    pass


def block(seeds: Iterable[int]) -> Checked:
    """The answers for the programs of some seeds."""
    limit_memory(MEMORY)
    found = Checked()
    for seed in seeds:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "run.viz"
            if record(seed, path):
                found.add(check_trace(path, place_of(seed), seed))
                found.counts[place_of(seed), "programs"] += 1
    return found


class Night:
    """What is done: so many blocks of seeds behind the first one, and the answers."""

    def __init__(self, path: Path, first: int | None) -> None:
        self._path, self._revision = path, revision(("viz", "tests/viz/check"))
        kept: dict[str, Any] = {}
        with suppress(OSError, ValueError, TypeError):
            kept = dict(json.loads(path.read_text()))
        same = kept.get("revision") == self._revision and first in (None, kept.get("first"))
        kept = kept if same else {}
        self.first: int = kept.get("first", first) or SystemRandom().randrange(1 << 40)
        self.blocks: int = kept.get("blocks", 0)
        self.found = Checked.of(kept)

    def keep(self) -> None:
        """Writes it down, at once or not at all."""
        of = {"revision": self._revision, "first": self.first, "blocks": self.blocks}
        fresh = self._path.with_suffix(".new")
        fresh.write_text(json.dumps(of | self.found.data()))
        fresh.replace(self._path)

    def told(self) -> str:
        """How far it is, as a table."""
        states = ("equal", "rounding", "unknown", "differs")
        head = ("where", "programs", "steps", *(f"{kind}, %" for kind in KINDS),
                *(f"kernels {state}" for state in states))  # fmt: skip
        counts = self.found.counts
        places = [p for p in dict.fromkeys(PLACES) if counts[p, "programs"]]
        rows = [self._row(place, [place], states) for place in places]
        return table("Random programs", head, [*rows, self._row("all", places, states)])

    def _row(self, name: str, places: Sequence[str], states: Sequence[str]) -> list[object]:
        def count(kind: str) -> int:
            return sum(self.found.counts[place, kind] for place in places)

        steps = sum(map(count, KINDS))
        shares = [f"{100 * count(kind) / max(1, steps):.2f}" for kind in KINDS]
        kernels = (count(f"kernel {state}") for state in states)
        return [name, count("programs"), f"{steps:,}", *shares, *kernels]


def work(night: Night, steps: int, jobs: int) -> None:
    """Checks until there are enough steps, in blocks of seeds that are done in order."""
    said = time.monotonic()
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, fresh, max_tasks_per_child=4) as pool:
        while night.found.steps < steps:
            firsts = [night.first + (night.blocks + k) * BLOCK for k in range(4 * jobs)]
            for found in pool.map(block, [range(first, first + BLOCK) for first in firsts]):
                night.found.add(found)
                night.blocks += 1
                night.keep()
                for text in found.blamed:
                    print(f"\nBLAMED: {text}", flush=True)
                if time.monotonic() - said > 60:
                    said = time.monotonic()
                    print(f"{night.found.steps:,} of {steps:,} steps", flush=True)
                if night.found.steps >= steps:
                    break


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.viz.check.night")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"how many (default {STEPS:,})")
    parser.add_argument("--first", type=int, help="the first seed (default: a random one)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--state", type=Path, default=STATE, help="where it is kept what is done")
    chosen = parser.parse_args(arguments)
    night = Night(chosen.state, chosen.first)
    print(f"first seed {night.first}, {night.blocks} blocks done, kept in {chosen.state}")
    work(night, chosen.steps, chosen.jobs)
    print(night.told())
    for why, n in night.found.why.most_common(12):
        print(f"  {n:6,}  {why}")
    return 1 if night.found.blamed else 0


if __name__ == "__main__":
    sys.exit(main())
