"""`uopviz bisect`: which step made the result of a kernel wrong, or which of a whole run is.

Prints what workers found; nothing is compiled or run in this process.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from viz.bisect.search import bisect_run
from viz.command.columns import Column, plural, table
from viz.command.session import put, trace_of
from viz.corecommand.whatif import (
    chosen_kernel,
    error_lines,
    head_lines,
    pair_lines,
    variant_of,
)
from viz.terminal import Line, Styled, show_command
from viz.views.store import Store
from viz.whatif.bisect import bisect as bisect_kernel
from viz.whatif.variants.variant import Variant
from viz.workers.executors import executor_for

Data = dict[str, Any]
FEW: Final = 12
"""Rows that are listed."""
_STATES: Final = {
    "agrees": ("agrees with the reference", "agree with the reference"),
    "differs": ("differs", "differ"),
    "fails": ("fails to compile", "fail to compile"),
    "unknown": ("could not be judged", "could not be judged"),
}
_KINDS: Final = {
    "differs": "differ",
    "unchecked": "not checkable",
    "assumes": "under what is assumed",
    "sampled": "sampled",
    "proved": "proved",
}


def bisect(options: argparse.Namespace) -> int:
    """Looks for the match that made a result wrong, in a kernel or in the whole run; exit code 1
    where something is wrong, 2 where nothing is and not everything could be judged."""
    store = trace_of(options)
    variant = variant_of(options, store)
    if options.kernel is None:
        return _run(options, store, variant)
    kernel = chosen_kernel(options, store)
    options.progress.begin("looking for the match")
    with executor_for(options.executor) as executor:
        made = bisect_kernel(store, kernel, variant, seconds=options.seconds, executor=executor)
    put(options, made, bisect_lines(made, store.path))
    if made["outcome"] is None and not made["wrong"]:
        return 2
    return int(made["wrong"])


def _run(options: argparse.Namespace, store: Store, variant: Variant) -> int:
    options.progress.begin("looking for what is wrong")
    with executor_for(options.executor) as executor:
        made = bisect_run(
            store,
            variant,
            seconds=options.seconds,
            jobs=options.jobs,
            executor=executor,
            progress=options.progress.update,
        )
    put(options, made, run_lines(made, store.path))
    if made["wrong"]:
        return 1
    return 0 if made["told"] else 2


def run_lines(made: Data, path: Path) -> Iterator[Line]:
    """The answer for a whole run: what is wrong, then what was tried."""
    for one in made["changed"][:FEW]:
        yield Styled(f"since the run: {one['said']}", "changed")
    yield from _found_lines(made, path)
    steps = made["steps"]
    for one in steps["undone"][:FEW]:
        yield Styled(one["said"], "problem")
        yield f"  the graph after {one['name']} ({one['rewrite']})"
    for one in steps["differing"][:FEW]:
        yield from _step_lines(one, path)
    if len(steps["differing"]) > FEW:
        yield Styled(
            f"{plural(len(steps['differing']) - FEW, 'more step')}; --json has all", "hint"
        )
    if made["wrong"]:
        yield from _bad_kernels(made["kernels"])
    else:
        yield Styled(_nothing(made), "heading" if made["told"] else "problem")
    yield from _tried(made)
    for note in made["notes"]:
        yield Styled(note, "problem")


def _nothing(made: Data) -> str:
    if not made["told"]:
        return "no difference was found, but not everything could be judged"
    return "no difference was found"


def _tried(made: Data) -> Iterator[Line]:
    """What was tried, and on what."""
    kernels, steps = made["kernels"], made["steps"]
    counts = Counter(row["state"] for row in kernels)
    if kernels:
        said = ", ".join(
            f"{count:,} {_STATES[state][count != 1]}"
            for state in _STATES
            if (count := counts[state])
        )
        with_what = made["variant"]["said"]
        yield f"  {plural(len(kernels), 'kernel')} compiled, {with_what}: {said}"
        if counts["agrees"]:
            yield Styled(f"  on {made['inputs']}: equal there, not proved", "hint")
    if not made["wrong"]:
        for row in [row for row in kernels if row["state"] == "unknown"][:FEW]:
            yield Styled(f"  {row['name']}: {row['said']}", "problem")
    if total := sum(steps["counts"].values()):
        said = ", ".join(
            f"{count:,} {'differs' if (kind, count) == ('differs', 1) else words}"
            for kind, words in _KINDS.items()
            if (count := steps["counts"][kind])
        )
        yield f"  {plural(total, 'step')} outside of kernels checked one by one: {said}"
    yield Styled(f"  in {made['seconds']:,} s", "hint")


def _bad_kernels(rows: list[Data]) -> Iterator[Line]:
    bad = [row for row in rows if row["state"] != "agrees"]
    if bad:
        columns = (
            Column("state", style="problem"),
            Column("kernel", style="name"),
            Column("result"),
        )
        yield from table(
            columns,
            [(_STATES[row["state"]][0], row["name"], row["said"]) for row in bad[:FEW]],
        )
    if len(bad) > FEW:
        yield Styled(f"{plural(len(bad) - FEW, 'more kernel')}; --json has all", "hint")


def _found_lines(made: Data, path: Path) -> Iterator[Line]:
    """Each step that is to blame once, with the kernels that it made wrong."""
    groups: dict[tuple[str, ...], list[Data]] = {}
    for found in made["found"]:
        groups.setdefault(_blamed(found), []).append(found)
    for first, *others in groups.values():
        yield from bisect_lines({**first, "changed": []}, path)
        if others:
            named = ", ".join(one["kernel"]["name"] for one in others[:FEW])
            yield Styled(f"the same in {plural(len(others), 'other kernel')}: {named}", "hint")
        yield ""


def _blamed(found: Data) -> tuple[str, ...]:
    culprit = found["culprit"] or (found["failed"] or {}).get("step")
    if culprit is not None and culprit["match"] is not None:
        rule = culprit["match"]["rule"]
        return "rule", rule["name"], rule["file"], str(rule["line"])
    if culprit is not None:
        return "pass", culprit["pass"]
    return "failed", found["failed"]["pass"], found["failed"]["error"]["what"]


def _equation(rule: Data) -> list[tuple[str, str]]:
    """What the rule says; rules of other compilers state no equation."""
    return [("rule", rule["equation"])] if rule["equation"] else []


def _step_lines(one: Data, path: Path) -> Iterator[Line]:
    """A step whose two nodes were found to differ."""
    rule, verdict = one["rule"], one["verdict"]
    yield Styled(f"{rule['name']} is wrong, in pass {one['pass']}", "heading")
    place = f"step {one['step']} of {one['pass']}"
    yield from pair_lines(
        [
            *_equation(rule),
            *([("written at", f"{rule['file']}:{rule['line']}")] if rule["file"] else []),
            ("match", f"{place}, `{show_command(path, one['rewrite'], one['step'])}`"),
            ("how", verdict["how"]),
            *((name, value) for name, value in verdict.get("values", [])),
            ("result before", verdict.get("before", "")),
            ("result after", verdict.get("after", "")),
        ]
    )
    yield ""


def bisect_lines(made: Data, path: Path) -> Iterator[Line]:
    """The answer of a search in a kernel: the sentence, then what is known of the match."""
    yield from head_lines(made)
    outcome, culprit = made["outcome"], made["culprit"]
    if (failed := made["failed"]) is not None:
        yield Styled(f"{failed['pass']} fails", "problem")
        yield from error_lines(failed["error"])
        if failed["step"] is not None:
            yield from _culprit(made, failed["step"], "broken", path)
    elif culprit is None and outcome is not None:
        yield outcome["said"]
    elif outcome is not None:
        yield Styled(outcome["said"], "problem")
    if culprit is not None:
        yield from _culprit(made, culprit, "made wrong", path)
    for note in made["notes"]:
        yield Styled(note, "problem")
    asked = made["asked"]
    were = "was" if asked == 1 else "were"
    yield Styled(f"{plural(asked, 'state')} of the kernel {were} run", "hint")


def _culprit(made: Data, culprit: Data, how: str, path: Path) -> Iterator[Line]:
    match = culprit["match"]
    yield ""
    if match is None:
        yield Styled(f"{how} in pass {culprit['pass']}", "heading")
        if culprit["candidates"]:
            yield "one of these rules, as the states between cannot be run:"
            for name in culprit["candidates"][:FEW]:
                yield "  ", Styled(name, "name")
        else:
            yield "no rule did it, but the code of the pass itself"
        return
    rule = match["rule"]
    yield Styled(f"{how} by {rule['name']}, in pass {culprit['pass']}", "heading")
    where = f"step {match['step']} of {match['rewrite']}"
    if (found := made["inTrace"]) is not None:
        where += f", `{show_command(path, found['rewrite'], found['step'])}`"
    yield from pair_lines(
        [
            *_equation(rule),
            *([("written at", f"{rule['file']}:{rule['line']}")] if rule["file"] else []),
            ("match", where + (", inside another match" if match["inside"] else "")),
            ("before it", culprit["before"]["said"] if culprit["before"] else "not known"),
            ("after it", culprit["after"]["said"] if culprit["after"] else "not known"),
        ]
    )
    if culprit["leftOut"]:
        yield Styled("found by leaving the rule out: states around it cannot be run", "hint")
    for title in ("before", "after"):
        yield Styled(title, "removed" if title == "before" else "added")
        yield from (f"  {line}" for line in match[title])
