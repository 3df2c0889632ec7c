"""How a request asks for a kernel to be run: the optimisations to apply, or an edited text.

Raises ServerError for mistakes that need no worker to be seen. Knows no route.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from core.check.isolate import MAX_TEXT
from core.errors import ServerError
from viz.work.opts import parse_opts


def how_of(body: Mapping[str, Any]) -> tuple[str | None, dict[str, str] | None]:
    """(optimisations, edited text) of the body of a request: at most one of them."""
    opts, source = body.get("opts"), _source(body.get("source"))
    if opts is not None and not isinstance(opts, str):
        raise ServerError("opts is not a text", hint="for example UPCAST(0, 4), or nothing")
    if source is not None and opts is not None:
        raise ServerError("a text of one's own takes no opts", hint="leave one of them out")
    return opts, source


def check_how(opts: str | None, source: Mapping[str, str] | None) -> None:
    """Raises ServerError for opts that are none, and for a text that is too long."""
    if opts is not None:
        parse_opts(opts)
    if source is not None and len(source["text"]) > MAX_TEXT:
        raise ServerError("the edited text is too long", hint=f"at most {MAX_TEXT:,} characters")


def _source(found: object) -> dict[str, str] | None:
    if found is None:
        return None
    source = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    kind, text = source.get("kind"), source.get("text")
    if not isinstance(kind, str) or not isinstance(text, str):
        raise ServerError("source is not a text", hint='it is {"kind": "llvm", "text": ...}')
    return {"kind": kind, "text": text}
