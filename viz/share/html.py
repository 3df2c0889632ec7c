"""A run as one HTML file that opens from disk, offline, years later.

The page's script and style are in it, allowed by their hashes; the data is what the server would
answer, compressed, keyed by API path; the trace itself is in it for `uopviz open`. A size budget is
kept: what does not fit is left out, and the page and the command say so. Never holds an address of
the network.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from core.errors import ServerError
from core.garbage import collector_paused
from viz.format.jsontext import to_json
from viz.format.schema import SUFFIX
from viz.share.copy import write_trace
from viz.share.exportfile import LEVEL, VERSION, attached, version_tag
from viz.share.webpage import page_file
from viz.views.answers import ANSWERS, RULES, RUN, SINCE, TREE
from viz.views.run import Answer, Group, Run, Subject, subjects
from viz.views.store import Store

BUDGET: Final = 50_000_000
"""Bytes of the file, if not told otherwise."""
_COUNTING: Final = 60.0
"""Seconds that passes are replayed for to count what rules did."""
_COPIED: Final = 0.1
"""How much of an export is done once the trace is copied."""
_RESERVED: Final = 500
"""Bytes kept for what the answer about the run says was left out."""
_ANY: Final = {"op": [], "dtype": [], "name": None, "arg": None, "src": {"kind": "any"}}
_WITHOUT_TEXTS: Final = {"doc": "", "source": "(left out of this file)", "pattern": _ANY}
_GROUP: Final = 64_000
"""Bytes of JSON after which an entry is full: unpacking one is not felt."""


Progress = Callable[[float, str], None]
"""Hears how much is done, 0 to 1, and what is next."""


@dataclass
class Export:
    """The file, what it had no room for, and what else it was asked to leave out."""

    html: str
    left_out: list[str] = field(default_factory=list[str])
    unwanted: list[str] = field(default_factory=list[str])


def _silent(share: float, what: str) -> None:
    pass


def export_html(
    store: Run,
    *,
    kernels: Collection[int] | None = None,
    budget: int = BUDGET,
    redact: bool = False,
    page: Path | None = None,
    progress: Progress = _silent,
) -> Export:
    """The run as HTML, with the kernels that were compiled on request. `kernels`: numbers of kernel
    contexts to keep, with the passes outside of any kernel (all); `redact` leaves out what
    `viz/share/redaction.py` says; `page`: the folder of the built page (this installation's);
    `progress` hears how much is done and what is next, and what it raises ends the export. Raises
    ServerError where the page has not been built, a kernel is not there, or the list of passes
    alone is too large."""
    shell = _shell(page)
    copying = "copying the trace"
    progress(0.0, copying)
    with TemporaryDirectory(prefix="uopviz-") as folder:
        path = Path(folder) / f"{'run' if redact else store.path.stem}{SUFFIX}"
        said = write_trace(
            store,
            path,
            kernels=kernels,
            redact=redact,
            published=True,
            progress=lambda share: progress(_COPIED * share, copying),
        )
        part = Store(path)
        try:
            part.emulations.publish(store.emulations, part.kernels())
            files = {number: file.path for number, file in enumerate(part.files)}
            files |= {one.number: one.file.path for one in part.compilations}
            trace = attached(files)
            # files of the run can be found by their own names only, which the copy leaves out
            given = {} if redact else {SINCE.at(): store.ask(SINCE)}
            data = _Data(part, progress, given)
            with collector_paused():  # answers are trees, and gone once they are packed
                left_out = data.collect(budget, len(shell.before) + len(shell.after), len(trace))
        finally:
            part.close()
    blocks = "".join(
        f'<script type="application/json" id="uopviz-data-{i}">{block}</script>\n'
        for i, block in enumerate(data.blocks())
    )
    html = shell.before + blocks + (trace if data.has_trace else "") + shell.after
    return Export(html, left_out, said)


@dataclass(frozen=True)
class _Part:
    """One answer of an export."""

    asked: Answer
    values: tuple[int, ...]

    @property
    def path(self) -> str:
        """The name that it is found by."""
        return self.asked.at(*self.values)


class _Data:
    """The entries of an export: compressed answers by API path. Neighbours share an entry, and with
    it their strings: of 1,964 passes of two transformer blocks, that saves 30%."""

    def __init__(self, store: Store, progress: Progress, given: Mapping[str, Any]) -> None:
        """`given`: answers by their paths that are not those of `store`."""
        self._store, self._progress, self._given = store, progress, given
        self._entries: dict[str, str] = {}
        self.has_trace = True

    def collect(self, budget: int, page: int, trace: int) -> list[str]:
        """Fills the entries up to `budget` bytes, of which the page itself takes `page` and its
        trace `trace`; sentences of what had to be left out. Raises ServerError where not even the
        tree fits."""
        run: dict[str, Any] = self._store.ask(RUN) | {"live": False, "file": self._store.path.name}
        run["format"] = run["format"] | {"export": VERSION}
        rules = self._store.rules()
        skipped: Counter[Group] = Counter()
        total = page + self._add(RUN.at(), run) + _RESERVED
        total += self._add(TREE.at(0), self._store.ask(TREE, 0))
        texts = self._add(RULES.at(), rules)
        if total + texts > budget:
            skipped[Group.RULES] = len(rules)
            texts = self._add(RULES.at(), [rule | _WITHOUT_TEXTS for rule in rules])
        total += texts
        if total > budget:
            raise ServerError(
                f"the page and the list of passes alone take {total / 1e6:.1f} MB",
                where=f"a budget of {budget / 1e6:.0f} MB",
                hint=f"give --budget {total // 1_000_000 + 1}, or more",
            )
        self.has_trace = trace <= (budget - total) // 2
        total += trace if self.has_trace else 0
        made = self._made(budget - total)
        for group in Group:
            for parts, packed in made.get(group, ()):
                if packed is None or total + len(packed) > budget:
                    # a subject counts once, with the first of its answers
                    skipped[group] += sum(part.asked is _first(group, part.asked) for part in parts)
                    continue
                total += len(packed)
                self._entries[" ".join(part.path for part in parts)] = packed
        said = [
            f"{skipped[group]} {group.value} do not fit in {budget / 1e6:.0f} MB"
            for group in Group
            if skipped[group]
        ]
        hint = "export fewer kernels, or give a larger --budget"
        if self.has_trace and said:
            hint = "`uopviz open` shows them; or " + hint
        if not self.has_trace:
            said.append(f"the trace itself does not fit in {budget / 1e6:.0f} MB")
        if said:
            left = {"what": "; ".join(said), "where": "this export", "hint": hint}
            run["problems"] = [*run["problems"], left | {"rewrite": None, "step": None}]
        self._add(RUN.at(), run)
        return said

    def blocks(self) -> Iterator[str]:
        """JSON objects of a few entries each: the API paths, with spaces between them, and the
        array of the answers to them. A browser unpacks only what it needs."""
        part: dict[str, str] = {}
        for path, packed in self._entries.items():
            part[path] = packed
            if sum(map(len, part.values())) > 1 << 20:
                yield json.dumps(part)
                part = {}
        if part:
            yield json.dumps(part)

    def _made(self, room: int) -> dict[Group, list[tuple[list[_Part], str | None]]]:
        """The entries of each group: neighbouring parts with their answers, None for those that
        cannot find room. Views come after passes: what rules add and remove is known by then."""
        groups = dict(_parts(self._store))
        count, done = sum(map(len, groups.values())), 0
        made: dict[Group, list[tuple[list[_Part], str | None]]] = {}
        for group in (
            Group.KERNELS,
            Group.SCHEDULES,
            Group.PASSES,
            Group.EMULATIONS,
            Group.VIEWS,
            Group.HISTORIES,
        ):
            left = room
            inside, raw = list[_Part](), list[bytes]()

            def close(group: Group = group) -> None:
                nonlocal left, inside, raw
                packed = _pack(b"[%b]" % b",".join(raw)) if inside else ""
                if inside:
                    made.setdefault(group, []).append((inside, packed if left > 0 else None))
                left -= len(packed)
                inside, raw = [], []

            for at, part in enumerate(groups[group]):
                what = f"{group.value}: {at:,} of {len(groups[group]):,}"
                self._progress(_COPIED + (1 - _COPIED) * done / count, what)
                if sum(map(len, raw)) > _GROUP:
                    close()
                inside.append(part)
                raw.append(to_json(self._answer(part)))
                done += 1
            close()
        return made

    def _answer(self, part: _Part) -> Any:
        if part.path in self._given:
            return self._given[part.path]
        limit = _COUNTING if part.asked.counts else float("inf")
        return self._store.ask(part.asked, *part.values, seconds=limit)

    def _add(self, path: str, value: Any) -> int:
        self._entries[path] = _pack(to_json([value]))
        return len(self._entries[path])


def _parts(store: Run) -> Iterator[tuple[Group, list[_Part]]]:
    """The answers of the groups behind the head and the rules."""
    numbers = subjects(store)
    for group in Group:
        asked = [answer for answer in ANSWERS if answer.group is group]
        if group not in (Group.HEAD, Group.RULES):
            parts = [_Part(one, ()) for one in asked if one.subject is Subject.RUN]
            for subject in Subject:
                of = [one for one in asked if one.subject is subject]
                parts += [_Part(one, (n,)) for n in numbers.get(subject, ()) for one in of]
            yield group, parts


def _first(group: Group, answer: Answer) -> Answer:
    """The first of the answers of a group that are about the same subjects; of those about the
    whole run, each is one."""
    if answer.subject is Subject.RUN:
        return answer
    return next(a for a in ANSWERS if a.group is group and a.subject is answer.subject)


@dataclass(frozen=True)
class _Shell:
    before: str
    after: str


def _shell(folder: Path | None) -> _Shell:
    """The page with its script and style inside, cut where the data goes."""
    files = {name: page_file(name, folder) for name in ("index.html", "app.js", "app.css")}
    html, script, style = (body.decode() if body else "" for body in files.values())
    if not html or not script:
        raise ServerError(
            "the page has not been built",
            where="viz/web/dist",
            hint="in a checkout, run: npm --prefix viz/web ci && npm --prefix viz/web run build",
        )
    script = re.sub(r"</(script)", r"<\\/\1", script, flags=re.IGNORECASE)
    script = script.replace("<!--", "<\\!--")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "img-src data:; worker-src blob:; base-uri 'none'; form-action 'none'"
    )
    html = re.sub(r"\s*<script\b[^>]*src=[^>]*></script>", "", html)
    html = re.sub(r"\s*<link\b[^>]*rel=\"(?:stylesheet|modulepreload)\"[^>]*>", "", html)
    meta = version_tag() + "\n    "
    meta += f'<meta http-equiv="Content-Security-Policy" content="{policy}" />'
    html = html.replace("<head>", f"<head>\n    {meta}", 1)
    html = html.replace("</head>", f"<style>{style}</style>\n  </head>", 1)
    before, end, after = html.rpartition("</body>")
    return _Shell(before, f'<script type="module">{script}</script>\n  {end}{after}')


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _pack(raw: bytes) -> str:
    return base64.b64encode(gzip.compress(raw, LEVEL, mtime=0)).decode()
