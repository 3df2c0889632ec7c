"""Variants that were tried, beside the trace, in a folder of their own: for each a file of what was
found, and a trace.

`run.viz` has them in `run.whatif/`: `1.json` with `1.viz`, and so on. What lies there is believed
nothing, as any trace. Never compiles.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from core.errors import TraceError
from viz.environment import in_cache, private_folder
from viz.files.parts import VARIANTS
from viz.files.regular import open_regular
from viz.format.cells import as_int, as_text
from viz.format.schema import SUFFIX

MOST: Final = 1000
"""Variants of one trace that are kept and read."""
MAX_FILE: Final = 1 << 24
Data = dict[str, Any]


@dataclass(frozen=True)
class Kept:
    """A variant that was tried; `found` is what was found out."""

    number: int
    kernel: int
    name: str
    path: Path
    found: Mapping[str, Any]


def folder_of(trace: Path) -> Path:
    """Where the variants of a trace lie."""
    return trace.with_suffix(VARIANTS)


def keep(
    trace: Path,
    kernel: int,
    name: str,
    found: Mapping[str, Any],
    recorded: bytes,
    *,
    folder: Path | None = None,
    after: int = 0,
) -> Kept:
    """Keeps a variant with its trace, in the folder beside the trace or in another one, under a
    number greater than `after`. Raises TraceError where nothing can be written there."""
    folder = folder or folder_of(trace)
    try:
        if in_cache(trace):
            private_folder(folder)
        else:
            folder.mkdir(exist_ok=True)
        for number in range(max(after, len(_kept_in(folder))) + 1, MOST + 1):
            path = folder / f"{number}{SUFFIX}"
            with suppress(FileExistsError), path.open("xb") as file:
                file.write(recorded)
                break
        else:
            raise TraceError(
                f"{MOST} variants of this trace are kept already",
                str(folder),
                "remove the folder, or files in it",
            )
        said = {"kernel": kernel, "name": name, "found": dict(found)}
        path.with_suffix(".json").write_text(json.dumps(said) + "\n", encoding="utf-8")
    except OSError as error:
        raise TraceError(
            f"variants cannot be kept beside the trace: {error.strerror}",
            str(folder),
            "copy the trace to a folder where files can be written, or give --no-keep",
        ) from error
    return Kept(number, kernel, name, path, found)


def kept_of(trace: Path, also: Path | None = None) -> list[Kept]:
    """The variants that lie beside a trace, and in the folder `also`, in the order in which they
    were tried. Files that are none are left out."""
    found = _kept_in(folder_of(trace)) + (_kept_in(also) if also is not None else [])
    return sorted(found, key=lambda one: one.number)


def forget(one: Kept) -> None:
    """Removes a variant. Raises TraceError where its files cannot be removed."""
    try:
        for path in (one.path.with_suffix(".json"), one.path):
            path.unlink(missing_ok=True)
        for log in ("-wal", "-shm"):
            Path(f"{one.path}{log}").unlink(missing_ok=True)
    except OSError as error:
        raise TraceError(
            f"variant {one.number} cannot be removed: {error.strerror}",
            str(one.path),
            "remove the file by hand",
        ) from error


def _kept_in(folder: Path) -> list[Kept]:
    found: list[Kept] = []
    with suppress(OSError):
        for path in folder.glob("*.json"):
            if path.stem.isdecimal() and len(path.stem) < 6 and len(found) < MOST:
                found += _read(path)
    return found


def _read(path: Path) -> list[Kept]:
    try:
        with open_regular(path, follow=False) as file:
            data = json.loads(file.read(MAX_FILE))
    except (OSError, ValueError, RecursionError):
        return []
    if not isinstance(data, dict):
        return []
    fields = cast("Data", data)
    found = fields.get("found")
    if not isinstance(found, dict):
        return []
    return [
        Kept(
            int(path.stem),
            as_int(fields.get("kernel")),
            as_text(fields.get("name"), 300),
            path.with_suffix(SUFFIX),
            cast("Data", found),
        )
    ]
