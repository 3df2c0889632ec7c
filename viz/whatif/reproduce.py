"""`reproduction`: the script of a kernel of a run, with the smallest kernel that shows the same."""

from __future__ import annotations

from dataclasses import dataclass

from viz.views.store import Store
from viz.whatif.isolated import SECONDS, work
from viz.whatif.script import script_text
from viz.whatif.subject import subject_of
from viz.whatif.variant import Variant


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
    title = f"{subject.name} for {variant.target or subject.target}"
    flags = dict(subject.flags)
    if not minimal:
        return Reproduction(script_text(title, subject.graph, subject.target, flags, variant), "")
    request = {
        "job": "minimise",
        "subject": subject.data(),
        "variant": variant.data(),
        "seconds": seconds / 2,
    }
    made = work(request, seconds)
    less = Variant.from_data(made["variant"])
    before, after = made["nodes"]
    said = f"{made['trouble']}: {before:,} nodes before, {after:,} now; {made['tried']:,} tried"
    text = script_text(f"{title}, made smaller", made["graph"], subject.target, flags, less)
    return Reproduction(text, said)
