"""Passes as an exported file holds them: compressed, in 58% of the bytes of their messages.

A dense pass has what its `Bundle` (`viz/web/src/data/messages/bundle.ts`) has, with `version` 2:

- Node ids, and the initial slots and their nodes, as differences to the one before them.
- The sources of a node as how far before it they stand.
- No edges of the initial graph: a slot's edges lead to the slots of its node's sources.
- Steps in columns. `result` and `slot`, `after` and `before`, and the nodes of `binds` as
  differences; lists of slots as differences, the first one to the step's slot; of `set` the
  differences of slot and node to those of the entry before, first to the step's slot and `before`.
  An entry of `set` has edges, as how far before its slot they lead, only where these are not the
  slots that hold its node's sources by then.

The page reads the same (`viz/web/src/data/offline/dense.ts`). Never loses a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, Final

from viz.budget import take

VERSION: Final = 2
"""Of a dense pass; that of a `Bundle` is 1."""
_PLAIN: Final = ("rule", "us", "slot", "before")
_SLOTS: Final = ("drop", "removed", "added", "moved")
"""Fields of a step that are lists of slots."""
Data = dict[str, Any]


def dense(bundle: Mapping[str, Any]) -> Data:
    """A `Bundle` in the dense form."""
    nodes, initial, steps = bundle["nodes"], bundle["initial"], bundle["steps"]
    sources = nodes["src"]
    return {
        **bundle,
        "version": VERSION,
        "nodes": {
            **nodes,
            "id": _differences(nodes["id"]),
            "src": [[at - s for s in src] for at, src in enumerate(sources)],
        },
        "initial": {key: _differences(initial[key]) for key in ("slot", "node")},
        "steps": {
            **{key: [step[key] for step in steps] for key in _PLAIN},
            "result": [step["result"] - step["slot"] for step in steps],
            "after": [step["after"] - step["before"] for step in steps],
            "binds": [
                [(name, node - step["before"]) for name, node in step["binds"]] for step in steps
            ],
            "set": _dense_sets(bundle),
            **{key: [_differences(step[key], step["slot"]) for step in steps] for key in _SLOTS},
        },
    }


def restored(answer: Any) -> Any:
    """An answer of an exported file as the server gives it: a dense pass as its `Bundle`, any other
    as it is. Raises BudgetError, and LookupError, TypeError or ValueError for a damaged one."""
    if not isinstance(answer, dict) or answer.get("version") != VERSION:
        return answer
    found: Data = answer
    nodes, steps = found["nodes"], found["steps"]
    take(sum(map(len, nodes["src"])))
    sources = [[at - s for s in src] for at, src in enumerate(nodes["src"])]
    slots, contents = (_summed(found["initial"][key]) for key in ("slot", "node"))
    holder = dict(zip(contents, slots, strict=True))
    take(sum(len(sources[node]) for node in contents))
    plain = {
        **{key: steps[key] for key in _PLAIN},
        "result": _added(steps["result"], steps["slot"]),
        "after": _added(steps["after"], steps["before"]),
        "binds": [
            [[name, node + before] for name, node in binds]
            for binds, before in zip(steps["binds"], steps["before"], strict=True)
        ],
        **{
            key: [_summed(some, at) for some, at in zip(steps[key], steps["slot"], strict=True)]
            for key in _SLOTS
        },
    }
    initial = {
        "slot": slots,
        "node": contents,
        "src": [[holder[s] for s in sources[node]] for node in contents],
    }
    plain["set"] = [
        _sets(some, slot, before, holder, sources)
        for some, slot, before in zip(steps["set"], steps["slot"], steps["before"], strict=True)
    ]
    return {
        **found,
        "version": 1,
        "nodes": {**nodes, "id": _summed(nodes["id"]), "src": sources},
        "initial": initial,
        "steps": [
            dict(zip(plain, values, strict=True)) for values in zip(*plain.values(), strict=True)
        ],
    }


def _dense_sets(bundle: Mapping[str, Any]) -> list[list[Sequence[Any]]]:
    """The column `set`."""
    sources, initial = bundle["nodes"]["src"], bundle["initial"]
    holder: dict[int, int] = dict(zip(initial["node"], initial["slot"], strict=True))
    column: list[list[Sequence[Any]]] = []
    for step in bundle["steps"]:
        holder.update((node, slot) for slot, node, _ in step["set"])
        entries: list[Sequence[Any]] = []
        last_slot, last_node = step["slot"], step["before"]
        for slot, node, edges in step["set"]:
            entry = [slot - last_slot, node - last_node]
            if [holder.get(s) for s in sources[node]] != list(edges):
                entry.append([slot - e for e in edges])
            entries.append(entry)
            last_slot, last_node = slot, node
        column.append(entries)
    return column


def _sets(
    entries: Iterable[Sequence[Any]],
    slot: int,
    node: int,
    holder: dict[int, int],
    sources: Sequence[Sequence[int]],
) -> list[list[Any]]:
    """The entries of `set` of a step; `holder` has the slots of nodes before and after it."""
    found: list[tuple[int, int, list[int] | None]] = []
    for by_slot, by_node, *edges in entries:
        slot, node = slot + by_slot, node + by_node
        found.append((slot, node, [slot - e for e in edges[0]] if edges else None))
        holder[node] = slot
    take(sum(1 + len(sources[node]) for _, node, _ in found))
    return [
        [slot, node, [holder[s] for s in sources[node]] if edges is None else edges]
        for slot, node, edges in found
    ]


def _differences(numbers: Sequence[int], first: int = 0) -> list[int]:
    return [b - a for a, b in pairwise((first, *numbers))]


def _summed(differences: Sequence[int], first: int = 0) -> list[int]:
    return [*accumulate(differences, initial=first)][1:]


def _added(differences: Sequence[int], to: Sequence[int]) -> list[int]:
    return [a + b for a, b in zip(differences, to, strict=True)]
