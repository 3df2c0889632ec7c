"""`uopviz what-if` and `variants`: one kernel of a run, compiled otherwise.

Prints what the worker found; nothing is compiled or run in this process.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any, Final, cast

from core.errors import TraceError
from viz.command.columns import Column, plural, table
from viz.command.line.names import find_kernel, find_rule
from viz.command.session import put, trace_of
from viz.corecommand.editedtext import edited_text
from viz.format.cells import as_text
from viz.ratio import figure, interval_words, time_words
from viz.terminal import Line, Piece, Styled, shell_word
from viz.views.store import Store
from viz.whatif.attempt import attempt
from viz.whatif.isolated import SECONDS
from viz.whatif.searched import searched_opts
from viz.whatif.variants.tried import kept_of
from viz.whatif.variants.variant import Variant
from viz.workers.executors import executor_for

Data = dict[str, Any]
FEW: Final = 12
"""Rules and passes that are listed."""


def what_if(options: argparse.Namespace) -> int:
    """Compiles a kernel otherwise; exit code 1 where it fails or its result is wrong."""
    store = trace_of(options)
    kernel = chosen_kernel(options, store)
    variant = variant_of(options, store)
    if variant == Variant() and not options.replay and options.search is None:
        raise TraceError(
            "no change is given",
            hint="--skip RULE, --stop-after N, --opts 'UPCAST(0, 4)', --search 4, --target NAME, "
            "--text FILE; or --replay: the code that is on disk",
        )
    found: Data | None = None
    seconds: float = options.seconds
    with executor_for(options.executor) as executor:
        if options.search is not None:
            found = _searched(options, store, kernel, variant, executor)
            variant = replace(variant, opts=found["opts"])
            seconds = max(seconds, SECONDS)  # those of the user are of the search
        options.progress.begin(f"compiling: {variant}")
        made = attempt(
            store,
            kernel,
            variant,
            keeping=options.keep,
            running=options.run_it,
            seconds=seconds,
            executor=executor,
        )
    if found is not None:
        made["search"] = found
    put(options, made, attempt_lines(made))
    outcome = made["outcome"]
    return int(made["error"] is not None or (outcome is not None and not outcome["equal"]))


def _searched(
    options: argparse.Namespace,
    store: Store,
    kernel: int,
    variant: Variant,
    executor: Executor | None,
) -> Data:
    """What a beam search finds. Ctrl-C ends it, once the best so far has been printed. Raises
    TraceError where opts or rules are given, too."""
    if variant != Variant(target=variant.target):
        raise TraceError(
            "--search looks for the optimisations of the kernel as it is",
            hint="leave out --opts, --skip and --stop-after",
        )

    def tell(best: Data) -> None:
        put(options, best, _cut_off_lines(best))

    options.progress.begin(f"searching, width {options.search}")
    return searched_opts(
        store,
        kernel,
        options.search,
        variant.target,
        seconds=options.seconds,
        executor=executor,
        cut_off=tell,
    )


def _cut_off_lines(best: Data) -> Iterator[Line]:
    """The best that a search had found when it was stopped."""
    yield f"search on {best['device']}, stopped: {best['said']}"
    yield from pair_lines([("best so far", best["opts"] or "none")])
    yield Styled(f"try it with --opts {shell_word(best['opts'])}", "hint")


def variants(options: argparse.Namespace) -> int:
    """Lists the variants of a kernel, or of all, that were tried."""
    store = trace_of(options)
    kernel = None if options.kernel is None else chosen_kernel(options, store)
    every = kept_of(store.path, held_as=store.held_as)
    found = [one for one in every if kernel is None or one.kernel == kernel]
    data = [
        {
            "number": one.number,
            "trace": str(one.path),
            "kernel": one.kernel,
            "name": one.name,
            "found": dict(one.found),
        }
        for one in found
    ]
    return put(options, {"variants": data}, variant_lines(data))


def chosen_kernel(options: argparse.Namespace, store: Store) -> int:
    """The number of the kernel that is meant."""
    return int(find_kernel(store.tree()["rows"], options.kernel)["id"])


def variant_of(options: argparse.Namespace, store: Store) -> Variant:
    """What the options ask for. Raises TraceError for a rule that the run does not have."""
    rules = store.rules() if options.skip else []
    names = {row["name"] for row in rules}
    return Variant.from_data(
        {
            "skip": [n if n in names else find_rule(rules, n)["name"] for n in options.skip],
            "stop_after": getattr(options, "stop_after", None),
            "inside": getattr(options, "inside", None) or "",
            "opts": options.opts,
            "target": options.target or "",
            "text": edited_text(options),
        }
    )


def attempt_lines(made: Data) -> Iterator[Line]:
    """One variant: what was changed, what came of it, and what differs."""
    yield from head_lines(made)
    if (found := made.get("search")) is not None:
        yield f"search on {found['device']}: {found['said']}"
    if (error := made["error"]) is not None:
        yield from error_lines(error)
    outcome, times = made["outcome"], made["times"]
    pairs: list[tuple[str, Piece]] = []
    if outcome is not None:
        said: Piece = outcome["said"] if outcome["equal"] else Styled(outcome["said"], "problem")
        pairs.append((f"result on {made['device']}", said))
    if times is not None:
        pairs.append(("time, new over old", _times(times)))
    if made["code"] is not None:
        pairs.append(("code", _code(made["oldCode"], made["code"])))
        if made["variant"]["text"] is None:
            pairs.append(("opts", made["opts"] or "none"))
    yield from pair_lines(pairs)
    for note in made["notes"]:
        yield Styled(note, "problem")
    if made["differences"] is not None and made["variant"]["text"] is not None:
        yield ""
        yield "no pass made the text, so that there are no steps to compare"
        yield from _texts(made["differences"])
    elif made["differences"] is not None and made["error"] is None:
        yield from difference_lines(made["differences"])
    if made["kept"] is not None:
        yield ""
        yield Styled(f"kept as variant {made['kept']['number']}: {made['kept']['trace']}", "hint")


def difference_lines(differences: Data) -> Iterator[Line]:
    """What differs between the recorded kernel and the new one."""
    yield ""
    passes = differences["passes"]
    if not passes and differences["pair"]["state"] == "equal":
        yield "every pass does the same as in the recording"
        return
    said = plural(len(passes), "pass differs", "passes differ")
    yield f"{said}, {differences['samePasses']:,} do the same"
    yield from table(
        (Column("pass", style="name"), Column("", style="changed"), Column("steps"), Column("")),
        [(one["name"], one["state"], _steps(one), _first(one)) for one in passes[:FEW]],
    )
    if rules := differences["rules"]:
        yield ""
        yield from table(
            (Column("rule", style="name"), Column("before", True), Column("now", True)),
            [(one["name"], f"{one['a']:,}", f"{one['b']:,}") for one in rules[:FEW]],
        )
        if len(rules) > FEW:
            yield Styled(f"{plural(len(rules) - FEW, 'more rule')}; --json has all", "hint")
    yield from _texts(differences)


def _texts(differences: Data) -> Iterator[Line]:
    for one in differences["sources"]:
        if not one["equal"]:
            yield f"the {one['kind']} text differs"


def variant_lines(rows: list[Data]) -> Iterator[Line]:
    """The table of variants."""
    if not rows:
        yield "no variant of it was tried; `uopviz what-if` tries one"
        return
    columns = (
        Column("", True),
        Column("kernel", style="name"),
        Column("variant"),
        Column("time", True),
        Column("95 %"),
        Column("registers", True, spare=1),
        Column("instructions", True, spare=2),
        Column("result"),
    )
    yield from table(columns, map(_variant_row, rows))


def _variant_row(row: Data) -> tuple[Piece, ...]:
    found = row["found"]  # beside the trace may lie anything
    times, code = (_fields(found.get(name)) for name in ("times", "code"))
    error, outcome = (_fields(found.get(name)) for name in ("error", "outcome"))
    result: Piece = "right" if outcome.get("equal") is True else Styled("wrong", "problem")
    if error:
        result = Styled(as_text(error.get("what"), 300), "problem")
    elif not outcome:
        result = "not run"
    return (
        str(row["number"]),
        row["name"],
        as_text(_fields(found.get("variant")).get("said"), 300),
        *_ratio_cells(times),
        _amount(code.get("registers")),
        _amount(code.get("instructions")),
        result,
    )


def _fields(data: object) -> Data:
    return cast("Data", data) if isinstance(data, dict) else {}


def _ratio_cells(times: Data) -> tuple[str, str]:
    """The ratio and its interval, where that is what they are."""
    found = [times.get(name) for name in ("ratio", "low", "high")]
    known = [value for value in found if isinstance(value, float) and 0 < value < math.inf]
    if len(known) < 3:
        return "", ""
    return time_words(*known), interval_words(*known[1:])


def head_lines(made: Data) -> Iterator[Line]:
    """What was compiled, and what has changed since the run."""
    kernel = made["kernel"]
    yield Styled(f"{kernel['name']} for {kernel['target']}: {made['variant']['said']}", "heading")
    for one in made["changed"][:FEW]:
        yield Styled(f"since the run: {one['said']}", "changed")


def error_lines(error: Data) -> Iterator[Line]:
    """An error of the compiler."""
    yield Styled(error["what"], "problem")
    for line in error["where"].splitlines()[:FEW]:
        yield f"  {line}"
    if error["hint"]:
        yield Styled(f"hint: {error['hint']}", "hint")


def _times(times: Data) -> str:
    ends = times["low"], times["high"]
    return (
        f"{figure(times['ratio'])} (95% interval {interval_words(*ends)}), "
        f"{time_words(times['ratio'], *ends)}: "
        f"{times['old']:,.1f} us before, {times['new']:,.1f} us now, "
        f"{plural(times['turns'], 'turn')}"
    )


def _code(old: Data | None, new: Data) -> str:
    return ", ".join(
        f"{_amount(old.get(name) if old else None)} > {_amount(new.get(name))} {name}"
        for name in ("instructions", "registers", "lines")
        if new.get(name) is not None
    )


def _steps(one: Data) -> str:
    return f"{_amount(one['stepsA'])} > {_amount(one['stepsB'])}"


def _first(one: Data) -> str:
    if one["state"] != "changed":
        return ""
    step = one["stepA"] or one["stepB"]
    return "begins with another graph" if step is None else f"first at step {step}"


def _amount(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else "-"


def pair_lines(pairs: list[tuple[str, Piece]]) -> Iterator[Line]:
    """Names with their values, one in a line."""
    wide = max((len(name) for name, _ in pairs), default=0)
    for name, value in pairs:
        yield Styled(f"  {name:<{wide}}", "hint"), "  ", value
