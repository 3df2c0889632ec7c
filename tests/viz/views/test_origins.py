"""Equal nodes are one node, whoever asks for them: each kernel has the lines of its own."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import viz
from core.uop.data.serial import from_data
from core.uop.engine.asking import kernel_lines
from viz.share.copy import write_trace
from viz.views.runs.places import line_of
from viz.views.store import Store

TILES = """
from core.compile import compile_kernel
from core.target import target_named
from core.tile import Kernel

def first():
    with Kernel("first", grid=(2,)) as ker:
        a, out = ker.gl("float", (32, 16)), ker.gl("float", (32, 16))
        tile = ker.rt("float", (16, 16))
        ker.warp.load(tile, a[ker.gx, 0])
        ker.warp.store(out[ker.gx, 0], tile)
    return ker.ast

def second():
    with Kernel("second", grid=(2,)) as ker:
        a, out = ker.gl("float", (32, 16)), ker.gl("float", (32, 16))
        tile = ker.rt("float", (16, 16))
        ker.warp.load(tile, a[ker.gx, 0])
        ker.warp.map(tile, lambda value: value + 1, tile)
        ker.warp.store(out[ker.gx, 0], tile)
    return ker.ast

for kernel in first, second:
    compile_kernel(kernel(), target_named("sm_80"))
"""
EXPRESSIONS = """
from core import Tensor

def first(x):
    y = (x + UNIQUE).exp()
    return (y * 2).realize()

def second(x):
    y = (x + UNIQUE).exp()
    return (y * 3).realize()

x = Tensor([1.0, 2.0, 3.0, 4.0]).realize()
kept = first(x), second(x)
"""
CALLS = """
from core import Tensor
from core.tile import Kernel

def first(target, out, a):
    with Kernel("first", grid=(2,), target=target) as ker:
        out, a = ker.gl("float", (32, 16)), ker.gl("float", (32, 16))
        tile = ker.rt("float", (16, 16))
        row = ker.gx % 2
        ker.warp.load(tile, a[row, 0])
        ker.warp.store(out[row, 0], tile)
    return ker.ast

def second(target, out, a):
    with Kernel("second", grid=(2,), target=target) as ker:
        out, a = ker.gl("float", (32, 16)), ker.gl("float", (32, 16))
        tile = ker.rt("float", (16, 16))
        row = ker.gx % 2
        ker.warp.load(tile, a[row, 0])
        ker.warp.map(tile, lambda value: value + 1, tile)
        ker.warp.store(out[row, 0], tile)
    return ker.ast

x = Tensor.ones(32, 16).contiguous().realize()
for kernel in first, second:
    Tensor.call_kernel(kernel, x, outputs=((32, 16), "float")).realize()
"""
ONE_SCHEDULE = """
from core import Tensor

def first(x):
    y = x + UNIQUE
    return y * 2

def second(x):
    y = x + UNIQUE
    return y * 3

x = Tensor([1.0, 2.0, 3.0, 4.0]).realize()
Tensor.realize(first(x), second(x))
"""
ONE_KERNEL = """
from core import Tensor

def first(x):
    return (x + UNIQUE).realize()

def second(x):
    return (x + UNIQUE).realize()

