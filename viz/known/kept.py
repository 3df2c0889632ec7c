"""The results of a check, in a file beside the trace: `run.viz` has `run.viz.check.json`, and run B
of an exported file `runs.html.B.check.json`.

It is found again where it is of the same trace and of the same code of the checker. What it says is
read strictly, and shown as what it is; it is never run. A file that does not fit is made anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

from core.errors import FormatError
from core.prove.verdict import KINDS, MAX_TEXT, verdict_of
from viz.files.regular import open_regular, replace_file
from viz.known.left import left_of
from viz.known.whole import LATE, whole_kernel
from viz.views.runs.run import FIRST

VERSION: Final = 6
MAX_BYTES: Final = 1 << 26
"""Bytes of a file that is read, or written."""
_ROOT: Final = Path(__file__).parents[3]


def kept_path(trace: Path, held_as: str = FIRST) -> Path:
    """The file that the results for a trace are in, or for the run `held_as` of an exported
    file."""
    run = "" if held_as == FIRST else f".{held_as}"
    return trace.with_name(f"{trace.name}{run}.check.json")


def identity(files: Sequence[Path], held_as: str = FIRST) -> dict[str, Any]:
    """What a result depends on: the bytes of the files of a run, in the order in which its passes
    are numbered, which run of an exported file it is, and the code that checked it. Raises
    OSError."""
    traces: list[str] = []
    for path in files:
        digest = hashlib.sha256()
        with open_regular(path) as file:
            while block := file.read(1 << 20):
                digest.update(block)
        traces.append(digest.hexdigest())
    return {"version": VERSION, "traces": traces, "run": held_as, "code": _code()}


@dataclass(frozen=True)
class Kept:
    """What is known, by the numbers of passes and of kernels as a whole."""

    passes: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    kernels: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])


def load(path: Path, wanted: dict[str, Any]) -> Kept:
    """What is known, from the file at `path`; nothing where it is of another trace, of other code,
    damaged, larger than MAX_BYTES, no regular file, or not there. What kernels came to depends on
    more code: it is known where that is the same, too."""
    with suppress(OSError, ValueError, RecursionError, FormatError):
        with open_regular(path, follow=False) as file:
            begin = file.read(MAX_BYTES + 1)
        if len(begin) > MAX_BYTES:
            return Kept()
        read = json.loads(begin)
        data = cast("dict[str, Any]", read) if isinstance(read, dict) else {}
        if data.get("of") == wanted:
            passes, whole = data.get("passes"), data.get("kernels")
            if isinstance(passes, list) and isinstance(whole, list):
                checked = [checked_pass(one) for one in cast("list[object]", passes)]
                ran = [whole_kernel(one) for one in cast("list[object]", whole)]
                same = data.get("ran") == _code_that_runs()
                return Kept(
                    {one["rewrite"]: one for one in checked},
                    {one["kernel"]: one for one in ran if same},
                )
    return Kept()


def save(path: Path, of: dict[str, Any], known: Kept) -> bool:
    """Writes the results to the file at `path`; whether that was possible."""
    data = {
        "of": of,
        "passes": [known.passes[number] for number in sorted(known.passes)],
        "ran": _code_that_runs(),
        "kernels": [one for _, one in sorted(known.kernels.items()) if one["why"] != LATE],
    }
    body = json.dumps(data).encode()
    if len(body) > MAX_BYTES:
        return False
    try:
        replace_file(path, body, is_kept, "the result of a check")
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
    return {
        "rewrite": rewrite,
        "steps": rows,
        "verdicts": known,
        "integers": _numbers(fields),
        "undone": left_of(fields.get("undone")),
        "unseen": _text(fields.get("unseen", "")),
    }


def _text(found: object) -> str:
    if not isinstance(found, str):
        raise _bad()
    return found[:MAX_TEXT]


def _numbers(fields: dict[str, Any]) -> list[int]:
    """The steps that replace an integer or a bool."""
    found = fields.get("integers")
    if not isinstance(found, list) or not all(type(n) is int for n in cast("list[object]", found)):
        raise _bad()
    return cast("list[int]", found)


@cache
def _code() -> str:
    """A hash of the modules that decide."""
    return _hash(("core/prove", "core/uop", "core/passes", "core/runtime/reference", "viz/check"))


@cache
def _code_that_runs() -> str:
    """A hash of the modules that compile kernels and run them."""
    return _hash(("core", "viz/check", "viz/whatif"))


def _hash(folders: Sequence[str]) -> str:
    digest = hashlib.sha256(repr(KINDS).encode())
    for folder in folders:
        for path in sorted((_ROOT / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _bad() -> FormatError:
    return FormatError("not the result of a check", hint="delete the file; it is made anew")
