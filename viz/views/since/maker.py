"""Who made a trace: which compiler, in which version, and whether on this machine by this user.

What was made elsewhere is shown as it was recorded; nothing of it is compiled unasked. Never opens
a file that a trace names.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Any, Final, cast

from viz.files.alive import has_host, is_here
from viz.format.cells import as_text
from viz.format.schema import COMPILER
from viz.views.runs.process import Process
from viz.vouching import is_vouched

_WORD: Final = 60
"""Characters of the name and the version of a compiler."""


@dataclass(frozen=True)
class Maker:
    """Who made a trace. `compiler` and `version`: as the trace has them, "" for what it does not
    say; `own`: it is of `core`'s graphs; `same`: and of this very version; `here`: it says that
    it was made on this machine, and no one else has signed it; `elsewhere`: that it was not, or
    that another user has; a copy may say neither. `reader`: the version of this installation."""

    compiler: str
    version: str
    own: bool
    same: bool
    here: bool
    elsewhere: bool
    reader: str

    def data(self) -> dict[str, Any]:
        """In the form of the page."""
        return asdict(self)


def maker_of(processes: Sequence[Process], own: bool) -> Maker:
    """Who made the run; `own`: whether its graphs are `core`'s."""
    meta = processes[0].file.meta
    compiler = COMPILER if own else as_text(meta.get("compiler"), _WORD)
    versions = meta.get("versions")
    known = cast("Mapping[str, object]", versions) if isinstance(versions, dict) else {}
    version, reader = as_text(known.get(compiler), _WORD), own_version()
    process, other = meta.get("process"), _of_another_user(processes)
    here = is_here(process) and not other
    elsewhere = other or (has_host(process) and not here)
    same = own and version == reader
    return Maker(compiler, version, own, same, here, elsewhere, reader)


@functools.cache
def own_version() -> str:
    """The version of this installation; "" where it is not installed."""
    try:
        return metadata.version("uopviz")
    except metadata.PackageNotFoundError:
        return ""


def _of_another_user(processes: Sequence[Process]) -> bool:
    """Whether someone other than this user has signed files of the run."""
    signed = [part for process in processes for part in process.file.user_lines if part.proof]
    return bool(signed) and not any(is_vouched(p.file, p.digest, p.proof) for p in signed)
