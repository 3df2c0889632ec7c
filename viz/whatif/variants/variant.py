"""`Variant`: in what a kernel is compiled otherwise than it was, or the text that stands for it.

Plain data that goes to the worker and lies beside the trace. Never compiles.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, cast

from core.errors import ServerError
from core.isolation.isolate import MAX_TEXT
from core.render.kinds import KIND
from core.uop.patterns.policy import Policy
from viz.format.cells import as_int, as_text
from viz.work.opts import parse_opts

MAX_SKIPPED: Final = 100
MAX_NAME: Final = 200
MAX_OPTS: Final = 2000
"""Rules that are left out; characters of their names, and of optimisations."""
_NTH: Final = re.compile(r"(.+)#(\d{1,6})")


@dataclass(frozen=True)
class EditedText:
    """A source text that a user has edited, in place of the compiler's. `kind`: of KINDS of
    core/render/kinds.py; `device`: what runs it, such as "PTX:EMU"."""

    kind: str
    text: str
    device: str

    def __str__(self) -> str:
        return f"edited {KIND[self.kind].title}" if self.kind in KIND else "edited text"

    @classmethod
    def from_data(cls, data: object) -> EditedText:
        """Of data that may be anything. Raises ServerError for what is no text, or too long."""
        fields = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
        kind, text, device = (fields.get(name) for name in ("kind", "text", "device"))
        if not (isinstance(kind, str) and isinstance(text, str) and isinstance(device, str)):
            raise ServerError(
                "this is no edited text", hint='{"kind": "llvm", "text": ..., "device": "CPU"}'
            )
        if kind not in KIND or not 0 < len(device) <= MAX_NAME:
            raise ServerError(
                f"no device runs an edited {kind[:60]!r} text", hint="such as llvm or ptx"
            )
        if len(text) > MAX_TEXT:
            raise ServerError(
                "the edited text is too long", hint=f"at most {MAX_TEXT:,} characters"
            )
        return cls(kind, text, device)


@dataclass(frozen=True)
class Variant:
    """`skip`: rules that are left out. `stop_after`: so many matches, and none after. `inside`: the
    rewrites by name where these two hold, `simplify#2` for the second of that name in the kernel
    (where rules are left out, in all of that name); "" for all. `opts`: optimisations as people
    write them, None for those that the compiler chooses. `target`: another one; "" for that of the
    recording. `text`: in place of that of the program which `skip` and `opts` make; then there
    is no limit, and rules are left out everywhere."""

    skip: tuple[str, ...] = ()
    stop_after: int | None = None
    inside: str = ""
    opts: str | None = None
    target: str = ""
    text: EditedText | None = None

    def __str__(self) -> str:
        parts: list[str] = []
        where = f" in {self.inside}" if self.inside else ""
        if self.skip:
            parts.append(f"without {', '.join(self.skip)}{where}")
        if self.stop_after is not None:
            parts.append(f"stopped after {self.stop_after} matches{where}")
        if self.opts is not None:
            parts.append(f"opts {self.opts}" if self.opts else "no opts")
        if self.text is not None:
            parts.append(str(self.text))
        if self.target:
            parts.append(f"for {self.target}")
        return "; ".join(parts) or "the code on disk"

    @property
    def device(self) -> str | None:
        """What runs an edited text; None for that of the target."""
        return None if self.text is None else self.text.device

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
        """Of data that may be anything. Raises ServerError for optimisations that are none, and for
        an edited text that is none or is to be of half a compilation."""
        skip, opts, stop = data.get("skip"), data.get("opts"), data.get("stop_after")
        edited = data.get("text")
        if edited is not None and (stop is not None or data.get("inside")):
            raise ServerError(
                "an edited text is of a whole compilation", hint="leave out stop_after and inside"
            )
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
            None if edited is None else EditedText.from_data(edited),
        )
