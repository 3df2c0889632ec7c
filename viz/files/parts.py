"""The further files of a run, which lie beside its first one: how they are named and found.

`run.p4711.viz` and `run.p4711-1.viz` are of further processes, `run.t0003.viz` of a kernel that was
compiled on request; the folder `run.whatif` has variants. Never opens them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

PROCESS: Final = re.compile(r"\.p\d+(-\d+)?")
COMPILED: Final = re.compile(r"\.t(\d{4,7})")
"""What stands in such a name between the stem and the suffix of that of the first file."""
VARIANTS: Final = ".whatif"
"""The suffix of the folder beside a trace that has kernels of it compiled otherwise."""


def parts_of(main: Path, infix: re.Pattern[str]) -> list[tuple[re.Match[str], Path]]:
    """The files beside the first one of a run whose names are of this kind, by name."""
    found: list[tuple[re.Match[str], Path]] = []
    for path in sorted(main.parent.iterdir()) if main.suffix and main.parent.is_dir() else ():
        if path.name.startswith(main.stem) and path.name.endswith(main.suffix):
            between = infix.fullmatch(path.name[len(main.stem) : -len(main.suffix)])
            if between is not None:
                found.append((between, path))
    return found
