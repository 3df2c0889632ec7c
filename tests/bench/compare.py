"""Two runs side by side: keys, alignment, the overview of two runs, passes in step, folders.

Figures are the least of some runs: each is work of one thread on data in memory, apart from the
folders, which take all processors.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from tests.bench import traces
from tests.bench.measure import as_installed, run, table
from tests.bench.traces import Synthesis, load_graph, synthetic
from viz.compare.comparison import Comparison
from viz.compare.matching.align import align
from viz.compare.matching.difference import step_keys
from viz.compare.matching.keys import NodeKeys
from viz.compare.matching.rules import Rules
from viz.compare.matching.side import Side
from viz.dialect.rundialect import RunDialect
from viz.read.tracefile import TraceFile
from viz.views.store import Store
from viz.write.writer import TraceWriter

Row = Sequence[object]
HEADER: Final = ("what", "measured", "mark (goal)")
NODES: Final = 1_000_000
MATCHES: Final = 100_000
TRACES: Final = 200
RUNS: Final = int(os.environ.get("BENCH_RUNS", "3"))


def figures() -> str:
    """The table."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for part in PARTS for row in part(Path(folder))]
    return table("Two runs side by side", HEADER, rows)


def keys(folder: Path) -> Iterator[Row]:
    """Keys of a million nodes: of programs whose leaves alone have arguments, of programs of which
    each node has an argument of its own, and of a chain as deep as it is long."""
    graph = load_graph("program_24255")

    def programs(made: Synthesis, inner: bool) -> None:
        for copy in range(NODES // len(graph) + 1):
            made.graph(graph, f"{copy}", inner)
            made.writer.flush()

    wide = synthetic(folder / "wide.viz", partial(programs, inner=False))
    various = synthetic(folder / "various.viz", partial(programs, inner=True))
    deep = folder / "deep.viz"
    with TraceWriter(deep, {}) as writer:
        node = writer.node("CONST", "int32", arg="0")
        for at in range(NODES):
            node = writer.node("NEG", "int32", (node,))
            if not at % 100_000:
                writer.flush()
    for what, path, mark in (
        ("graphs of programs", wide, "1.5 s"),
        ("each with an argument of its own", various, ""),
        ("a chain", deep, "1.5 s"),
    ):
        file = TraceFile(path)
        file.refresh()
        seconds = least(lambda f=file: NodeKeys(f, RunDialect()).refresh())
        count = file.nodes.count
        yield f"keys of {count:,} nodes, {what}", f"{seconds:.2f} s", mark
        file.close()


def matches(folder: Path) -> Iterator[Row]:
    """Two runs of 100,000 matches: one pass of which the second has one match less at the front,
    and 1,000 passes in 100 kernels."""
    graph = load_graph("program_24255")
    pair = [traces.one_pass(folder / f"{n}.viz", graph, MATCHES - n) for n in (0, 1)]
    stores = [Store(path) for path in pair]
    sides = [Side(store) for store in stores]
    for side in sides:
        side.refresh()
    rules = Rules(*sides)
    found = [
        step_keys(part, rewrite, rules)
        for side in sides
        for part in side.parts
        for rewrite in part.file.rewrites.values()
    ]
    seconds = least(lambda: align(*found))
    same = len(align(*found))
    what = f"alignment of two passes of {MATCHES:,} matches, {same:,} of them common"
    yield what, f"{seconds:.2f} s", "1 s"
    close(stores)
    stores = [Store(traces.many_passes(folder / f"many{n}.viz", 1000, 100)) for n in (0, 1)]
    seconds = least(lambda: Comparison(*stores).overview())
    yield "overview of two open runs of 1,000 passes and 100,000 matches", f"{seconds:.2f} s", "1 s"
    close(stores)


def demo(folder: Path) -> Iterator[Row]:
    """The traces of two runs of the demo."""
    paths = [folder / f"demo{n}.viz" for n in (0, 1)]
    for path in paths:
        command = [sys.executable, "-m", "tests.bench.program", "core", "digits"]
        run(command, {"VIZ": "-1", "VIZ_TRACE": str(path)})

    def opened() -> None:
        stores = [Store(path) for path in paths]
        assert Comparison(*stores).overview()["done"]
        close(stores)

    yield "opening the comparison of two traces of the demo", f"{least(opened):.2f} s", "0.8 s"
    usage = run([sys.executable, "-m", "viz", "diff", *map(str, paths), "--fail-on", "errors"], {})
    yield "`uopviz diff` of them, the whole process", f"{usage.wall:.2f} s", ""
    stores = [Store(path) for path in paths]
    comparison = Comparison(*stores)
    scopes = comparison.overview()["scopes"]
    largest = max(scopes, key=lambda scope: scope["steps"]["a"])
    numbers = largest["a"], largest["b"]
    yield (
        f"the passes and texts of its largest pair ({largest['steps']['a']:,} steps)",
        milliseconds(lambda: comparison.scopes(*numbers)),
        "",
    )
    passes = comparison.scopes(*numbers)
    assert passes is not None
    longest = max(passes["passes"], key=lambda one: one["stepsA"])
    yield (
        f"two passes of {longest['stepsA']:,} steps in step, with their slots",
        milliseconds(lambda: comparison.passes(longest["a"], longest["b"])),
        "",
    )
    (source, *_) = passes["sources"]
    kind = source["kind"], source["target"]
    yield (
        f"their {source['title']}, line by line",
        milliseconds(lambda: comparison.sources(*numbers, *kind)),
        "",
    )
    close(stores)
    yield from folders(folder, paths)


def folders(folder: Path, paths: Sequence[Path]) -> Iterator[Row]:
    """200 pairs of traces of the demo."""
    for name, path in zip("AB", paths, strict=True):
        (folder / name).mkdir()
        for n in range(TRACES):
            os.link(path, folder / name / f"{n}.viz")
    begun = time.perf_counter()
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "viz",
            "diff",
            str(folder / "A"),
            str(folder / "B"),
            "--json",
            "--whole",
            "--fail-on",
            "errors",
        ],
        env=as_installed(),
        capture_output=True,
        check=True,
    )
    seconds = time.perf_counter() - begun
    compared = json.loads(done.stdout)["compared"]
    cores = os.cpu_count()
    what = f"`uopviz diff` of {compared} pairs of traces of the demo, {cores} cores"
    yield what, f"{seconds:.0f} s", "60 s"
    for name in "AB":
        shutil.rmtree(folder / name)


def least(work: Callable[[], object]) -> float:
    """Seconds of the fastest of some runs."""
    found: list[float] = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        work()
        found.append(time.perf_counter() - begun)
    return min(found)


def milliseconds(work: Callable[[], object]) -> str:
    """The same as text."""
    return f"{1000 * least(work):.0f} ms"


def close(stores: Sequence[Store]) -> None:
    """Closes runs."""
    for store in stores:
        store.close()


PARTS: Final[tuple[Callable[[Path], Iterator[Row]], ...]] = (keys, matches, demo)
