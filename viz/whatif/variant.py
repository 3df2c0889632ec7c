"""`Variant`: in what a kernel is compiled otherwise than it was.

Plain data that goes to the worker and lies beside the trace. Never compiles.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from core.errors import ServerError
from core.uop.policy import Policy
from viz.format.cells import as_int, as_text
from viz.work.opts import parse_opts

MAX_SKIPPED: Final = 100
MAX_NAME: Final = 200
MAX_OPTS: Final = 2000
"""Rules that are left out; characters of their names, and of optimisations."""
_NTH: Final = re.compile(r"(.+)#(\d{1,6})")


@dataclass(frozen=True)
class Variant:
    """`skip`: rules that are left out. `stop_after`: so many matches, and none after. `inside`: the
    rewrites by name where these two hold, `simplify#2` for the second of that name in the kernel
    (where rules are left out, in all of that name); "" for all. `opts`: optimisations as people
    write them, None for those that the compiler chooses. `target`: another one; "" for that of the
    recording."""

    skip: tuple[str, ...] = ()
    stop_after: int | None = None
    inside: str = ""
    opts: str | None = None
    target: str = ""

    def __str__(self) -> str:
        parts: list[str] = []
        where = f" in {self.inside}" if self.inside else ""
        if self.skip:
            parts.append(f"without {', '.join(self.skip)}{where}")
        if self.stop_after is not None:
            parts.append(f"stopped after {self.stop_after} matches{where}")
        if self.opts is not None:
            parts.append(f"opts {self.opts}" if self.opts else "no opts")
        if self.target:
            parts.append(f"for {self.target}")
        return "; ".join(parts) or "the code on disk"

    @property
    def policy(self) -> Policy | None:
        """What its rewrites follow; None where nothing is changed by rules. Of a limit in one
        rewrite, only those with that name count."""
        if not self.skip and self.stop_after is None:
            return None
        form = _NTH.fullmatch(self.inside)
        name = form[1] if form else self.inside
        return Policy(
            skip=frozenset(self.skip),
            inside=frozenset({name} if name else ()),
            limit=self.stop_after,
            rewrite=name or None,
            nth=max(0, int(form[2]) - 1) if form else None,
        )

    def data(self) -> dict[str, Any]:
        """As JSON; `from_data` reads it."""
        return {**asdict(self), "skip": list(self.skip)}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Variant:
        """Of data that may be anything. Raises ServerError for optimisations that are none."""
        skip, opts, stop = data.get("skip"), data.get("opts"), data.get("stop_after")
        text = None if opts is None else as_text(opts, MAX_OPTS)
        if text:
            parse_opts(text)
        names = skip[:MAX_SKIPPED] if isinstance(skip, list) else []
        if stop is not None and as_int(stop, -1) < 0:
            raise ServerError(f"{stop!r} is no number of matches", hint="0 or more")
        return cls(
            tuple(as_text(name, MAX_NAME) for name in names),
            None if stop is None else as_int(stop),
            as_text(data.get("inside"), MAX_NAME),
            text,
            as_text(data.get("target"), MAX_NAME),
        )
