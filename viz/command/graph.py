"""`uopviz graph`: the graph of a pass, or what one step changed, as DOT or as a picture."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from viz.command.session import chosen_bundle, chosen_entry, number_first, open_store, put
from viz.files.regular import check_ending, replace_file
from viz.share.dot import dot_text, is_graph
from viz.share.drawing import drawing
from viz.share.svg import is_picture, svg_text

_WHICH: Final = "the graph of which pass? Name it by its number, or with --pass"


def graph(options: argparse.Namespace) -> int:
    """The graph of a pass, or what a step changed, as DOT or SVG."""
    number_first(options)
    if options.number is None and options.kernel is None and options.pass_name is None:
        return options.error(_WHICH)
    path = Path(options.output) if options.output else None
    if path is not None:
        check_ending(path, "a graph", ".svg", ".dot", ".gv")
    store = open_store(options)
    number = chosen_entry(options, store.tree()["rows"])
    if number is None:
        return options.error(_WHICH)
    step = options.step if options.step is not None else options.step_named or 0
    options.progress.begin("drawing the graph")
    picture = drawing(chosen_bundle(store, number), step)
    text = dot_text(picture)
    if path is None:
        return put(options, {"dot": text}, text.rstrip("\n").split("\n"))
    if path.suffix == ".svg":
        replace_file(path, svg_text(picture).encode(), is_picture, "a graph as SVG")
    else:
        replace_file(path, text.encode(), is_graph, "a graph as DOT")
    return put(options, {"file": str(path)}, [str(path)])
