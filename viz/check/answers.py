"""The answers about checked steps: one row each, in the form of `viz/views/answers.py`.

They need the trace itself. What was checked before is taken from the file beside the trace.
"""

from __future__ import annotations

from typing import Any, Final

from core.errors import TraceError
from viz.check.kept import identity, load
from viz.check.message import message
from viz.check.part import Part, check_part
from viz.views.run import Answer, Keep, Subject
from viz.views.store import Store

SECONDS: Final = 20.0
"""For the steps of one pass, in the process that answers."""


def verdicts(store: Store, rewrite: int) -> dict[str, Any] | None:
    """What is known of each step of a pass: `Checked`; None for a number that no pass has."""
    if store.scope_of(rewrite) is None:
        return None
    try:
        known = load(store.path, identity(store.path))
    except OSError as error:
        raise TraceError("the trace cannot be read", str(store.path), str(error)) from error
    if rewrite in known:
        return message(store, [known[rewrite]])
    return message(store, check_part(Part(str(store.files[0].path), (rewrite,), seconds=SECONDS)))


VERDICTS: Final = Answer(
    "verdicts",
    "/verdicts/{rewrite}",
    "Checked",
    "Whether the steps of a pass are right: what is known of each of them",
    verdicts,
    subject=Subject.REWRITE,
    keep=Keep.ENDED,
)

CHECK_ANSWERS: Final[tuple[Answer, ...]] = (VERDICTS,)
"""All of them."""
