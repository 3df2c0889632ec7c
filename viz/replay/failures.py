"""How a rewrite failed, as the page shows it: at which node, in which rules, on which line.

Never believes a number of the trace that leads nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from viz.format.cells import as_text
from viz.read.steps import Match
from viz.replay.slots import Slots

MAX_LOOP: Final = 100


class Failure:
    """The exception that ended a rewrite, as far as what the trace says of it makes sense."""

    def __init__(self, error: Mapping[str, Any], count: int) -> None:
        self._error = error
        self._node = _known(error.get("node"), count)
        self._loop: list[tuple[int, int, int]] = []
        entries: object = error.get("loop")
        for entry in cast("list[Any]", entries)[:MAX_LOOP] if isinstance(entries, list) else []:
            match entry:
                case [int(rule), before, after] if _known(before, count) and _known(after, count):
                    self._loop.append((rule, before, after))
                case _:
                    pass

    @property
    def nodes(self) -> list[int]:
        """The node at which it happened, if that is known."""
        return [self._node] if self._node else []

    def data(
        self,
        slots: Slots | None,
        shown: Sequence[tuple[Match, int]],
        index: Mapping[int, int],
        rule_id: Callable[[int], int],
        place: Callable[[str], str],
    ) -> dict[str, Any]:
        """In the form of the page, after the steps `shown`, each with its slot. `node` and `slot`
        are where it happened (-1: not known, not in the graph); `loop` are the steps of a rewrite
        without an end, with the slots that they changed."""
        error, rule = self._error, self._error.get("rule")
        raised = as_text(error.get("place"))
        loop = [
            {"rule": rule_id(shown[at][0].rule), "step": at + 1, "slot": shown[at][1]}
            for at in self._loop_steps([match for match, _ in shown])
        ]
        slot = -1 if slots is None or not self._node else slots.holding(self._node)
        if slot < 0 and loop:
            slot = loop[-1]["slot"]
        return {
            "step": len(shown),
            "rule": rule_id(rule) if isinstance(rule, int) and rule > 0 else -1,
            "message": str(error.get("message", "")),
            "traceback": str(error.get("traceback", "")),
            "full": str(error.get("full", "")),
            "place": place(raised) if raised else "",
            "node": index.get(self._node, -1),
            "slot": slot,
            "loop": loop,
        }

    def _loop_steps(self, matches: Sequence[Match]) -> list[int]:
        """Positions of the matches of the loop: the last ones that are these."""
        found: list[int] = []
        at = len(matches)
        for wanted in reversed(self._loop):
            while at > 0:
                at -= 1
                if (matches[at].rule, matches[at].before, matches[at].after) == wanted:
                    found.append(at)
                    break
        return found[::-1]


def _known(node: object, count: int) -> int:
    return node if isinstance(node, int) and 0 < node <= count else 0
