"""Optimisations of a kernel as people write them: `TC(0, (-1, 2, 1)) UPCAST(0, 4)`, and back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from core.errors import ServerError
from core.uop.kernelinfo import Opt, OptOps

MOST: Final = 32
"""Optimisations of one kernel."""
_NUMBER: Final = r"(\d{1,9}|None)"
_OPT: Final = re.compile(
    rf"\s*([A-Z]+)\s*\(\s*{_NUMBER}?\s*(?:,\s*(?:{_NUMBER}|\(([\d,\s-]{{0,60}})\)))?\s*\)\s*[,;]?\s*"
)


def parse_opts(text: str) -> tuple[Opt, ...]:
    """The optimisations that a text names, in order; none for an empty text. Raises ServerError."""
    found: list[Opt] = []
    at = 0
    while text[at:].strip():
        match = _OPT.match(text, at)
        if match is None or match[1] not in OptOps.__members__:
            raise ServerError(
                f"not an optimisation: {text[at : at + 60].strip()!r}",
                hint=f"write UPCAST(0, 4) UNROLL(0, 0); there are {', '.join(OptOps.__members__)}",
            )
        if len(found) == MOST:
            raise ServerError("too many optimisations", hint=f"at most {MOST} of one kernel")
        axes = match[4]
        arg = (
            _number(match[3]) if axes is None else tuple(int(n) for n in re.findall(r"-?\d+", axes))
        )
        found.append(Opt(OptOps[match[1]], _number(match[2]), arg))
        at = match.end()
    return tuple(found)


def opts_text(opts: Sequence[Opt]) -> str:
    """`parse_opts(opts_text(opts))` is `opts`."""
    return " ".join(str(opt) for opt in opts)


def _number(text: str | None) -> int | None:
    return None if text is None or text == "None" else int(text)
