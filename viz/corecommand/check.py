"""`uopviz check`: whether the steps of a run are right, its passes have done what they guarantee,
and the texts of its kernels are right; exit code 1 where one is not.

Reads a run, checks its replacements and runs its kernels in processes, prints, and keeps the
results beside the trace.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from typing import Final

from core.prove.verdict import verdict_of
from viz.check.message import message
from viz.check.parts import Part
from viz.check.run import NewExecutor, check_passes, processes
from viz.check.whole.kernels import SECONDS, kernels_of, wholes_of
from viz.command.columns import Column, plural, table
from viz.command.line.names import Row, below, find_kernel, find_pass, find_rule, program_rows
from viz.command.session import put, trace_of
from viz.known.beside import identity_of, place_of
from viz.known.kept import Kept, load, save
from viz.known.whole import SAID, blamed
from viz.terminal import Line, Styled
from viz.views.store import Store
from viz.whatif.workers import Workers, elsewhere
from viz.workers.executors import executor_at

_ROWS: Final = 40
"""Rows of steps that are not proved."""
_REASONS: Final = 10
"""Reasons for which kernels were not run."""
_SHOWN: Final = {
    "proved": "proved",
    "sampled": "holds for all samples",
    "assumes": "holds under what is assumed",
    "unchecked": "not checkable",
    "differs": "differs",
}


def check(options: argparse.Namespace) -> int:
    """Checks the steps of a run, and runs its kernels."""
    store = trace_of(options)
    rewrites = _chosen(store, options)
    rules = frozenset[str]()
    if options.rule is not None:
        rules = frozenset({find_rule(store.rules(), options.rule)["name"]})
    of, place = identity_of(store), place_of(store)
    known = Kept() if options.again or of is None else load(place, of)
    wanted = tuple(n for n in rewrites if rules or n not in known.passes)
    files = [file.path for file in store.files]  # of an exported file, what was unpacked
    names, seconds = tuple(path.name for path in files), float(options.seconds)
    part = Part(str(files[0].absolute()), wanted, rules, seconds, files=names)
    options.progress.begin("checking")

    def telling(said: str) -> None:
        options.progress.update(None, said)

    made = {}
    if wanted:
        found = check_passes(store, part, options.jobs, telling, _executor(options.executor))
        made = {one["rewrite"]: one for one in found}
    whole: dict[int, Row] = {}
    if not rules and options.pass_name is None and store.compiles:
        whole = _run_kernels(store, options, known, telling)
    found = Kept(known.passes | made, known.kernels | whole)
    if not rules and (made or whole) and of is not None:
        save(place, of, found)
    passes = [found.passes[n] for n in rewrites if n in found.passes]
    if rules:
        passes = [one for one in made.values() if one["steps"]]
    data = message(store, passes, [whole[number] for number in sorted(whole)])
    put(options, data, lines(data))
    wrong = data["counts"]["differs"] > 0 or data["wholes"]["differs"] > 0
    return int(wrong or bool(data["undone"]))


def _run_kernels(
    store: Store, options: argparse.Namespace, known: Kept, telling: Callable[[str], None]
) -> dict[int, Row]:
    """What the kernels that are meant come to as a whole, those that are known among them."""
    kernel = None
    if options.kernel is not None:
        kernel = find_kernel(store.tree()["rows"], options.kernel)["id"]
    asked = kernels_of(store, kernel)
    made = {number: known.kernels[number] for number in asked if number in known.kernels}
    wholes = wholes_of(store, asked, made)
    if not options.run_seconds:
        return made

    def tell(one: Row) -> None:
        made[one["kernel"]] = one
        telling(f"ran {len(made):,} of {plural(len(asked), 'kernel')} as a whole")

    if options.executor is not None and wholes.tasks:
        with executor_at(options.executor) as executor:
            wholes.run(elsewhere(executor, SECONDS), tell)
        return made
    workers = Workers(options.jobs, SECONDS)
    try:
        wholes.run(lambda tasks, told: workers.do(tasks, told, options.run_seconds), tell)
    finally:
        workers.close()
    return made


def _executor(address: str | None) -> NewExecutor:
    """Processes of this machine, or the cluster that is asked for."""

    def cluster(_: int) -> Executor:
        return executor_at(address or "")

    return processes if address is None else cluster


def _chosen(store: Store, options: argparse.Namespace) -> list[int]:
    """The numbers of the passes that are meant."""
    rows = store.tree()["rows"]
    kernel = None if options.kernel is None else find_kernel(rows, options.kernel)
    within = rows if kernel is None else below(rows, kernel["id"])
    if options.pass_name is None:
        return [row["id"] for row in program_rows(within) if row["kind"] == "rewrite"]
    name = options.pass_name
    same = [row["id"] for row in program_rows(within) if row["name"] == name]
    if same:
        return same
    return [find_pass(within, name, kernel["name"] if kernel else "")["id"]]


def lines(data: Row) -> Iterator[Line]:
    """The report: shares, then what is not proved, the worst first."""
    total = data["steps"]
    yield Styled(f"checked {plural(total, 'step')}", "heading")
    for kind, text in _SHOWN.items():
        count = data["counts"][kind]
        share = 100 * count / total if total else 0.0
        yield f"  {text:<28} {count:>9,}  {share:6.2f} %"
    if integers := sum(data["integers"].values()):
        proved = 100 * data["integers"]["proved"] / integers
        yield f"  of {integers:,} on integers and booleans, {proved:.2f} % are proved"
    if count := data["on_request"]:
        left_out = plural(count, "pass", "passes")
        yield f"  not checked: {left_out} of kernels compiled for other targets on request"
    if unseen := data["unseen"]:
        first = unseen[0]
        many = plural(len(unseen), "kernel or schedule", "kernels or schedules")
        yield f"  of {many}, what passes guarantee was not looked at"
        yield f"    from {first['name']} ({first['rewrite']}) on: {first['why']}"
    for left in data["undone"]:
        yield ""
        yield Styled(left["said"], "problem")
        yield f"  the graph after {left['name']} ({left['rewrite']})"
    rows = [row for row in data["rules"] if row["verdict"]["kind"] != "proved"]
    if rows:
        yield ""
        columns = (Column("answer", style="name"), Column("steps", True), Column("rule"),
                   Column("first"), Column("how"))  # fmt: skip
        yield from table(columns, [_row(row) for row in rows[:_ROWS]])
    if len(rows) > _ROWS:
        yield Styled(f"{plural(len(rows) - _ROWS, 'more row')}; --json has all", "hint")
    for row in rows:
        if row["verdict"]["kind"] == "differs":
            yield from _difference(row)
    if data["kernels"]:
        yield ""
        yield from _of_kernels(data)
    if data["hint"]:
        yield Styled(data["hint"], "hint")


def _row(row: Row) -> tuple[str, ...]:
    verdict, first = verdict_of(row["verdict"]), row["first"]
    how = verdict.how
    if verdict.ulps:
        how += f", at most {verdict.ulps:.3g} ulp"
    place = f"{first['pass']} ({first['rewrite']}) step {first['step']}"
    return verdict.kind, f"{row['steps']:,}", row["name"], place, how


def _difference(row: Row) -> Iterator[Line]:
    """The values for which a step is wrong."""
    verdict, first = verdict_of(row["verdict"]), row["first"]
    yield ""
    yield Styled(f"{row['name']} is wrong at step {first['step']} of {first['pass']}", "problem")
    if not row["place"].startswith(":"):  # a pass that a dump names is written nowhere
        yield f"  written at {row['place']}"
    for name, value in verdict.values:
        yield f"  {name} = {value}"
    yield f"  before: {verdict.before}"
    yield f"  after:  {verdict.after}"


def _of_kernels(data: Row) -> Iterator[Line]:
    """What kernels came to as a whole: shares, why some were not run, and what differs."""
    kernels = data["kernels"]
    yield Styled(
        f"{plural(len(kernels), 'kernel')} as a whole, the text against its program", "heading"
    )
    for state, text in SAID.items():
        yield f"  {text:<28} {data['wholes'][state]:>9,}"
    reasons = Counter(one["why"] for one in kernels if one["state"] == "unknown")
    for why, count in reasons.most_common(_REASONS):
        yield f"    {count:>7,}  {why}"
    if len(reasons) > _REASONS:
        yield Styled(
            f"    {plural(len(reasons) - _REASONS, 'more reason')}; --json has all", "hint"
        )
    partly = Counter(one["why"] for one in kernels if one["state"] != "unknown" and one["why"])
    for why, count in partly.most_common(_REASONS):
        yield f"    {count:>7,}  in part: {why}"
    for one in kernels:
        if one["state"] == "differs":
            yield ""
            yield Styled(sentence(one), "problem")
            yield f"  on {one['inputs']}: {one['outcome']['said']}"


def sentence(one: Row) -> str:
    """What is said of a kernel whose text differs."""
    of = f"the text of {one['name']} for {one['target']}, run on {one['device']}, differs"
    if (because := one["because"]) and not because["step"]:
        return f"{of}: a consequence of what {because['rule']} left undone"
    if because := one["because"]:
        place = f"step {because['step']} of {because['pass']} ({because['rewrite']})"
        return f"{of}: a consequence of {because['rule']}, {place}"
    return f"{of}, and no step of it does: {blamed(one)}"
