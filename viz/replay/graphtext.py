"""Graphs of a trace as text, one line per slot, so that two states of a rewrite can be compared.

A line is `%12 = MUL(%5, %9) int32 arg`, with what sources are to a node where the trace says it, as
in `SUB(lhs=%5, rhs=%9)`; a slot keeps its name from step to step, and slots come in the order of a
walk from the root, sources first. Never sends more than MAX_LINES lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

MAX_LINES: Final = 20_000

State = dict[int, tuple[int, list[int]]]
"""Slot to (content index, source slots)."""


def states(bundle: Mapping[str, Any], step: int) -> tuple[State, State]:
    """The graphs before and after step `step` (from 1; 0: the input graph, twice)."""
    initial = bundle["initial"]
    state: State = {
        slot: (node, src)
        for slot, node, src in zip(initial["slot"], initial["node"], initial["src"], strict=True)
    }
    before = state
    for i, delta in enumerate(bundle["steps"][:step]):
        if i == step - 1:
            before = state.copy()
        for slot, node, src in delta["set"]:
            state[slot] = node, src
        for slot in delta["drop"]:
            state.pop(slot, None)
    return before, state


def step_text(bundle: Mapping[str, Any], step: int) -> dict[str, str] | None:
    """The graphs before and after a step as text; None for a step that there is not."""
    if not 0 <= step <= len(bundle["steps"]):
        return None
    before, after = states(bundle, step)
    return {"before": graph_text(bundle, before), "after": graph_text(bundle, after)}


def graph_text(bundle: Mapping[str, Any], state: State) -> str:
    """One state as text."""
    lines: list[str] = []
    done: set[int] = set()
    stack = [(int(bundle["root"]), False)]
    while stack and len(lines) < MAX_LINES:
        slot, ready = stack.pop()
        if slot in done or slot not in state:
            continue
        if ready:
            done.add(slot)
            lines.append(f"%{slot} = {_node(bundle, *state[slot])}")
        else:
            stack.append((slot, True))
            stack.extend((s, False) for s in reversed(state[slot][1]) if s not in done)
    if len(state) > len(done):
        lines.append(f"... {len(state) - len(done)} more nodes")
    return "\n".join(lines) + "\n"


def node_text(bundle: Mapping[str, Any], node: int) -> str:
    """A node without its sources: `ADD int32`."""
    nodes = bundle["nodes"]
    parts = [bundle["ops"][nodes["op"][node]], bundle["dtypes"][nodes["dtype"][node]]]
    if nodes["arg"][node] >= 0:
        parts.append(bundle["args"][nodes["arg"][node]])
    return " ".join(p for p in parts if p and p != "void")


def roles(bundle: Mapping[str, Any], node: int, count: int) -> list[str]:
    """What each of so many sources is to a node, "" where that is not said."""
    at = bundle["nodes"]["role"][node] if "roles" in bundle else -1
    found: list[str] = bundle["roles"][at].split(",")[:count] if at >= 0 else []
    return found + [""] * (count - len(found))


def _node(bundle: Mapping[str, Any], node: int, src: list[int]) -> str:
    op, *rest = node_text(bundle, node).split(" ", 1)
    nodes = bundle["nodes"]
    named = zip(roles(bundle, node, len(src)), src, strict=True)
    sources = ", ".join(f"{role}=%{s}" if role else f"%{s}" for role, s in named)
    text = f"{op}({sources})" + (f" {rest[0]}" if rest else "")
    if nodes["tag"][node] >= 0:
        text += f" tag={bundle['tags'][nodes['tag'][node]]}"
    if nodes["shape"][node] >= 0:
        text += f"  [{bundle['shapes'][nodes['shape'][node]]}]"
    return text.replace("\n", "\\n")
