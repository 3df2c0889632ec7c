"""What 1,000 runs take: packed, asked, searched for the commits that changed something.

    python -m tests.bench.fleet.measured [FOLDER] [RUNS]

Recordings and runs that are in FOLDER stay, so that what was ended goes on.
"""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.bench.fleet.eras import COMMITS, PLANTED, record_all
from tests.bench.fleet.runs import commit_name, make_runs, read_all
from tests.bench.measure import machine, table
from viz.fleet.asking import ask
from viz.fleet.folder import Folder, folder_at
from viz.fleet.packing import files_of, pack
from viz.fleet.since import METRICS, Found, since

Row = Sequence[object]
QUERIES = {
    "time per rule per commit": "SELECT rule, commit, sum(us) FROM matches GROUP BY ALL",
    "kernels in which a rule matched": (
        "SELECT DISTINCT kernel FROM matches WHERE rule = 'gep_of_wide'"
    ),
    "runs that have a kernel": (
        "SELECT kernel, count(DISTINCT run_id) FROM kernels GROUP BY ALL ORDER BY 2 DESC"
    ),
}


def figures(folder: Path, runs: int = 1000) -> str:
    """The table."""
    rows = [*measured(folder, runs)]
    return table(f"{runs:,} runs of {COMMITS} commits", ("what", "figure", "mark"), rows)


def measured(folder: Path, runs: int) -> Iterator[Row]:
    """The rows of the table, one after the other."""
    recordings = folder / "recorded"
    recordings.mkdir(parents=True, exist_ok=True)
    recorded = record_all(recordings, _tell)
    traces = make_runs(read_all(recorded), folder / "runs", runs, _tell)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        to = folder_at(place)
        cpu, done = _cpu(lambda: pack(traces, to))
        yield "runs, matches", f"{done.packed:,}, {done.matches:,}", ""
        yield "pack, CPU of 100 runs", f"{cpu * 100 / runs:.1f} s", "30 s"
        for kind in (
            "matches",
            "launches",
            "passes",
            "rules",
            "kernels",
            "texts",
            "sources",
            "nodes",
        ):
            size = sum(Path(to.located(name)).stat().st_size for name in files_of(to, kind))
            each = f"{size / done.matches:.2f} bytes a match"
            yield (
                f"table {kind}",
                f"{size / 1e6:.1f} MB, {each}",
                "4 bytes" if kind == "matches" else "",
            )
        cpu, done = _cpu(lambda: pack(traces, to))
        yield f"pack again, {done.known:,} known", f"{cpu:.1f} s of CPU", ""
        for name, sql in QUERIES.items():
            seconds = [_wall(lambda sql=sql: ask(to, sql)) for _ in range(5)]
            yield name, f"{statistics.median(seconds):.2f} s", ""
        begun = time.perf_counter()
        found = since(to, [*METRICS])
        yield "since, all metrics", f"{time.perf_counter() - begun:.1f} s", ""
        yield from judged(to, found)


def judged(folder: Folder, found: Sequence[Found]) -> Iterator[Row]:
    """What of the planted changes was named, and what else: a change that is none by the counts of
    the traces themselves."""
    commits = {commit_name(one.commit): one for one in PLANTED}
    named = {one.commit for one in found}
    yield "planted commits named", f"{len(named & {*commits})} of {len(PLANTED)}", "5"
    yield "other commits named", len(named - {*commits}), "0"
    for commit, one in commits.items():
        said = [f for f in found if f.commit == commit]
        rule = (
            ""
            if not one.rule
            else f", {one.rule}: {'named' if any(f.of == one.rule for f in said) else 'NOT NAMED'}"
        )
        metrics = ", ".join(sorted({f.metric for f in said}))
        yield f"commit {one.commit}: {one.name}{rule}", f"{len(said)} figures of {metrics}", ""


def _cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    def used() -> float:
        own = resource.getrusage(resource.RUSAGE_SELF)
        return own.ru_utime + own.ru_stime

    begun = used()
    result = work()
    return used() - begun, result


def _wall(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _tell(name: str) -> None:
    print(name, file=sys.stderr, flush=True)


def main() -> None:
    """Entry point."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.gettempdir() + "/uopviz-fleet")
    print(machine() + "\n", flush=True)
    print(figures(folder, int(sys.argv[2]) if len(sys.argv) > 2 else 1000))


if __name__ == "__main__":
    main()
