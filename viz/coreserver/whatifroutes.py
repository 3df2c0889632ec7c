"""Routes of kernels that are compiled otherwise: variants, replays with the code on disk, rules
that have changed, scripts.

They parse and answer; the logic is in `viz/coreserver/whatif.py`. The form of every answer is in
viz/web/src/data/messages/kernel.ts, and of job results in docs/json.md.
"""

from __future__ import annotations

from typing import Any, Final

from flask import Blueprint, Response

from core.errors import ServerError
from viz.coreserver.options import names_of, opts_of
from viz.coreserver.requests import actions
from viz.coreserver.whatif import MOST_SECONDS, WhatIf
from viz.server.answers import answer
from viz.server.requests import json_body, open_run, unknown
from viz.whatif.variants.variant import MAX_NAME, Variant

whatif_routes = Blueprint("whatif", __name__, url_prefix="/api")
MAX_STOP: Final = 1 << 31


@whatif_routes.post("/<run:run>/kernels/<int:context>/variants")
def try_variant(run: str, context: int) -> Response:
    """Begins to compile a kernel as a variant: {"job"}; its result is WhatIf, which is kept.
    {"skip"}: names of rules to leave out; {"stop_after"}: so many matches and no more; {"inside"}:
    the pass where these two hold, "" for all; {"opts"}: as text, null for the compiler's choice;
    {"target"}: another one, or ""; {"text"}: EditedText, run in place of that of
    the program which opts and skip make, so without stop_after and inside; {"seconds"}: the limit
    of time."""
    asked = json_body()
    return answer(
        {"job": _whatif().begin(open_run(run), context, _variant(asked), **_limit(asked))}
    )


@whatif_routes.get("/<run:run>/kernels/<int:context>/variants")
def kernel_variants(run: str, context: int) -> Response:
    """The variants of a kernel that were tried and are kept: VariantRow[]."""
    return answer(_whatif().variants(open_run(run), context))


@whatif_routes.get("/<run:run>/variants")
def variants(run: str) -> Response:
    """The variants of all kernels of a run: VariantRow[]."""
    return answer(_whatif().variants(open_run(run)))


@whatif_routes.delete("/<run:run>/variants/<int:number>")
def delete_variant(run: str, number: int) -> Response:
    """Removes a variant with its trace."""
    found = _whatif().delete(open_run(run), number)
    return answer({}) if found else unknown("variant", number)


@whatif_routes.post("/<run:run>/variants/<int:number>/open")
def open_variant(run: str, number: int) -> Response:
    """Opens the trace of a variant beside the runs, if it is not open: {"run"}, its name."""
    found = _whatif().open(open_run(run), number)
    return unknown("variant", number) if found is None else answer(found)


@whatif_routes.get("/<run:run>/variants/<int:number>/script")
def variant_script(run: str, number: int) -> Response:
    """A program that compiles a variant and compares it with the reference, as plain text."""
    made = _whatif().script(open_run(run), number)
    if made is None:
        return unknown("variant", number)
    headers = {"Content-Disposition": f'attachment; filename="variant_{number}.py"'}
    return Response(made.text, content_type="text/plain; charset=utf-8", headers=headers)


@whatif_routes.get("/<run:run>/variants/<int:number>/text")
def variant_text(run: str, number: int) -> Response:
    """The edited text of a variant, to edit it again: VariantText."""
    made = _whatif().text(open_run(run), number)
    return unknown("variant", number) if made is None else answer(made)


@whatif_routes.post("/<run:run>/variants/<int:number>/minimise")
def minimise_variant(run: str, number: int) -> Response:
    """Begins to make the kernel of a variant smaller, as long as what is the matter with it stays:
    {"job"}; its result is SmallerScript. {"seconds"}: the limit of time."""
    job = _whatif().minimise(open_run(run), number, **_limit(json_body()))
    return unknown("variant", number) if job is None else answer({"job": job})


@whatif_routes.post("/<run:run>/replay")
def replay_run(run: str) -> Response:
    """Begins to compile all kernels with the code on disk: {"job"}; its result is Replayed, with
    the name of the run that was recorded. {"seconds"}: the limit of time."""
    return answer({"job": _whatif().replay(open_run(run), None, **_limit(json_body()))})


@whatif_routes.post("/<run:run>/kernels/<int:context>/replay")
def replay_kernel(run: str, context: int) -> Response:
    """The same for one kernel."""
    return answer({"job": _whatif().replay(open_run(run), context, **_limit(json_body()))})


@whatif_routes.get("/<run:run>/changed")
def changed_rules(run: str) -> Response:
    """The rules whose text has changed since the run, and a word for the state of their files:
    ChangedRules. Cheap: files are read again only where they have changed."""
    return answer(_whatif().changed(open_run(run)))


def _whatif() -> WhatIf:
    return actions().whatif


def _variant(asked: dict[str, Any]) -> Variant:
    """The variant of a request. Raises ServerError for what is none."""
    stop = asked.get("stop_after")
    if stop is not None and not (type(stop) is int and 0 <= stop < MAX_STOP):
        raise ServerError("stop_after is not a number of matches", hint="0 or more, or null")
    for name in ("inside", "target"):
        value = asked.get(name, "")
        if not isinstance(value, str) or len(value) > MAX_NAME:
            raise ServerError(f"{name} is not a text", hint='a name, or ""')
    return Variant.from_data({**asked, "skip": names_of(asked), "opts": opts_of(asked)})


def _limit(asked: dict[str, Any]) -> dict[str, float]:
    """{"seconds"} of a request, where it has any."""
    seconds = asked.get("seconds")
    if seconds is None:
        return {}
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise ServerError("seconds is not a number", hint="the limit of time, such as 60")
    if not 0 < seconds <= MOST_SECONDS:
        raise ServerError("seconds is out of range", hint=f"at most {MOST_SECONDS:.0f}")
    return {"seconds": float(seconds)}
