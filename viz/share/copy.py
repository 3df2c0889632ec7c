"""A run, or a part of it, written anew as a trace: `uopviz export -o part.viz`, and what an
exported file carries.

What is left out is noted in the trace; `viz/share/filecopy.py` copies each file. Never changes the
run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from core.errors import ServerError
from viz.files.claim import meta_of
from viz.format.cells import as_text
from viz.share.filecopy import FileCopy
from viz.share.redaction import SAID, Wording
from viz.views.kernels.captured import captured_totals, captured_words
from viz.views.kernels.compiled import path_of
from viz.views.runs.process import STRIDE, is_compiled
from viz.views.runs.run import Run
from viz.write.database import cannot_be_made, make_folder
from viz.write.replacing import replace_run

_NAMED: Final = 20
"""Numbers of kernels that a sentence names."""


def write_trace(
    store: Run,
    path: Path,
    *,
    kernels: Collection[int] | None = None,
    redact: bool = False,
    published: bool = False,
    values: bool = False,
    progress: Callable[[float], None] = lambda share: None,
) -> list[str]:
    """Writes the run to `path`, and next to it its further processes and the kernels that were
    compiled on request; sentences of what was left out. Once all are made they take the place of
    all files of an earlier trace of that name, or, where that fails, of none.

    `kernels`: numbers of the kernel contexts to keep, with what is outside of any kernel (all);
    `redact` leaves out what `viz/share/redaction.py` says; `values` keeps those that were captured
    in the run, unless `redact`; `published`: files have the names that the page shows; `progress`
    hears how much is done, 0 to 1, and what it raises ends the copy. Raises TraceError or
    ServerError where the run has no such kernel or no trace, or the file cannot be written."""
    files = [*enumerate(store.files)]
    chosen = {number: kernels for number, _ in files}
    for one in store.compilations:
        if kernels is None or one.kernel in kernels:
            files.append((one.number, one.file))
            chosen[one.number] = None
    said: list[str] = []
    if kernels is not None:
        said.append(_check(store.kernels(), kernels))
    if redact:
        said.append(SAID)
    kept = captured_totals(store.files)
    values &= not redact
    if (count := captured_words(kept)) and not values and not redact:
        said.append(f"captured values of {count}; uopviz export --values keeps them")
    if store.live:
        said.append("exported while the program ran: what it did afterwards is left out")
    places = store.places if published or redact else None
    targets = [path_of(path, number) for number, _ in files]
    try:
        make_folder(path)
        with TemporaryDirectory(prefix=".uopviz-", dir=path.absolute().parent) as folder:
            made = [Path(folder) / own.name for own in targets]
            for at, ((number, file), own) in enumerate(zip(files, made, strict=True)):
                wording = Wording(places, redact, number)
                first, keep = number * STRIDE, chosen[number]
                wanted = None if keep is None else {k - first for k in keep}
                noted = said if number == 0 else ()
                main = files[0][1] if is_compiled(number * STRIDE) else None
                copy = FileCopy(file, own, wording, wanted, noted, values, main)
                try:
                    copy.write(store.live, lambda share, at=at: progress((at + share) / len(files)))
                except BaseException:
                    copy.stopped("the copy was not finished")
                    raise
            runs = {as_text(store.files[0].meta.get("run")), as_text(meta_of(made[0], "run"))}
            sources = [file.path for _, file in files]
            replace_run([*zip(made, targets, strict=True)], runs - {""}, sources)
    except OSError as error:
        raise cannot_be_made(path, error) from error
    return said


def _check(known: Sequence[int], wanted: Collection[int]) -> str:
    """A sentence of the kernels that are left out; raises ServerError for one that is not there."""
    missing = sorted(set(wanted) - set(known))
    if missing:
        some = ", ".join(map(str, known[:_NAMED])) + (", ..." if len(known) > _NAMED else "")
        raise ServerError(
            "this run has no kernel " + ", ".join(map(str, missing)),
            hint=f"its kernels are {some}" if known else "it has no kernels",
        )
    return f"{len(known) - len(set(wanted))} of {len(known)} kernels were not chosen"
