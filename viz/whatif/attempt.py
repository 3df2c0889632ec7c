"""`attempt`: one kernel of a run as a variant, compiled and run in a worker, compared, and kept.

The answer is plain data: what the commands and the page show.
"""

from __future__ import annotations

from concurrent.futures import Executor
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from core.errors import TraceError, UopvizError
from core.target import target_named
from viz.compare.matching.side import Side
from viz.format.schema import SUFFIX
from viz.views.store import Store
from viz.whatif.changed import changed_rules
from viz.whatif.differences import Differences
from viz.whatif.isolated import SECONDS, TRACE, work_at
from viz.whatif.subject import Subject, subject_of
from viz.whatif.variants.tried import Tried, keep
from viz.whatif.variants.variant import Variant

Data = dict[str, Any]
_VERSION: Final = 1


def attempt(
    store: Store,
    kernel: int,
    variant: Variant,
    *,
    keeping: bool = True,
    running: bool = True,
    seconds: float = SECONDS,
    executor: Executor | None = None,
) -> Data:
    """Compiles kernel `kernel` of a run as `variant`, in a worker of at most `seconds`, and
    compares it with the recorded one: `WhatIf` of docs/json.md. `keeping`: it is kept beside the
    trace. With an `executor`, `isolated.work` runs there. Raises ServerError where the kernel
    cannot be compiled here or its worker ends without an answer, and BudgetError."""
    subject = subject_of(store, kernel)
    found = work_at(variant_request(subject, variant, running), seconds, executor)
    recorded: bytes = found.pop(TRACE)
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(ignore_cleanup_errors=True))
        path = Path(folder) / f"variant{SUFFIX}"
        path.write_bytes(recorded)
        made = what_if_data(store, subject, variant, found, path)
    if keeping:
        made["kept"] = _keep(store, subject, made, recorded)
    return made


def variant_request(subject: Subject, variant: Variant, running: bool = True) -> Data:
    """What the worker is asked for. Raises ServerError for a target that there is not."""
    if variant.target:
        target_named(variant.target)
    return {
        "job": "variant",
        "subject": subject.data(),
        "variant": variant.data(),
        "run": running,
    }


def what_if_data(
    store: Store, subject: Subject, variant: Variant, found: Data, recorded: Path
) -> Data:
    """`WhatIf` of docs/json.md, of what the worker found and recorded; nothing is kept yet. Raises
    BudgetError."""
    made: Data = {
        "version": _VERSION,
        "kernel": {"number": subject.number, "name": subject.name, "target": subject.target},
        "variant": {**variant.data(), "said": _said(variant, found["edited"])},
        **found,
        "notes": [*found["notes"]],
        "changed": [one.data() for one in changed_rules(store)],
        "differences": None,
        "kept": None,
    }
    made["differences"] = found_now = _differences(store, subject.number, recorded, made["notes"])
    if variant.text is not None and found_now is not None:
        # no pass made it: that all passes of the recording are missing says nothing
        found_now["passes"], found_now["samePasses"], found_now["rules"] = [], 0, []
    return made


def _said(variant: Variant, edited: Data | None) -> str:
    """A variant in words, an edited text with its changed lines: "edited PTX (+2 -1)"."""
    words = str(variant)
    if edited is None:
        return words
    text = str(variant.text)
    return words.replace(text, f"{text} (+{edited['added']:,} -{edited['removed']:,})", 1)


def _differences(store: Store, kernel: int, path: Path, notes: list[str]) -> Data | None:
    try:
        differences = Differences(Side(store), path)
    except UopvizError as error:
        notes.append(f"not compared: {error.what}")
        return None
    try:
        kernels = differences.kernels()
        return differences.of(kernel, kernels[0]) if kernels else None
    finally:
        differences.close()


def _keep(store: Store, subject: Subject, made: Data, recorded: bytes) -> Data | None:
    try:
        one: Tried = keep(
            store.path, subject.number, subject.name, made, recorded, held_as=store.held_as
        )
    except TraceError as error:
        made["notes"].append(f"{error.what} ({error.where})")
        return None
    return {"number": one.number, "trace": str(one.path)}