x = Tensor([1.0, 2.0, 3.0, 4.0]).realize()
kept = first(x), second(x)
"""

_unique = itertools.count(5000)


@contextmanager
def recorded(program: str, folder: Path) -> Generator[tuple[Store, dict[str, set[int]]]]:
    """The trace of a program, and the lines of each of its functions. Its kernels are new to this
    process, which keeps what it has compiled."""
    program = program.replace("UNIQUE", f"{next(_unique)}.375")
    source, trace = folder / "program.py", folder / "program.viz"
    source.write_text(program)
    functions = {
        found.name: set(range(found.lineno, (found.end_lineno or 0) + 1))
        for found in ast.parse(program).body
        if isinstance(found, ast.FunctionDef)
    }
    with viz.record(trace):
        exec(compile(program, str(source), "exec"), {})
    store = Store(trace)
    try:
        yield store, functions
    finally:
        store.close()


def kernels_of(store: Store) -> list[dict[str, Any]]:
    return [store.kernel(k) or {} for k in store.kernels()]


def lines_in(origins: Iterable[str]) -> set[int]:
    """The lines of the program that texts of origins name."""
    places = (line_of(line) for some in origins for line in some.split("\n"))
    return {place[1] for place in places if place and place[0].endswith("program.py")}


def nodes_of(kernel: Mapping[str, Any]) -> set[int]:
    return {node for place in kernel["places"] for node in place["nodes"]}


def lines_told(store: Store, kernel: Mapping[str, Any]) -> dict[str, set[int]]:
    """The lines that each answer about a kernel names."""
    context, file = kernel["context"], store.files[0]
    passes = [
        number
        for number, rewrite in file.rewrites.items()
        if rewrite.context == context and not rewrite.parent
    ]
    bundles = [store.bundle(number) or {"origins": []} for number in passes]
    graph = store.kernel_graph(context)
    assert graph is not None
    lineage = store.lineage(context, 60)
    assert lineage is not None
    asked = kernel_lines.of(from_data(graph[0])[0])
    listed = store.overview()["lines"]
    return {
        "places": {place["line"] for place in kernel["places"]},
        "calls": lines_in(kernel["tensorCalls"]),
        "passes": lines_in(origin for one in bundles for origin in one["origins"]),
        "history": lines_in(lineage["lines"]),
        "for the compiler": lines_in(asked.values()),
        "your code": {
            line["line"]
            for file in store.user_lines()
            for line in file["kernels"]
            if context in line["kernels"]
        },
        "your lines": {
            line["line"]
            for line in listed
            if context in [one["context"] for one in line["kernels"]]
        },
    }


@pytest.mark.parametrize(
    "program", [TILES, CALLS, EXPRESSIONS], ids=["tiles", "calls", "expressions"]
)
def test_kernels_with_equal_nodes_have_the_lines_of_their_own(program: str, tmp_path: Path) -> None:
    with recorded(program, tmp_path) as (store, functions):
        copy = tmp_path / "copy.viz"
        write_trace(store, copy)
        copied = Store(copy)
        for of in store, copied:
            kernels = kernels_of(of)[-2:]
            assert nodes_of(kernels[0]) & nodes_of(kernels[1])  # equal nodes are one
            for kernel, name, other in zip(
                kernels, ("first", "second"), ("second", "first"), strict=True
            ):
                for what, lines in lines_told(of, kernel).items():
                    assert lines & functions[name], what
                    assert not lines & functions[other], what
                assert not all(place["shared"] for place in kernel["places"])
        copied.close()


@pytest.mark.parametrize("program", [ONE_SCHEDULE, ONE_KERNEL], ids=["one schedule", "one kernel"])
def test_what_two_lines_ask_for_names_both(program: str, tmp_path: Path) -> None:
    with recorded(program, tmp_path) as (store, functions):
        both = {min(functions[name]) + 1 for name in ("first", "second")}
        for kernel in kernels_of(store):
            for what, lines in lines_told(store, kernel).items():
                assert lines >= both, what
            places = [place for place in kernel["places"] if place["line"] in both]
            assert all(place["shared"] for place in places)
            assert len({tuple(place["nodes"]) for place in places}) == 1


def test_a_search_for_a_line_finds_the_passes_of_its_kernel_alone(tmp_path: Path) -> None:
    with recorded(EXPRESSIONS, tmp_path) as (store, functions):
        file = store.files[0]
        first, second = (kernel["context"] for kernel in kernels_of(store))
        for kernel, other, name in ((first, second, "first"), (second, first, "second")):
            index = store.processes[0].index
            hits, _ = index.search(f"program.py:{min(functions[name]) + 1}", str)
            found = {file.rewrites[hit.entry].context for hit in hits if hit.entry in file.rewrites}
            assert kernel in found and other not in found, name


def test_schedules_with_equal_nodes_have_the_lines_of_their_own(tmp_path: Path) -> None:
    with recorded(EXPRESSIONS, tmp_path) as (store, functions):
        file = store.files[0]
        schedules = [c.id for c in file.contexts.values() if c.kind == "schedule"][-2:]
        for schedule, name, other in zip(
            schedules, ("first", "second"), ("second", "first"), strict=True
        ):
            passes = [r.id for r in file.rewrites.values() if r.context == schedule]
            for number in passes:
                bundle = store.bundle(number)
                assert bundle is not None
                lines = lines_in(bundle["origins"])
                assert not lines & functions[other], (name, bundle["name"])
