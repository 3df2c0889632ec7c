"""The picture of a pass as Graphviz DOT.

Text of a trace or an export is quoted, and names are numbers, so that neither becomes an attribute:
Graphviz can link and read files.
"""

from __future__ import annotations

from collections.abc import Iterator

from viz.share.drawing import Drawing


def dot_text(drawing: Drawing) -> str:
    """The picture as DOT."""
    return "\n".join(_lines(drawing)) + "\n"


def is_graph(head: bytes) -> bool:
    """Whether a file that begins like this is a DOT text as above."""
    return head.startswith(b"digraph {\n  label=")


def _lines(drawing: Drawing) -> Iterator[str]:
    yield "digraph {"
    yield f"  label={_quoted(drawing.title)}"
    yield '  node [shape=box, fontname="monospace"]'
    for name, label, look in drawing.nodes:
        yield f'  {name} [label={_quoted(label)}, color="{look.color}", style={look.style}]'
    for source, user, look in drawing.edges:
        yield f'  {source} -> {user} [color="{look.color}", style={look.style}]'
    yield "}"


def _quoted(text: str) -> str:
    plain = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'
