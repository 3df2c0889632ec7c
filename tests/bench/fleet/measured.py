"""What 1,000 runs take: packed, asked, searched for the commits that changed something.

    python -m tests.bench.fleet.measured [FOLDER] [RUNS]

Recordings, runs and packed runs that are in FOLDER stay, so that what was ended goes on.
"""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.bench.fleet.eras import COMMITS, PLANTED, era_of, record_all
from tests.bench.fleet.runs import commit_name, make_runs, read_all
from tests.bench.measure import machine, table
from viz.fleet.asking import ask
from viz.fleet.folder import folder_at
from viz.fleet.layout import CONTENTS, TABLES, files_of
from viz.fleet.packing import pack
from viz.fleet.since import METRICS, Found, since
from viz.read.tracefile import TraceFile

Row = Sequence[object]
SHORT = 12
"""Digits of a commit in the tables."""
SOME = 100
"""Runs that are packed to measure it."""
QUERIES = {
    "time per rule per commit": ("SELECT rule, commit, sum(us) FROM matches GROUP BY ALL", "0.5 s"),
    "kernels in which a rule matched": (
        "SELECT DISTINCT kernel FROM matches WHERE rule = 'gep_of_wide'",
        "0.1 s",
    ),
    "runs that have a kernel": (
        "SELECT kernel, count(DISTINCT run_id) FROM kernels GROUP BY ALL ORDER BY 2 DESC",
        "",
    ),
}
"""With the time that they may take."""


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
    some = traces[:: max(1, runs // SOME)]
    with tempfile.TemporaryDirectory(dir=folder) as place:
        cpu, done = _cpu(lambda: pack(some, folder_at(place)))
    yield f"pack, CPU of {SOME} runs", f"{cpu * SOME / done.packed:.1f} s", "30 s"
    to = folder_at(folder / "packed")
    pack(traces, to, tell=lambda share, name: _tell(f"{share:.0%} {name}"))
    cpu, done = _cpu(lambda: pack(traces, to))
    yield f"pack again, {done.known:,} known", f"{cpu:.1f} s of CPU", ""
    ((matches,),) = ask(to, "SELECT count(*) FROM matches")[1]
    yield "matches", f"{matches:,}", ""
    for kind in (*TABLES, *CONTENTS):
        size = sum(Path(to.located(name)).stat().st_size for name in files_of(to, kind))
        said = f"{size / 1e6:.1f} MB, {size / matches:.2f} bytes a match"
        yield f"table {kind}", said, "4 bytes" if kind == "matches" else ""
    for name, (sql, mark) in QUERIES.items():
        seconds = [_wall(lambda sql=sql: ask(to, sql)) for _ in range(5)]
        yield name, f"{statistics.median(seconds):.2f} s", mark
    begun = time.perf_counter()
    found = since(to, [*METRICS])
    yield "since, all metrics", f"{time.perf_counter() - begun:.1f} s", ""
    yield from judged(found, counted(recorded))


def counted(
    recorded: Mapping[tuple[int, str], Sequence[Path]],
) -> dict[tuple[int, str, str], set[tuple[int, int]]]:
    """By compiler, program and rule: the matches and declines that its recordings have."""
    found: dict[tuple[int, str, str], set[tuple[int, int]]] = {}
    for (era, program), paths in recorded.items():
        for path in paths:
            with closing(TraceFile(path)) as file:
                file.refresh()
                counts: dict[str, tuple[int, int]] = {}
                for (_, rule), (matches, declines, _) in file.totals.items():
                    name = file.rules[rule].name
                    before = counts.get(name, (0, 0))
                    counts[name] = before[0] + matches, before[1] + declines
            for name, count in counts.items():
                found.setdefault((era, program, name), set()).add(count)
    return found


def judged(
    found: Sequence[Found], counts: Mapping[tuple[int, str, str], set[tuple[int, int]]]
) -> Iterator[Row]:
    """What of the planted changes was named, and what else: rules named with a commit that are not
    the planted one, and that the compilers before and after it called equally often."""
    commits = {commit_name(one.commit)[:SHORT]: one for one in PLANTED}
    named = {one.commit for one in found}
    yield "planted commits named", f"{len(named & {*commits})} of {len(PLANTED)}", "5"
    yield "other commits named", len(named - {*commits}), "0"
    others: set[tuple[str, str]] = set()
    wrong: set[tuple[str, str]] = set()
    for commit, planted in commits.items():
        said = [one for one in found if one.commit == commit]
        rules = {one.of: one.program for one in said if one.metric.startswith("rule-")}
        it = "named" if planted.rule in rules else "NOT NAMED"
        rule = f", {planted.rule}: {it}" if planted.rule else ""
        metrics = ", ".join(sorted({one.metric for one in said}))
        yield (
            f"commit {planted.commit}: {planted.name}{rule}",
            f"{len(said)} figures of {metrics}",
            "",
        )
        era = era_of(planted.commit)
        for name, program in rules.items():
            if name != planted.rule:
                others.add((commit, name))
                before, after = (counts.get((at, program, name)) for at in (era - 1, era))
                if before == after:
                    wrong.add((commit, name))
    yield "other rules named with them, by calls that changed", len(others - wrong), ""
    yield "other rules named, though called as before", len(wrong), "0"


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
