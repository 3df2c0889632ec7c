"""The results of a check, in a file beside the trace: `run.viz` has `run.viz.check.json`.

It is found again where it is of the same trace and of the same code of the checker. What it says is
read strictly, and shown as what it is; it is never run. A file that does not fit is made anew.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

from core.errors import FormatError
from core.prove.verdict import KINDS, verdict_of
from viz.files.regular import replace_file

VERSION: Final = 3
MAX_BYTES: Final = 1 << 28
_ROOT: Final = Path(__file__).parents[3]


def kept_path(trace: Path) -> Path:
    """The file that the results for a trace are in."""
    return trace.with_name(f"{trace.name}.check.json")


def identity(trace: Path) -> dict[str, Any]:
    """What a result depends on: the bytes of the trace, and the code that checked it. Raises
    OSError."""
    digest = hashlib.sha256()
    with trace.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return {"version": VERSION, "trace": digest.hexdigest(), "code": _code()}


def load(trace: Path, wanted: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """The passes that are known, by their numbers; none where the file is of another trace, of
    other code, damaged, or not there."""
    path = kept_path(trace)
    with suppress(OSError, ValueError, RecursionError, FormatError):
        if path.stat().st_size > MAX_BYTES:
            return {}
        data = json.loads(path.read_bytes())
        if isinstance(data, dict) and cast("dict[str, Any]", data).get("of") == wanted:
            passes = cast("dict[str, Any]", data).get("passes")
            if isinstance(passes, list):
                checked = [checked_pass(one) for one in cast("list[object]", passes)]
                return {one["rewrite"]: one for one in checked}
    return {}


def save(trace: Path, of: dict[str, Any], passes: dict[int, dict[str, Any]]) -> bool:
    """Writes the results; whether that was possible."""
    data = {"of": of, "passes": [passes[number] for number in sorted(passes)]}
    try:
        replace_file(kept_path(trace), json.dumps(data).encode(), is_kept, "the result of a check")
    except Exception:  # a folder that cannot be written is no reason not to answer
        return False
    return True


def is_kept(begin: bytes) -> bool:
    """Whether a file that begins so is one of these."""
    return begin.startswith(b'{"of": {"version": ')


def checked_pass(data: object) -> dict[str, Any]:
    """The result of a pass as it was written. Raises FormatError for anything else."""
    if not isinstance(data, dict):
        raise _bad()
    fields = cast("dict[str, Any]", data)
    rewrite, steps, verdicts = (fields.get(k) for k in ("rewrite", "steps", "verdicts"))
    if type(rewrite) is not int or not isinstance(steps, list) or not isinstance(verdicts, list):
        raise _bad()
    known = [verdict_of(one).data() for one in cast("list[object]", verdicts)]
    rows: list[list[int]] = []
    for row in cast("list[object]", steps):
        match row:
            case [int(step), int(rule), int(verdict)] if 0 <= verdict < len(known):
                rows.append([step, rule, verdict])
            case _:
                raise _bad()
    return {"rewrite": rewrite, "steps": rows, "verdicts": known, "integers": _numbers(fields)}


def _numbers(fields: dict[str, Any]) -> list[int]:
    """The steps that replace an integer or a bool."""
    found = fields.get("integers")
    if not isinstance(found, list) or not all(type(n) is int for n in cast("list[object]", found)):
        raise _bad()
    return cast("list[int]", found)


@cache
def _code() -> str:
    """A hash of the modules that decide."""
    digest = hashlib.sha256(repr(KINDS).encode())
    for folder in ("core/prove", "core/uop", "core/runtime/reference", "viz/check"):
        for path in sorted((_ROOT / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _bad() -> FormatError:
    return FormatError("not the result of a check", hint="delete the file; it is made anew")
