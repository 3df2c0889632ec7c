"""Tile kernels that are recorded while they are compiled, and what is said of them."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.compile import compile_kernel
from core.target import targets
from core.uop.uop import UOp
from viz.trace import Recorder
from viz.views.store import Store

Data = dict[str, Any]
_numbers = itertools.count()


def recorded(path: Path, ast: UOp, target: str) -> Store:
    """The trace of a kernel's compilation: under a name of its own, since a kernel that another
    test has compiled is not compiled again."""
    name = f"{ast.arg.name}_{next(_numbers)}_recorded"
    ast = ast.replace(arg=replace(ast.arg, name=name))
    recorder = Recorder(path).start()
    try:
        compile_kernel(ast, targets[target])
    finally:
        recorder.close()
    return Store(path)


def tiles_of(store: Store) -> Data:
    """The tiles of its only kernel."""
    found = store.tiles(store.kernels()[0])
    assert found is not None
    return found


def nodes_at(store: Store, rewrite: int, op: str) -> list[int]:
    """The nodes of an op in the graph that a pass starts from."""
    bundle = store.bundle(rewrite)
    assert bundle is not None
    nodes = bundle["nodes"]
    return [
        nodes["id"][c] for c in bundle["initial"]["node"] if bundle["ops"][nodes["op"][c]] == op
    ]


def passes_of(store: Store) -> list[int]:
    """The passes of its only kernel, in order."""
    rows = store.tree()["rows"]
    kernel = next(r["row"] for r in rows if r["label"] == "kernel")
    return [r["id"] for r in rows if r["kind"] == "rewrite" and r["parent"] == kernel]
