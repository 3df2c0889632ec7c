"""How a request asks for a kernel to be compiled or run: the optimisations to apply, the rules to
leave out, an edited text.

Raises ServerError for mistakes that need no worker to be seen. Knows no route.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from core.errors import ServerError
from core.helpers import BEAM
from core.isolation.isolate import MAX_TEXT
from viz.views.store import Store
from viz.whatif.variants.variant import MAX_NAME, MAX_OPTS, MAX_SKIPPED
from viz.work.opts import parse_opts


@dataclass(frozen=True)
class Options:
    """What a worker reads as `Change` of viz/work/change.py."""

    opts: str | None
    skip: Sequence[str]
    source: Mapping[str, str] | None

    def data(self) -> dict[str, Any]:
        """Its part of a request."""
        return {"opts": self.opts, "skip": [*self.skip], "source": self.source}


def options_of(body: Mapping[str, Any], run: object) -> Options:
    """That of the body of a request about a run."""
    options = Options(opts_of(body), names_of(body), _source(body.get("source")))
    if isinstance(run, Store):
        check_rules(run, options.skip)
    return options


def opts_of(body: Mapping[str, Any]) -> str | None:
    """The optimisations of the body of a request, as text; None for those that the compiler
    chooses."""
    opts = body.get("opts")
    if opts is not None and not isinstance(opts, str):
        raise ServerError("opts is not a text", hint="for example UPCAST(0, 4), or null")
    if opts is not None and len(opts) > MAX_OPTS:
        raise ServerError("opts is too long", hint=f"at most {MAX_OPTS:,} characters")
    if opts is not None:
        parse_opts(opts)
    return opts


def names_of(body: Mapping[str, Any]) -> list[str]:
    """The names of the rules that a request leaves out."""
    found = body.get("skip", [])
    names = cast("list[Any]", found) if isinstance(found, list) else None
    if names is None or not all(isinstance(n, str) and len(n) <= MAX_NAME for n in names):
        raise ServerError("skip is not a list of rules", hint="names of rules, [] for none")
    if len(names) > MAX_SKIPPED:
        raise ServerError(f"more than {MAX_SKIPPED} rules are left out", hint="leave out fewer")
    return names


def width_of(body: Mapping[str, Any]) -> int:
    """The width of the beam search that a request asks for."""
    width = body.get("width")
    if not isinstance(width, int) or isinstance(width, bool) or not 1 <= width <= BEAM.high:
        raise ServerError("width is not a width", hint=f"an integer from 1 to {BEAM.high}")
    return width


def check_rules(store: Store, names: Sequence[str]) -> None:
    """Raises ServerError for rules that the run does not have: nothing would be left out."""
    if not names:
        return
    known = {record.name for record in store.rule_records().values()}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ServerError(
            f"there is no rule {unknown[0][:100]!r} in this run", hint="choose one of its rules"
        )


def _source(found: object) -> dict[str, str] | None:
    if found is None:
        return None
    source = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    kind, text = source.get("kind"), source.get("text")
    if not isinstance(kind, str) or not isinstance(text, str):
        raise ServerError("source is not a text", hint='it is {"kind": "llvm", "text": ...}')
    if len(text) > MAX_TEXT:
        raise ServerError("the edited text is too long", hint=f"at most {MAX_TEXT:,} characters")
    return {"kind": kind, "text": text}
