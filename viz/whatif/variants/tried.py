"""Variants that were tried, beside the trace, in a folder of their own: for each a file of results,
and a trace.

`run.viz` has them in `run.whatif/`: `1.json` with `1.viz`, and so on; an exported file `run.html`
in `run.html.whatif/`, and its run B in `run.html.B.whatif/`. These files are untrusted, as any
trace is, and no link is followed. Never compiles.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from core.errors import ServerError, TraceError
from viz.environment import in_cache, private_folder
from viz.files.parts import VARIANTS
from viz.files.regular import create_new, head_of, open_regular
from viz.format.cells import as_int, as_text
from viz.format.schema import SUFFIX
from viz.views.runs.run import FIRST
from viz.whatif.variants.variant import Variant

MOST: Final = 1000
"""Variants of one trace that are kept and read."""
MAX_FILE: Final = 1 << 24
MAX_TOTAL: Final = 1 << 27
"""Bytes that are read of one file, and of all files of a folder."""
_NUMBER: Final = re.compile("[1-9][0-9]{0,4}")
Data = dict[str, Any]


@dataclass(frozen=True)
class Tried:
    """A variant that was tried; `found` are its results."""

    number: int
    kernel: int
    name: str
    path: Path
    found: Mapping[str, Any]

    @property
    def variant(self) -> Variant:
        """What it changes. Raises ServerError where its file does not say."""
        data = self.found.get("variant")
        if not isinstance(data, dict):
            raise ServerError(
                f"variant {self.number} does not say what it changes",
                where=str(self.path),
                hint="delete it",
            )
        return Variant.from_data(cast("Data", data))


def folder_of(trace: Path, held_as: str = FIRST) -> Path:
    """Where the variants of a trace lie, or those of the run `held_as` of an exported file."""
    if trace.suffix == SUFFIX:
        return trace.with_suffix(VARIANTS)
    run = "" if held_as == FIRST else f".{held_as}"
    return trace.with_name(f"{trace.name}{run}{VARIANTS}")


def keep(
    trace: Path,
    kernel: int,
    name: str,
    found: Mapping[str, Any],
    recorded: bytes,
    *,
    held_as: str = FIRST,
    folder: Path | None = None,
    after: int = 0,
) -> Tried:
    """Keeps a variant with its trace, in the folder beside the trace or in another one, under a
    number greater than `after`. Raises TraceError where nothing can be written there."""
    folder = folder or folder_of(trace, held_as)
    if folder.is_symlink():
        raise TraceError(
            "variants cannot be kept beside the trace: their folder is a link",
            str(folder),
            "remove the link, or give --no-keep",
        )
    said = {"kernel": kernel, "name": name, "found": dict(found)}
    text = (json.dumps(said) + "\n").encode()
    try:
        if in_cache(trace):
            private_folder(folder)
        else:
            folder.mkdir(exist_ok=True)
        for number in range(max(after, len(_numbers_in(folder))) + 1, MOST + 1):
            path = folder / f"{number}{SUFFIX}"
            with suppress(FileExistsError):
                _create(path, recorded, text)
                return Tried(number, kernel, name, path, found)
    except OSError as error:
        raise TraceError(
            f"variants cannot be kept beside the trace: {error.strerror}",
            str(folder),
            "copy the trace to a folder where files can be written, or give --no-keep",
        ) from error
    raise TraceError(
        f"{MOST} variants of this trace are kept already",
        str(folder),
        "remove the folder, or files in it",
    )


def kept_of(trace: Path, also: Path | None = None, *, held_as: str = FIRST) -> list[Tried]:
    """The variants that lie beside a trace, and in the folder `also`, in the order in which they
    were tried. Other files are left out, and the oldest variants where all together have more than
    MAX_TOTAL bytes."""
    found: list[Tried] = []
    left = MAX_TOTAL
    for folder in ([] if also is None else [also]) + [folder_of(trace, held_as)]:
        for number in reversed(_numbers_in(folder)):
            one, size = _read(folder, number, left)
            left -= size
            found += [] if one is None else [one]
    return sorted(found, key=lambda one: one.number)


def kept_one(
    trace: Path, number: int, also: Path | None = None, *, held_as: str = FIRST
) -> Tried | None:
    """One of `kept_of` by its number; None where there is none."""
    for folder in [folder_of(trace, held_as)] + ([] if also is None else [also]):
        if number in _numbers_in(folder):
            one, _ = _read(folder, number, MAX_FILE)
            if one is not None:
                return one
    return None


def forget(one: Tried) -> None:
    """Removes a variant. Raises TraceError where its files cannot be removed."""
    try:
        one.path.with_suffix(".json").unlink(missing_ok=True)  # first: it is listed no more
        _remove_logs(one.path)
        one.path.unlink(missing_ok=True)
    except OSError as error:
        raise TraceError(
            f"variant {one.number} cannot be removed: {error.strerror}",
            str(one.path),
            "remove the file by hand",
        ) from error


def _remove_logs(path: Path) -> None:
    """Files that SQLite left beside a file, and would take for parts of the next file of that
    name."""
    for log in ("-wal", "-shm"):
        Path(f"{path}{log}").unlink(missing_ok=True)


def _create(path: Path, recorded: bytes, text: bytes) -> None:
    """Writes both files of a variant, or none. Raises OSError, FileExistsError where there is one
    of them already."""
    created: list[Path] = []
    try:
        for one, body in ((path, recorded), (path.with_suffix(".json"), text)):
            with os.fdopen(create_new(one), "wb") as file:
                created.append(one)
                _remove_logs(one)
                file.write(body)
    except BaseException:
        for one in created:
            with suppress(OSError):
                one.unlink()
        raise


def _numbers_in(folder: Path) -> list[int]:
    """The numbers of the variants in a folder, in order; none where it is a link."""
    found: list[int] = []
    with suppress(OSError):
        for path in () if folder.is_symlink() else folder.glob("*.json"):
            if _NUMBER.fullmatch(path.stem):
                found.append(int(path.stem))
    return sorted(found)[:MOST]


def _read(folder: Path, number: int, most: int) -> tuple[Tried | None, int]:
    """A variant, if its files are of that kind, and the bytes that were read."""
    path = folder / f"{number}{SUFFIX}"
    limit = min(most, MAX_FILE)
    read = b""
    try:
        if head_of(path, 1) is None:
            return None, 0
        with open_regular(path.with_suffix(".json"), follow=False) as file:
            read = file.read(limit + 1)
        if len(read) > limit:
            return None, limit
        data = json.loads(read)
    except (OSError, ValueError, RecursionError):
        return None, len(read)
    fields = cast("Data", data) if isinstance(data, dict) else {}
    found = fields.get("found")
    if not isinstance(found, dict):
        return None, len(read)
    kernel, name = as_int(fields.get("kernel")), as_text(fields.get("name"), 300)
    return Tried(number, kernel, name, path, cast("Data", found)), len(read)
