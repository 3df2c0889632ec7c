"""The optimisations that are chosen for kernels, beside the best that long searches found.

`python -m tests.bench.choice --into FILE` searches: it goes on where the file ends. The first line
of the file names the machine, each other line is one kernel with all that was tried for it, in
nanoseconds. `python -m tests.bench choice` reads what was kept of such searches of this machine's
processor, chooses, and measures the choice and the best in turn.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any, Final

from core.beam.choices import hardware
from core.beam.isolated import Isolated
from core.compile import compile_kernel
from core.errors import UopvizError
from core.hardware.host import cpu_for
from core.helpers import Context
from core.passes.cost.plan import opts_of as opts_of_plan
from core.passes.cost.plans import candidates
from core.passes.optimize import Kernel, chosen_opts, predicted_us, prepared
from core.passes.optimize.kernel import OUTER
from core.passes.optimize.legal import AMOUNTS, apply_all, why_not
from core.passes.optimize.reading import read
from core.passes.optimize.search import Limits, Opts, search
from core.passes.pipeline import BEFORE_OPTS, run_passes
from core.runtime.device import Device
from core.runtime.reference.inputs import Values, random_inputs
from core.toolchain.processor import host_target
from core.trial.trial import Trial, arguments
from core.uop import UOp
from core.uop.kernelinfo import AxisType, Opt, OptOps
from tests.bench.choicekernels import kernels
from tests.bench.measure import table

WIDTH: Final = 3
SEARCHES: Final = Path(__file__).parent / "searches"
"""What searches found, a file for each device."""
TURNS: Final = 8
LAUNCHES: Final = 8
"""Of each program in a turn."""
STARTS: Final = 24
"""Lists of opts that a search of a kernel begins with."""
_KINDS: Final = (
    *(OptOps.UPCAST, OptOps.UNROLL, OptOps.LOCAL, OptOps.LOCAL, OptOps.LOCAL, OptOps.GROUP),
    OptOps.TC,
)
_OPT: Final = re.compile(r"(\w+)\((\w+), (\(.*?\)|\w+)\)")


def opts_of(text: str) -> Opts:
    """The opts that `text_of` wrote."""
    found: list[Opt] = []
    for name, axis, arg in _OPT.findall(text):
        numbers = tuple(int(n) for n in re.findall(r"-?\d+", arg))
        value = numbers if arg.startswith("(") else numbers[0] if numbers else None
        found.append(Opt(OptOps[name], None if axis == "None" else int(axis), value))
    return tuple(found)


def text_of(opts: Opts) -> str:
    """Opts as they are kept."""
    return " ".join(str(opt) for opt in opts)


def rows_of(file: Path) -> list[dict[str, Any]]:
    """The kernels of a file, without a line that was cut off."""
    found: list[dict[str, Any]] = []
    for line in file.read_text().splitlines() if file.exists() else ():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return [row for row in found if "kernel" in row]


class _Noted:
    """`Trials` that note what everything cost. `alone` is held while a program runs."""

    def __init__(self, trials: Isolated, alone: threading.Lock) -> None:
        self._trials, self._alone = trials, alone
        self.legal, self.compiled = trials.legal, trials.compiled
        self.costs: dict[Opts, float] = {}

    def cost(self, opts: Opts, enough: float) -> float:
        self._trials.compiled(opts)
        with self._alone:
            cost = self._trials.cost(opts, enough)
        self.costs[opts] = min(cost, self.costs.get(opts, cost))
        return self.costs[opts]

    def tried(self, lists: Sequence[Opts], until: float) -> None:
        """Measures lists of opts, as far as time allows."""
        for opts in lists:
            if time.monotonic() > until:
                return
            try:
                self.cost(opts, 4 * min(self.costs.values(), default=1e9))
            except UopvizError:
                continue


def starts_of(ast: UOp, device: str) -> list[Opts]:
    """Lists of opts to begin with: what is predicted to be fast, on devices with work groups what
    chance picks."""
    target = Device[device].target
    assert target is not None
    kernel = prepared(run_passes(ast, target, None, BEFORE_OPTS), target)
    if kernel.as_written:
        return [()]
    if target.has_local:
        return [(), *(_by_chance(kernel, Random(seed)) for seed in range(STARTS))]
    nest = read(kernel)
    found = candidates(nest, target, cpu_for(target))
    half = STARTS // 2
    picked = found[:half] + found[half :: max(1, len(found) // half)]
    return [opts_of_plan(nest, c.plan) for c in picked]


def _by_chance(kernel: Kernel, rng: Random) -> Opts:
    made, found = kernel.copied(), list[Opt]()
    for _ in range(rng.randint(2, 7)):
        kind = rng.choice(_KINDS)
        inner = kind in (OptOps.UNROLL, OptOps.GROUP)
        sizes = made.sizes(AxisType.REDUCE) if inner else made.sizes(*OUTER)
        if not sizes:
            continue
        axis = rng.randrange(len(sizes))
        amounts = [n for n in AMOUNTS if sizes[axis] % n == 0]
        if not amounts:
            continue
        opt = Opt(kind, axis, rng.choice(amounts))
        if kind is OptOps.TC:
            opt = Opt(kind, 0, (-1, 2, 1))
        if why_not(made, opt) is None:
            found.append(opt)
    return tuple(found)


def searched(ast: UOp, device: str, seconds: float, alone: threading.Lock) -> Mapping[str, Any]:
    """All that was tried for a kernel within `seconds`, and what is chosen for it."""
    begun = time.monotonic()
    with closing(Isolated(ast, device)) as trials:
        noted = _Noted(trials, alone)
        noted.tried([*dict.fromkeys((trials.chosen, *starts_of(ast, device)))], begun + seconds / 2)
        best = sorted(noted.costs, key=noted.costs.__getitem__)
        left = begun + seconds - time.monotonic()
        if left > 0:
            search(noted, WIDTH, best[:2] or [()], Limits(left))
        best = sorted(noted.costs, key=noted.costs.__getitem__)
        noted.tried([*best[:4], trials.chosen], float("inf"))
        tried = {text_of(o): round(1e9 * c) for o, c in noted.costs.items()}
        return {"chosen": text_of(trials.chosen), "tried": tried}


def search_all(device: str, seconds: float, each: float, into: Path, beside: int) -> None:
    """Searches the kernels that the file does not have yet, in an order of chance, for `seconds`:
    `beside` of them are compiled side by side, while one program runs at a time."""
    until = time.monotonic() + seconds
    if not into.exists():
        into.write_text(json.dumps({"machine": hardware(device), "device": device}) + "\n")
    done = {row["kernel"] for row in rows_of(into)}
    left = [(name, ast) for name, ast in kernels().items() if name not in done]
    Random(1).shuffle(left)
    alone, writing = threading.Lock(), threading.Lock()

    def one(item: tuple[str, UOp]) -> None:
        name, ast = item
        if time.monotonic() + each > until:
            return
        try:
            made = searched(ast, device, each, alone)
        except UopvizError as error:
            made = {"failed": error.what}
        with writing, into.open("a") as file:
            file.write(json.dumps({"kernel": name, **made}) + "\n")

    with ThreadPoolExecutor(beside) as pool:
        list(pool.map(one, left))


def figures() -> str:
    """The table: what is chosen now beside the best that searches of the CPU found. Of a kernel
    whose choice no search has tried, both are measured in turn."""
    return table("Choice of opts on the CPU, one thread", _HEAD, [_row(*_kept())])


_HEAD: Final = ["kernels", "time, chosen over best: geometric mean", "95 %", "worst",
                "ms to choose, mean", "longest", "rank correlation of one kernel's",
                "of all"]  # fmt: skip


def _kept() -> tuple[list[dict[str, Any]], dict[str, UOp]]:
    return rows_of(SEARCHES / "cpu.jsonl"), kernels()


def _row(rows: Sequence[Mapping[str, Any]], asts: Mapping[str, UOp]) -> list[object]:
    target = host_target()
    ratios: list[float] = []
    took: list[float] = []
    within: list[float] = []
    every: list[tuple[float, float]] = []
    for row in rows:
        tried: Mapping[str, int] = row["tried"]
        ast = asts[row["kernel"]]
        base = prepared(run_passes(ast, target, None, BEFORE_OPTS), target)
        begun = time.process_time()
        opts = text_of(chosen_opts(base.copied()))
        took.append(1e3 * (time.process_time() - begun))
        best = min(tried, key=tried.__getitem__)
        ratios.append(tried[opts] / tried[best] if opts in tried else _in_turn(ast, opts, best))
        pairs = [(_predicted(base, o), float(ns)) for o, ns in tried.items()]
        every += pairs
        within += [_spearman(pairs)] if len(pairs) > 2 else []
    mean = math.exp(sum(math.log(r) for r in ratios) / len(ratios))
    return [
        len(ratios),
        f"{mean:.2f}",
        f"{sorted(ratios)[int(0.95 * (len(ratios) - 1))]:.2f}",
        f"{max(ratios):.2f}",
        f"{sum(took) / len(took):.1f}",
        f"{max(took):.1f}",
        f"{sum(within) / len(within):.2f}",
        f"{_spearman(every):.2f}",
    ]


def _predicted(base: Kernel, opts: str) -> float:
    made = base.copied()
    apply_all(made, opts_of(opts))
    return predicted_us(made) or 0.0


def _in_turn(ast: UOp, opts: str, best: str) -> float:
    """The time of a program over that of another, the least of several launches of each in turn, in
    seconds of the processor: others that run beside them do not count."""
    trial, device = Trial(ast, "CPU"), Device["CPU"]
    inputs = random_inputs(ast, values=Values.NORMAL, variables=trial.variables)
    trial.fill([inputs.buffers[n] for n in range(len(arguments(ast)))])
    least = [math.inf, math.inf]
    with Context(CPU_THREADS=1):
        runners = [
            device.load(compile_kernel(ast, host_target(), opts_of(o))) for o in (opts, best)
        ]
        for _ in range(TURNS):
            for at, runner in enumerate(runners):
                for _ in range(LAUNCHES):
                    begun = time.process_time()
                    trial.launch(runner)
                    least[at] = min(least[at], time.process_time() - begun)
    return max(1.0, least[0] / max(least[1], 1e-7))


def _spearman(pairs: Sequence[tuple[float, float]]) -> float:
    """The correlation of the ranks of two measures; 1 where they order alike."""
    ranks: list[list[float]] = []
    for side in range(2):
        order = sorted(range(len(pairs)), key=lambda at: pairs[at][side])
        rank = [0.0] * len(pairs)
        for place, at in enumerate(order):
            rank[at] = place
        ranks.append(rank)
    apart = sum((a - b) ** 2 for a, b in zip(*ranks, strict=True))
    n = len(pairs)
    return 1 - 6 * apart / (n * (n * n - 1))


def main() -> None:
    """Searches."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.choice", description=__doc__)
    parser.add_argument("--device", default="CPU")
    parser.add_argument("--seconds", type=float, default=600.0, help="of all searches together")
    parser.add_argument("--each", type=float, default=10.0, help="seconds of one kernel's search")
    parser.add_argument("--beside", type=int, default=1, help="kernels compiled side by side")
    parser.add_argument("--into", type=Path, required=True, help="the file that is written on")
    asked = parser.parse_args()
    search_all(asked.device, asked.seconds, asked.each, asked.into, asked.beside)


if __name__ == "__main__":
    main()
