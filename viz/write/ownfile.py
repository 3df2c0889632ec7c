"""The file that a recording process may write."""

from __future__ import annotations

from pathlib import Path

from viz.files.alive import new_run
from viz.files.claim import Claim, claim, claim_beside
from viz.write.database import cannot_be_made, make_folder


def own_file(path: Path, run: str | None, main: bool) -> tuple[Claim, str]:
    """The file of this process, claimed, and the name of its run: `path` itself, or one beside it
    where another process writes that, or (not `main`) is the first one of the run. `run`: the run
    that it joins; None for a new one. Raises TraceError where no file can be made."""
    try:
        make_folder(path)
        name = run or new_run()
        if main:
            found = claim(path, name, join=run is not None)
            if isinstance(found, Claim):
                return found, name
            name = found.run
        return claim_beside(path, name), name
    except OSError as error:
        raise cannot_be_made(path, error) from error
