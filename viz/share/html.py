"""Runs as one HTML file that opens from disk, offline, years later.

The page's script and style are in it, allowed by their hashes; the data is what the server would
answer (`viz/share/collect.py`); the traces themselves are in it for `uopviz open`. A file of
several runs opens on their comparison. A size budget is kept: what does not fit is left out, and
the page and the command say so. Never holds an address of the network.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from core.errors import ServerError
from core.garbage import collector_paused
from viz.format.schema import SUFFIX
from viz.known.beside import take_kept
from viz.share.collect import Collection as Collected
from viz.share.collect import Progress, RunCopy, silent
from viz.share.copy import write_trace
from viz.share.exportfile import attached, version_tag
from viz.share.redaction import Wording
from viz.share.webpage import BUILD, NOT_BUILT, page_file
from viz.views.answers import SINCE
from viz.views.runs.run import NAMES, Run
from viz.views.store import Store

BUDGET: Final = 50_000_000
"""Bytes of the file, if not told otherwise."""
_COPIED: Final = 0.1
"""How much of an export is done once the traces are copied."""


@dataclass
class Export:
    """The file, what it had no room for, and what else it was asked to leave out."""

    html: str
    left_out: list[str] = field(default_factory=list[str])
    unwanted: list[str] = field(default_factory=list[str])


def export_html(
    store: Run,
    *,
    beside: Sequence[Run] = (),
    kernels: Collection[int] | None = None,
    budget: int = BUDGET,
    redact: bool = False,
    values: bool = False,
    page: Path | None = None,
    progress: Progress = silent,
) -> Export:
    """The run as HTML, with the kernels that were compiled on request, and with the runs `beside`
    it: they are named A, B and so on. `kernels`: numbers of kernel contexts of the only run to
    keep, with the passes outside of any kernel (all); `redact` and `values` as in
    `write_trace`; `page`: the folder of the built page (this installation's);
    `progress` hears how much is done and what is next, and what it raises ends the export. Raises
    ServerError where the page has not been built, a kernel is not there, there are too many runs,
    or their lists of passes alone are too large."""
    runs = [store, *beside]
    if len(runs) > len(NAMES):
        raise ServerError(
            f"{len(runs)} runs are too many for one file", hint=f"at most {len(NAMES)}"
        )
    shell = _shell(page, len(runs))
    said: list[str] = []
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="uopviz-"))
        copies: list[RunCopy] = []
        for i, (name, run) in enumerate(zip(NAMES, runs, strict=False)):
            path = Path(folder) / name / f"{'run' if redact else run.path.stem}{SUFFIX}"
            path.parent.mkdir()

            def copying(share: float, i: int = i) -> None:
                progress(_COPIED * (i + share) / len(runs), "copying the trace")

            copying(0.0)
            said += write_trace(
                run,
                path,
                kernels=kernels,
                redact=redact,
                published=True,
                values=values,
                progress=copying,
            )
            copies.append(_copied(name, run, path, redact))
            stack.callback(copies[-1].store.close)

        def collecting(share: float, what: str) -> None:
            progress(_COPIED + (1 - _COPIED) * share, what)

        data = Collected(copies, collecting)
        with collector_paused():  # answers are trees, and gone once they are packed
            left_out = data.collect(budget, len(shell.before) + len(shell.after))
    blocks = "".join(
        f'<script type="application/json" id="uopviz-data-{i}">{block}</script>\n'
        for i, block in enumerate(data.blocks())
    )
    traces = "".join(copy.trace for copy in copies) if data.has_traces else ""
    return Export(shell.before + blocks + traces + shell.after, left_out, said)


def _copied(name: str, run: Run, path: Path, redact: bool) -> RunCopy:
    """The copy of a run at `path`."""
    store = Store(path)
    kernels = store.kernels()
    store.emulations.publish(run.emulations, kernels)
    store.texts.publish(run.texts, kernels, Wording(run.places, redact))
    store.shaders.publish(run.shaders, kernels)
    if isinstance(run, Store):
        rows = store.tree()["rows"]
        passes = {r["id"] for r in rows if r["kind"] == "rewrite"}
        store.checks.publish(take_kept(run), passes, kernels)
    files = {number: file.path for number, file in enumerate(store.files)}
    files |= {one.number: one.file.path for one in store.compilations}
    # files of the run can be found by their own names only, which the copy leaves out
    given = {} if redact else {SINCE.at(): run.ask(SINCE)}
    return RunCopy(name, store, attached(files, name), given)


@dataclass(frozen=True)
class _Shell:
    before: str
    after: str


def _shell(folder: Path | None, runs: int) -> _Shell:
    """The page with its script and style inside, cut where the data goes."""
    files = {name: page_file(name, folder) for name in ("index.html", "app.js", "app.css")}
    html, script, style = (body.decode() if body else "" for body in files.values())
    if not html or not script:
        raise ServerError(NOT_BUILT, where="viz/web/dist", hint=f"in a checkout, run: {BUILD}")
    script = re.sub(r"</(script)", r"<\\/\1", script, flags=re.IGNORECASE)
    script = script.replace("<!--", "<\\!--")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "img-src data:; worker-src blob:; base-uri 'none'; form-action 'none'"
    )
    html = re.sub(r"\s*<script\b[^>]*src=[^>]*></script>", "", html)
    html = re.sub(r"\s*<link\b[^>]*rel=\"(?:stylesheet|modulepreload)\"[^>]*>", "", html)
    meta = version_tag(runs) + "\n    "
    meta += f'<meta http-equiv="Content-Security-Policy" content="{policy}" />'
    html = html.replace("<head>", f"<head>\n    {meta}", 1)
    html = html.replace("</head>", f"<style>{style}</style>\n  </head>", 1)
    before, end, after = html.rpartition("</body>")
    return _Shell(before, f'<script type="module">{script}</script>\n  {end}{after}')


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
