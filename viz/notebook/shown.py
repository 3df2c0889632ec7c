"""What `uopviz.show` gives: something that a notebook displays, and that prints as text."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from core.passes.schedule.item import ScheduleItem
from core.uop.uop import UOp
from viz.api.graph import MOST_DRAWN, Graph
from viz.api.run import Kernel, Pass, Run, Step
from viz.api.run import open as open_run
from viz.notebook.frame import HIGH, frame, without_script
from viz.share.drawing import MAX_LABEL, PLAIN, Drawing, Edge, Node
from viz.share.svg import MAX_NODES, svg_text
from viz.views.store import Store


class Shown:
    """Something to display; `bundle`: its forms by media type."""

    def __init__(self, bundle: dict[str, str]) -> None:
        self._bundle = bundle

    @property
    def bundle(self) -> dict[str, str]:
        """Its forms by media type."""
        return {**self._bundle}

    @property
    def text(self) -> str:
        """As text."""
        return self._bundle["text/plain"]

    @property
    def html(self) -> str:
        """As HTML; "" for what is a picture."""
        return self._bundle.get("text/html", "")

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return self.bundle

    def _repr_html_(self) -> str | None:
        return self.html or self._bundle.get("image/svg+xml")

    def _mime_(self) -> tuple[str, str]:
        """What marimo asks for: a media type and what is of it."""
        if self.html:
            return "text/html", without_script(self.html)
        kind = "image/svg+xml" if "image/svg+xml" in self._bundle else "text/plain"
        return kind, self._bundle[kind]

    def __repr__(self) -> str:
        return self.text


def show(what: Any, height: int = HIGH) -> Shown:
    """A run (its path, a `Run`, a `viz.Store`) as the page; a graph, a kernel, a UOp, or a schedule
    as a picture with its text. Raises TraceError for anything that is no trace."""
    if isinstance(what, UOp):
        return Shown(uop_bundle(what))
    if isinstance(what, Graph):
        return Shown(what.shown())
    if isinstance(what, Pass):
        return Shown(what.before.shown())
    if isinstance(what, Step):
        return Shown(what.after.shown())
    if isinstance(what, Kernel):
        return Shown(what.shown())
    if isinstance(what, list | tuple):
        return Shown(schedule_bundle(what))
    if isinstance(what, Run):
        return _of_run(what.store, height)
    if isinstance(what, Store):
        return _of_run(what, height)
    with open_run(what if isinstance(what, Path) else str(what)) as run:
        return _of_run(run.store, height)


def _of_run(store: Store, height: int) -> Shown:
    html, text = frame(store, height)
    return Shown({"text/html": html, "text/plain": text})


def uop_bundle(root: UOp) -> dict[str, str]:
    """A graph of the compiler: as a picture, where it can be read, and as text."""
    nodes = root.toposort()
    names = {node: f"n{at}" for at, node in enumerate(nodes)}
    lines = [
        f"%{at} = {node.op.name}({', '.join('%' + names[s][1:] for s in node.src)}) "
        + _label(node).partition(" ")[2]
        for at, node in enumerate(nodes)
    ]
    bundle = {"text/plain": "\n".join(lines)}
    if len(nodes) <= MOST_DRAWN:
        drawn = Drawing(
            root.op.name,
            [Node(names[node], _label(node)[:MAX_LABEL], PLAIN) for node in nodes],
            [Edge(names[s], names[node], PLAIN) for node in nodes for s in node.src],
        )
        bundle["image/svg+xml"] = svg_text(drawn)
    return bundle


def schedule_bundle(items: Iterable[Any]) -> dict[str, str]:
    """A schedule: its kernels and copies in order, with the buffers that one hands to the next."""
    listed = [*items]
    lines = [f"{at}: {_item(item)}" for at, item in enumerate(listed)]
    bundle = {"text/plain": "\n".join(lines) or "an empty schedule"}
    if 0 < len(listed) <= min(MOST_DRAWN, MAX_NODES):
        edges: list[Edge] = []
        last: dict[Any, int] = {}
        for at, item in enumerate(listed):
            buffers = [*getattr(item, "bufs", ())]
            edges += [Edge(f"k{last[b]}", f"k{at}", PLAIN) for b in buffers[1:] if b in last]
            last |= dict.fromkeys(buffers[:1], at)
        nodes = [Node(f"k{at}", line[:MAX_LABEL], PLAIN) for at, line in enumerate(lines)]
        bundle["image/svg+xml"] = svg_text(Drawing("schedule", nodes, edges))
    return bundle


def _item(item: Any) -> str:
    if not isinstance(item, ScheduleItem):
        return str(item)
    asked = f" for {', '.join(item.metadata)}" if item.metadata else ""
    return f"{item.ast.op.name} of {len(item.ast.toposort())} nodes{asked}"


def _label(node: UOp) -> str:
    arg = "" if node.arg is None else f" {node.arg}"
    return f"{node.op.name} {node.dtype}{arg}"
