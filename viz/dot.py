"""A graph of a rewrite, or what one step changed, as Graphviz DOT; and as SVG, by Graphviz itself.

Colors and signs are those of the page: removed red and dashed, added green and thick, moved amber.
Never lays out a graph; never runs anything but `dot`. Text of a trace or an export is quoted, and
slots are numbers, so that neither becomes an attribute: Graphviz can link and read files.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any, Final

from core.errors import TraceError
from viz.graphtext import State, node_text, states

SECONDS: Final = 120.0
"""How long Graphviz may take."""
MAX_LABEL: Final = 120
REMOVED: Final = ("#a81c12", "dashed", "- ")
ADDED: Final = ("#07765a", "bold", "+ ")
MOVED: Final = ("#a06c00", "solid", "~ ")
PLAIN: Final = ("#57606a", "solid", "")
Look = tuple[str, str, str]
"""Color, style, and the sign before the label."""


def dot_text(bundle: Mapping[str, Any], step: int) -> str:
    """What step `step` (from 1) changed, in one graph: what is there after it, and what it removed.
    Step 0 is the input graph. Raises TraceError for a step that there is not."""
    if not 0 <= step <= len(bundle["steps"]):
        raise TraceError(
            f"there is no step {step} in rewrite {bundle['rewrite']}",
            hint=f"it has {len(bundle['steps'])}",
        )
    before, after = states(bundle, step)
    return "\n".join(_lines(bundle, before, after, step)) + "\n"


def svg(dot: str) -> bytes:
    """The picture of a DOT text. Raises TraceError where Graphviz is missing or fails."""
    program = shutil.which("dot")
    if program is None:
        raise TraceError(
            "SVG needs Graphviz, and there is no `dot` here",
            hint="install Graphviz, or write a .dot file",
        )
    try:
        done = subprocess.run(
            [program, "-Tsvg"], input=dot.encode(), capture_output=True, timeout=SECONDS, check=True
        )
    except subprocess.TimeoutExpired as error:
        raise TraceError(
            f"Graphviz was not done after {SECONDS:.0f} seconds",
            hint="write a .dot file, or look at the graph in the page: uopviz open",
        ) from error
    except (OSError, subprocess.CalledProcessError) as error:
        raise TraceError(f"Graphviz failed: {error}", hint="write a .dot file") from error
    return done.stdout


def _lines(bundle: Mapping[str, Any], before: State, after: State, step: int) -> Iterator[str]:
    delta: Mapping[str, Any] = bundle["steps"][step - 1] if step else {}
    removed, added, moved = (set(delta.get(k, ())) for k in ("removed", "added", "moved"))
    yield "digraph {"
    yield f"  label={_quoted(bundle['name'] + (f', step {step}' if step else ''))}"
    yield '  node [shape=box, fontname="monospace"]'
    gone = {slot: before[slot] for slot in removed if slot in before}
    for slot, (node, _) in after.items():
        look = ADDED if slot in added else MOVED if slot in moved else PLAIN
        yield _node(bundle, f"s{slot:d}", node, look)
    for slot, (node, _) in gone.items():  # a slot that is removed and added holds another node now
        yield _node(bundle, f"r{slot:d}", node, REMOVED)
    for slot, (_, src) in after.items():
        old = list(before[slot][1]) if slot in before and slot not in gone else []
        for position, source in enumerate(src):
            kept = position < len(old) and old[position] == source
            new = step and not kept
            look = (MOVED if slot in moved else ADDED) if new else PLAIN
            yield _edge(f"s{source:d}", f"s{slot:d}", look)
        if slot in moved:
            for position, source in enumerate(old):
                if position >= len(src) or src[position] != source:
                    yield _edge(_name(source, gone), f"s{slot:d}", REMOVED)
    for slot, (_, src) in gone.items():
        for source in src:
            yield _edge(_name(source, gone), f"r{slot:d}", REMOVED)
    yield "}"


def _name(slot: int, gone: State) -> str:
    return f"r{slot:d}" if slot in gone else f"s{slot:d}"


def _node(bundle: Mapping[str, Any], name: str, node: int, look: Look) -> str:
    color, style, sign = look
    text = node_text(bundle, node)
    label = text if len(text) <= MAX_LABEL else text[:MAX_LABEL] + "..."
    return f'  {name} [label={_quoted(sign + label)}, color="{color}", style={style}]'


def _edge(source: str, user: str, look: Look) -> str:
    return f'  {source} -> {user} [color="{look[0]}", style={look[1]}]'


def _quoted(text: str) -> str:
    plain = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'
