"""What an exported file holds of its runs: the answers of a server, compressed, by their API paths.

A size budget is kept: what does not fit is left out and said. Never reads a run itself: it asks, as
a page does.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

from core.errors import ServerError
from viz.compare.comparison import Comparison
from viz.format.jsontext import to_json
from viz.known.answers import CHECK_ANSWERS
from viz.share.exportfile import VERSION
from viz.share.packed.entry import Packer, pack
from viz.share.packed.passes import PassPacking
from viz.share.pairs import pair_answers
from viz.views.answers import ANSWERS, RULES, RUN, TREE
from viz.views.runs.run import Answer, Group, Run, Subject, base_of, pair_base, subjects
from viz.views.store import Store
from viz.views.summary import run_title

RUNS: Final = "/api/runs"
"""The entry that lists the runs of the file: RunName[]."""
_COUNTING: Final = 60.0
"""Seconds that passes are replayed for to count what rules did."""
_ORDER: Final = (
    Group.KERNELS,
    Group.SCHEDULES,
    Group.HISTORIES,
    Group.EMULATIONS,
    Group.SHADERS,
    Group.VALUES,
    Group.CHECKS,
    Group.PASSES,
    Group.PASS_TEXTS,
    Group.VIEWS,
)
"""In which groups are made: views after passes, which tell what rules add and remove."""
_LISTED: Final = (*ANSWERS, *CHECK_ANSWERS)
"""The answers that a file has about a run."""
_RESERVED: Final = 500
"""Bytes kept for what the answer about a run says was left out."""
_AROUND: Final = 16
"""Bytes around an entry: quotes, and its share of what is around a block."""
_ANY: Final = {"op": [], "dtype": [], "name": None, "arg": None, "src": {"kind": "any"}}
_WITHOUT_TEXTS: Final = {"doc": "", "source": "(left out of this file)", "pattern": _ANY}
_COMPARED: Final = 0.3
"""How much of an export of several runs is done once these are compared."""
Progress = Callable[[float, str], None]
"""Hears how much is done, 0 to 1, and what is next."""


def silent(share: float, what: str) -> None:
    """Reports no progress."""


@dataclass(frozen=True)
class RunCopy:
    """A run as it goes into the file. `trace`: the elements that hold its trace; `given`: answers
    by their paths that are not those of `store`."""

    name: str
    store: Store
    trace: str
    given: Mapping[str, Any]


@dataclass(frozen=True)
class _Part:
    """One answer of an export."""

    asked: Answer
    values: tuple[int, ...]

    @property
    def path(self) -> str:
        """The name that it is found by, below that of its run."""
        return self.asked.at(*self.values)


class Collection:
    """The entries of an export: compressed answers by API path."""

    def __init__(self, copies: Sequence[RunCopy], progress: Progress) -> None:
        self._copies, self._progress = copies, progress
        self._entries: dict[str, str] = {}
        self.has_traces = True

    def collect(self, budget: int, page: int) -> list[str]:
        """Fills the entries up to `budget` bytes, of which the page itself takes `page`; sentences
        of what had to be left out. Raises ServerError where not even the trees fit."""
        copies = self._copies
        skipped = {copy.name: Counter[Group]() for copy in copies}
        heads = {copy.name: _head(copy.store) for copy in copies}
        names = [
            {
                "name": copy.name,
                "file": copy.store.path.name,
                "title": run_title(heads[copy.name]),
                "live": False,
            }
            for copy in copies
        ]
        total = page + self._add(RUNS, names)
        for copy in copies:
            base = base_of(copy.name)
            total += self._add(base + RUN.at(), heads[copy.name]) + _RESERVED
            total += self._add(base + TREE.at(0), copy.store.ask(TREE, 0))
        for copy in copies:
            rules = copy.store.rules()
            path = base_of(copy.name) + RULES.at()
            texts = self._add(path, rules)
            if total + texts > budget:
                skipped[copy.name][Group.RULES] = len(rules)
                texts = self._add(path, [rule | _WITHOUT_TEXTS for rule in rules])
            total += texts
        if total > budget:
            lists = "the list of passes" if len(copies) == 1 else "the lists of passes"
            raise ServerError(
                f"the page and {lists} alone take {total / 1e6:.1f} MB",
                where=f"a budget of {budget / 1e6:.0f} MB",
                hint=f"give --budget {total // 1_000_000 + 1}, or more",
            )
        traces = sum(len(copy.trace) for copy in copies)
        self.has_traces = traces <= (budget - total) // 2
        total += traces if self.has_traces else 0
        pairs = [*itertools.combinations(copies, 2)]
        pairs += [(b, a) for a, b in pairs]  # the page can swap them; these find room last
        unseen = 0
        for i, pair in enumerate(pairs):
            room = (budget - total) // (2 * (len(pairs) - i))
            took, missing = self._fill_pair(pair, room, i / len(pairs))
            total, unseen = total + took, unseen + missing
        for i, copy in enumerate(copies):
            left = len(copies) - i
            total += self._fill(copy, (budget - total) // left, i, skipped[copy.name])
        said = self._say(budget, heads, skipped)
        if unseen:
            what = f"what differs in {unseen:,} kernels and schedules of two runs"
            said.append(f"{what} does not fit in {budget / 1e6:.0f} MB")
        return said

    def _say(
        self,
        budget: int,
        heads: Mapping[str, dict[str, Any]],
        skipped: Mapping[str, Counter[Group]],
    ) -> list[str]:
        """Sentences of what was left out, which the answer about each run has, too."""
        all_said: list[str] = []
        for copy in self._copies:
            of, run = skipped[copy.name], heads[copy.name]
            said = [
                f"{of[group]} {group.value} do not fit in {budget / 1e6:.0f} MB"
                for group in Group
                if of[group]
            ]
            hint = "export fewer kernels, or give a larger --budget"
            if self.has_traces and said:
                hint = "`uopviz open` shows them; or " + hint
            if not self.has_traces:
                said.append(f"the trace itself does not fit in {budget / 1e6:.0f} MB")
            if said:
                left = {"what": "; ".join(said), "where": "this export", "hint": hint}
                run["problems"] = [*run["problems"], left | {"rewrite": None, "step": None}]
            self._add(base_of(copy.name) + RUN.at(), run)
            several = len(self._copies) > 1
            all_said += [f"run {copy.name}: {one}" if several else one for one in said]
        return all_said

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

    def _fill(self, copy: RunCopy, room: int, place: int, skipped: Counter[Group]) -> int:
        """Fills in the answers about a run, the one at `place`, up to `room` bytes; how many it
        took. Counts what has no room in `skipped`."""
        made, total = self._made(copy, room, place), 0
        base = base_of(copy.name)
        for group in Group:
            for parts, packed in made.get(group, ()):
                paths = " ".join(base + part.path for part in parts)
                if packed is None or total + _size(paths, packed) > room:
                    # a subject counts once, with the first of its answers
                    skipped[group] += sum(part.asked is _first(group, part.asked) for part in parts)
                    continue
                total += _size(paths, packed)
                self._entries[paths] = packed
        return total

    def _fill_pair(self, pair: tuple[RunCopy, RunCopy], room: int, begun: float) -> tuple[int, int]:
        """Fills in the answers about a pair, up to `room` bytes; how many it took, and how many
        pairs of scopes have no room. `begun`: how much of all pairs is done."""
        a, b = pair
        base, total, missing = pair_base(a.name, b.name), 0, 0
        packer, inside = Packer(), list[str]()

        def close() -> None:
            nonlocal total, missing
            made, paths = packer.close(), " ".join(inside)
            inside.clear()
            if made is not None and total + _size(paths, made) <= room:
                self._entries[paths] = made
                total += _size(paths, made)
            elif made is not None:
                missing += 1

        what = f"comparing runs {a.name} and {b.name}"
        self._progress(_COMPARED * begun, what)
        for scopes, together in enumerate(pair_answers(Comparison(a.store, b.store))):
            self._progress(_COMPARED * begun, f"{what}: {scopes:,} kernels and schedules")
            if missing:
                missing += 1
                continue
            for path, value in together:
                inside.append(base + path)
                packer.add(value)
                if packer.is_full:
                    close()
        close()
        return total, missing

    def _made(
        self, copy: RunCopy, room: int, place: int
    ) -> dict[Group, list[tuple[list[_Part], str | None]]]:
        """The entries of each group: neighbouring parts with their answers, None for those that
        cannot find room."""
        groups = dict(_parts(copy.store))
        count, done = sum(map(len, groups.values())), 0
        several = len(self._copies) > 1
        of, begun = (f" of run {copy.name}", _COMPARED) if several else ("", 0.0)
        made: dict[Group, list[tuple[list[_Part], str | None]]] = {}
        passes = [part.values[0] for part in groups[Group.PASSES]]
        with PassPacking(copy.store, passes) as packing:  # goes on beside the groups before it
            for group in _ORDER:
                left, parts = room, groups[group]

                def tell(
                    at: int, group: Group = group, parts: list[_Part] = parts, before: int = done
                ) -> None:
                    what = f"{group.value}{of}: {at:,} of {len(parts):,}"
                    share = (place + (before + at) / count) / len(self._copies)
                    self._progress(begun + (1 - begun) * share, what)

                if group is Group.PASSES:
                    entries = _entries_of_passes(packing, parts, tell)
                else:
                    entries = _entries(copy, parts, tell)
                with closing(entries):
                    for inside, entry in entries:
                        made.setdefault(group, []).append((inside, entry if left > 0 else None))
                        left -= len(entry)
                done += len(parts)
        return made

    def _add(self, path: str, value: Any) -> int:
        self._entries[path] = pack(to_json([value]))
        return _size(path, self._entries[path])


def _entries(
    copy: RunCopy, parts: list[_Part], tell: Callable[[int], None]
) -> Generator[tuple[list[_Part], str]]:
    """The entries of some parts, each with the parts in it; `tell` hears how many are begun."""
    packer, inside = Packer(), list[_Part]()
    for at, part in enumerate(parts):
        tell(at)
        if packer.is_full and (entry := packer.close()) is not None:
            yield inside, entry
            inside = []
        inside.append(part)
        packer.add(_answer(copy, part))
    if (entry := packer.close()) is not None:
        yield inside, entry


def _entries_of_passes(
    packing: PassPacking, parts: list[_Part], tell: Callable[[int], None]
) -> Generator[tuple[list[_Part], str]]:
    """The same of all passes of a run."""
    at = 0
    tell(at)
    for packed in packing:
        for count, entry in packed.entries:
            yield parts[at : at + count], entry
            at += count
        tell(at)


def _head(store: Run) -> dict[str, Any]:
    """The answer about a run, in an exported file."""
    run: dict[str, Any] = store.ask(RUN) | {"live": False, "file": store.path.name}
    return run | {"format": run["format"] | {"export": VERSION}}


def _answer(copy: RunCopy, part: _Part) -> Any:
    if part.path in copy.given:
        return copy.given[part.path]
    limit = _COUNTING if part.asked.counts else float("inf")
    return copy.store.ask(part.asked, *part.values, seconds=limit)


def _parts(store: Run) -> Iterator[tuple[Group, list[_Part]]]:
    """The answers of the groups behind the head and the rules."""
    numbers = subjects(store)
    for group in Group:
        asked = [answer for answer in _LISTED if answer.group is group]
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
    return next(a for a in _LISTED if a.group is group and a.subject is answer.subject)


def _size(paths: str, packed: str) -> int:
    """Bytes of an entry in the file."""
    return len(paths) + len(packed) + _AROUND
