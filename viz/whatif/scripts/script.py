"""A program that compiles one kernel as a variant and compares it with the reference: plain Python
that needs uopviz only, for a bug report or a test.

What a trace says goes into it as data, never as code.
"""

from __future__ import annotations

import json
from typing import Any, Final

from core.uop.data.serial import from_data
from core.uop.show import graph_text
from viz.coredialect.flags import Flags
from viz.whatif.variants.variant import Variant

MAX_COMMENT: Final = 200
"""Lines of the graph as people read it."""
_BODY: Final = """
ast = from_data(json.loads(GRAPH))[0]
variant = Variant.from_data(VARIANT)
target = target_named(variant.target or TARGET)
with Context(**FLAGS):
    compiled = compile_variant(ast, target, variant)
    if compiled.program is None:
        sys.exit(f"{variant}:\\n{compiled.error}")
    # random arguments, the same at every run, and what the reference makes of them
    device, outcome = Judge(ast, replace(RANDOM, seed=SEED)).judge(compiled.program, variant.device)
print(f"{variant}, on {device}: {outcome}")
sys.exit(not outcome.equal)
"""


def script_text(
    title: str, graph: dict[str, Any], target: str, flags: Flags, variant: Variant
) -> str:
    """The text of the program. Raises FormatError for a graph that is none."""
    ast = from_data(graph)[0]
    lines = graph_text(ast).splitlines()
    if len(lines) > MAX_COMMENT:
        lines[MAX_COMMENT:] = [f"... and {len(lines) - MAX_COMMENT:,} more nodes"]
    nodes = ",\n".join(json.dumps(node) for node in graph["nodes"])
    data = f'{{"version": {graph["version"]}, "roots": {json.dumps(graph["roots"])}, "nodes": [\n'
    said = variant.data()
    text = said.pop("text")
    parts = [
        f"# {one_line(title)}: {one_line(str(variant))}",
        "# Exit status 0: the result is that of the reference; 1: it is not, or it fails.",
        *(
            []
            if text is None
            else ["# It runs the text below: run it only if you trust its author."]
        ),
        *(f"#   {one_line(line)}" for line in lines),
        "",
        "import json",
        "import sys",
        "from dataclasses import replace",
        "",
        "from core.helpers import Context",
        "from core.target import target_named",
        "from core.uop.data.serial import from_data",
        "from viz.whatif.results.arguments import RANDOM",
        "from viz.whatif.variants.recompile import compile_variant",
        "from viz.whatif.results.trying import Judge",
        "from viz.whatif.variants.variant import Variant",
        "",
        f"TARGET = {literal(target)}",
        f"FLAGS = {dict(sorted(flags.items()))!r}",
        f"VARIANT = {literal(said)}",
        *([] if text is None else _text_parts(text)),
        "SEED = 1",
        f"GRAPH = {block(data + nodes + ']}')}",
    ]
    return "\n".join(parts) + "\n" + _BODY


def _text_parts(text: dict[str, str]) -> list[str]:
    """Lines that put an edited text into VARIANT, to the character."""
    lines = text["text"].splitlines(keepends=True) or [""]
    return [
        "TEXT = (",
        *(f"    {literal(line)}" for line in lines),
        ")",
        f'VARIANT["text"] = {literal({**text, "text": ""})}',
        'VARIANT["text"]["text"] = TEXT',
    ]


def one_line(text: str) -> str:
    """Text of a comment: nothing in it ends the line."""
    return "".join(c if c.isprintable() else " " for c in text)


def literal(value: object) -> str:
    """Data as Python writes it, in ASCII."""
    return ascii(value)


def block(text: str) -> str:
    """Text in lines, a string for each."""
    lines = text.splitlines()
    return "(\n" + "\n".join(f"    {line + chr(10)!a}" for line in lines) + "\n)"
