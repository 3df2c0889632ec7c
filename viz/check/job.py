"""A check that a server begins: what of a run is checked, and what becomes of the results.

Knows nothing of HTTP. Never checks: a worker does (`viz/check/worker.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, cast

from core.errors import ServerError, UopvizError
from viz.check.whole.kernels import kernels_of, wholes_of
from viz.dialect.dialect import Action
from viz.known.answers import FOREIGN
from viz.known.beside import keep, renumbered, take_kept
from viz.known.kept import checked_pass
from viz.known.whole import counted, settled, whole_kernel
from viz.views.kernels.compiled import FIRST
from viz.views.runs.process import STRIDE
from viz.views.store import Store

MOST: Final = 1_000_000
"""Passes of one check."""
Data = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """What of a run is checked: all of it, or the kernel, the pass and the steps of the rule that
    are named; `again`: also what is known."""

    kernel: int | None = None
    rewrite: int | None = None
    rule: int | None = None
    again: bool = False


class Check:
    """A check of a run: of steps, and of kernels as a whole, unless only a pass or a rule is asked
    for. `changed` is told when more is known. Raises ServerError where nothing of
    the run can be checked, or what is asked for is not in it."""

    def __init__(self, store: Store, asked: Asked, changed: Callable[[], None]) -> None:
        if Action.CHECK not in store.dialect.actions:
            raise ServerError(FOREIGN, hint="its dialect says what can be done with a trace")
        self._store, self._changed = store, changed
        self._rules = [_rule(store, asked.rule)] if asked.rule is not None else []
        self._asked = _passes(store, asked)
        checks = take_kept(store)
        known = set[int]() if asked.again else checks.whole()
        self._left = [number for number in self._asked if number not in known]
        self._wanted = frozenset(self._left)
        whole = asked.rewrite is None and asked.rule is None and store.compiles
        self._kernels = frozenset(kernels_of(store, asked.kernel) if whole else ())
        self._wholes = wholes_of(
            store, sorted(self._kernels), () if asked.again else settled(checks)
        )

    @property
    def request(self) -> Data | None:
        """For the worker; None where all is known."""
        if not self._left and not self._wholes:
            return None
        files = self._store.files
        return {
            "job": "check",
            "trace": str(files[0].path),
            "files": [file.path.name for file in files],
            "rewrites": self._left,
            "rules": self._rules,
            "kernels": self._wholes.data(),
        }

    def take(self, part: object) -> None:
        """Takes up the result of one pass or kernel. Raises FormatError where it is none."""
        if isinstance(part, dict) and "kernel" in part:
            whole = whole_kernel(cast("Data", part))
            if whole["kernel"] in self._kernels:
                self._store.checks.add_kernel(whole)
                self._changed()
            return
        checked = renumbered(self._store, checked_pass(part))
        if checked["rewrite"] in self._wanted:
            self._store.checks.add(checked, whole=not self._rules)
            self._changed()

    def end(self) -> None:
        """Keeps what is known now, however the worker ended; the run may be closed by then."""
        with suppress(UopvizError, OSError, ValueError):
            keep(self._store)
        self._changed()

    def answer(self, _: object = None) -> Data:
        """`CheckDone`: what is known of what was asked for."""
        checks = self._store.checks
        kernels = [one for one in checks.kernels() if one["kernel"] in self._kernels]
        return {
            "passes": len(self._asked),
            "counts": checks.counts(self._asked),
            "kernels": counted(kernels),
        }


def _passes(store: Store, asked: Asked) -> list[int]:
    """The numbers of the passes that are meant, in the order of the run. A pass that still goes on
    is checked when it has ended."""
    rows = store.tree()["rows"]
    inside = {row["row"] for row in rows if asked.kernel is None or row["id"] == asked.kernel}
    for row in rows:  # parents come before their children
        if row["parent"] in inside:
            inside.add(row["row"])
    found = [
        row["id"]
        for row in rows
        if row["kind"] == "rewrite"
        and row["row"] in inside
        and row["id"] < FIRST * STRIDE
        and asked.rewrite in (None, row["id"])
        and not (store.live and row["status"] == "open")
    ]
    if not found:
        raise ServerError(
            "there is no such pass to check",
            hint="passes that were compiled here on request, or still go on, are not checked",
        )
    return found[:MOST]


def _rule(store: Store, number: int) -> str:
    name = next((rule["name"] for rule in store.rules() if rule["id"] == number), None)
    if name is None:
        raise ServerError(
            f"there is no rule {number} in this run", hint="the link may be of another run"
        )
    return str(name)
