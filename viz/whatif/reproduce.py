"""`reproduction`: the script of a kernel of a run, with the smallest kernel that shows the same."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from core.errors import ServerError
from viz.views.store import Store
from viz.whatif.isolated import SECONDS, TRACE, work, work_at
from viz.whatif.scripts.script import script_text
from viz.whatif.scripts.standalone import bindings_text
from viz.whatif.subject import Subject, subject_of
from viz.whatif.variants.variant import Variant

Data = dict[str, Any]


@dataclass(frozen=True)
class Reproduction:
    """The text of a program; `said`: what was made smaller, "" for nothing."""

    text: str
    said: str


def reproduction(
    store: Store,
    kernel: int,
    variant: Variant,
    *,
    minimal: bool = False,
    seconds: float = SECONDS,
) -> Reproduction:
    """The script of a kernel, by its number, as a variant. With `minimal`, it is made smaller in a
    worker, in at most `seconds`. Raises ServerError where the kernel cannot be compiled here or
    nothing is the matter with it, FormatError for a graph that is none, and BudgetError."""
    subject = subject_of(store, kernel)
    if not minimal:
        return whole_script(subject, variant)
    return smaller_script(subject, work(minimise_request(subject, variant, seconds / 2), seconds))


def minimise_request(subject: Subject, variant: Variant, seconds: float) -> Data:
    """What the worker is asked for that makes a kernel smaller, in about so long. Raises
    ServerError for an edited text."""
    if variant.text is not None:
        raise ServerError(
            "an edited text is not made smaller: a smaller kernel would need another text",
            hint="save its script as it is, and shorten the text by hand",
        )
    return {
        "job": "minimise",
        "subject": subject.data(),
        "variant": variant.data(),
        "seconds": seconds,
    }


def whole_script(subject: Subject, variant: Variant) -> Reproduction:
    """The script of a kernel as it is. Raises FormatError for a graph that is none."""
    flags = subject.flags
    text = script_text(_title(subject, variant), subject.graph, subject.target, flags, variant)
    return Reproduction(text, "")


def smaller_script(subject: Subject, made: Data) -> Reproduction:
    """The script of what the worker made of a kernel. Raises FormatError for a graph that is
    none."""
    less = Variant.from_data(made["variant"])
    before, after = made["nodes"]
    said = f"{made['trouble']}: {before:,} nodes before, {after:,} now; {made['tried']:,} tried"
    title = f"{_title(subject, less)}, made smaller"
    flags = subject.flags
    return Reproduction(script_text(title, made["graph"], subject.target, flags, less), said)


def on_bindings(
    store: Store,
    kernel: int,
    variant: Variant,
    *,
    seconds: float = SECONDS,
    executor: Executor | None = None,
) -> Reproduction:
    """A script of PTX that needs the driver's bindings and NumPy only; the kernel is compiled, and
    evaluated by the reference, in a worker: by default a process of its own. Raises ServerError
    where it cannot be compiled here, is not PTX for this target, or cannot be evaluated."""
    subject = subject_of(store, kernel)
    request = {"job": "bindings", "subject": subject.data(), "variant": variant.data()}
    case = work_at(request, seconds, executor)
    del case[TRACE]
    return Reproduction(bindings_text(f"{_title(subject, variant)}: {variant}", case), "")


def _title(subject: Subject, variant: Variant) -> str:
    return f"{subject.name} for {variant.target or subject.target}"
