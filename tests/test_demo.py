"""The main job, whole: digits.py recorded, then every rewrite replayed and every kernel checked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.compile import compile_kernel, sources_for
from core.dtype import dtypes
from core.runtime.buffer import Buffer
from core.runtime.device import Device
from core.runtime.numeric import from_memory, memory_dtype, to_memory
from core.runtime.reference.kernel import evaluate_kernel
from core.target import targets
from core.toolchain.processor import host_target
from core.toolchain.ptxas import assemble
from core.uop import Ops, UOp
from core.uop.data.serial import from_data
from core.uop.facts.meaning_arrays import numpy_dtype
from core.uop.pointer import pointer_of
from viz.views.store import Store

ROOT = Path(__file__).parents[1]
FEW = ("sm_80", "sm_90", "gfx1100", "gfx942", "aarch64")
SEED = 11

pytestmark = pytest.mark.xdist_group("demo")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The trace of one run of the demo, and what it printed."""
    trace = tmp_path_factory.mktemp("demo") / "digits.viz"
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "digits.py")],
        env={**os.environ, "VIZ": "-1", "VIZ_TRACE": str(trace), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return trace, done.stdout


@pytest.fixture(scope="module")
def store(recorded: tuple[Path, str]) -> Iterator[Store]:
    found = Store(recorded[0])
    yield found
    found.close()


@pytest.fixture(scope="module")
def kernels(store: Store) -> dict[str, UOp]:
    """The AST of every kernel of the run, by name, as read back from the trace."""
    found: dict[str, UOp] = {}
    for context in store.kernels():
        kernel, graph = store.kernel(context), store.kernel_graph(context)
        assert kernel is not None
        assert graph is not None
        found[kernel["name"]] = from_data(graph[0])[-1]
    return found


def test_the_net_learns(recorded: tuple[Path, str]) -> None:
    accuracy = [float(a) for a in re.findall(r"test accuracy (\d\.\d+)", recorded[1])]
    assert len(accuracy) == 25
    assert accuracy[-1] >= 0.97


def test_nothing_was_lost(store: Store) -> None:
    run = store.run()
    assert run["lost"] == 0
    assert run["problems"] == []
    assert run["totals"]["kernels"] > 20
    assert run["totals"]["steps"] > 5_000


def test_every_rewrite_replays_to_the_graph_that_the_engine_returned(store: Store) -> None:
    rows = [row for row in store.tree()["rows"] if row["kind"] == "rewrite"]
    assert len(rows) > 500
    for row in rows:
        bundle = store.bundle(row["id"])
        assert bundle is not None
        assert bundle["truncated"] is None
        assert replayed_root(bundle) == store.result_of(row["id"]), row


def replayed_root(bundle: dict[str, Any]) -> int:
    """The trace's number of the root after the last step; every edge is checked on the way. A node
    is its fields and sources, so equal numbers of the roots are equal graphs."""
    initial = bundle["initial"]
    state = {
        slot: (node, src)
        for slot, node, src in zip(initial["slot"], initial["node"], initial["src"], strict=True)
    }
    for step in bundle["steps"]:
        for slot, node, src in step["set"]:
            state[slot] = node, src
        for slot in step["drop"]:
            del state[slot]
    nodes = bundle["nodes"]
    seen = {bundle["root"]}
    stack = [bundle["root"]]
    while stack:
        node, edges = state[stack.pop()]
        assert [state[e][0] for e in edges] == nodes["src"][node]
        stack += [e for e in edges if e not in seen]
        seen.update(edges)
    assert seen == set(state), "a slot that nothing reaches is still there"
    return nodes["id"][state[bundle["root"]][0]]


def names(config: pytest.Config, family: str) -> list[str]:
    """The targets of a family: a few, all with `--fuzz`."""
    every = [name for name, target in targets.items() if target.family == family]
    return every if config.getoption("--fuzz") else [name for name in every if name in FEW]


def test_ptx_of_every_kernel_assembles(
    kernels: dict[str, UOp], pytestconfig: pytest.Config
) -> None:
    for ast in kernels.values():
        for name in names(pytestconfig, "nvidia"):
            program = compile_kernel(ast, targets[name])
            assert assemble(program.source.text, name).cubin


def test_cpu_code_of_every_kernel(kernels: dict[str, UOp], pytestconfig: pytest.Config) -> None:
    for ast in kernels.values():
        for name in names(pytestconfig, "cpu"):
            assert "define void" in compile_kernel(ast, targets[name]).source.text


def test_amd_isa_of_every_kernel(kernels: dict[str, UOp], pytestconfig: pytest.Config) -> None:
    for ast in kernels.values():
        for name in names(pytestconfig, "amd"):
            texts = {a.kind: a.text for a in sources_for(ast, targets[name])}
            assert set(texts) == {"llvm", "amd_isa", "hip"}
            assert "s_endpgm" in texts["amd_isa"]


def test_every_kernel_on_the_cpu_equals_the_reference(kernels: dict[str, UOp]) -> None:
    for name, ast in kernels.items():
        memory = memory_of(ast)
        right = [a.copy() for a in memory]
        evaluate_kernel(ast, right, {})
        program = compile_kernel(ast, host_target())
        buffers = [
            Buffer("CPU", a.size, argument.dtype).copyin(a.view(np.uint8).data)
            for a, argument in zip(memory, program.arguments, strict=True)
        ]
        Device["CPU"].load(program)(buffers, {}, wait=True)
        for stored in ast.src:
            number, dtype = pointer_of(stored.src[0]).arg, stored.src[1].dtype
            got = from_memory(buffers[number].as_array(), dtype)
            expected = from_memory(right[number], dtype)
            np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4, err_msg=name)


def test_every_kernel_of_amd_in_the_emulator_equals_the_reference(
    kernels: dict[str, UOp],
) -> None:
    for name, ast in kernels.items():
        memory = memory_of(ast)
        right = [a.copy() for a in memory]
        evaluate_kernel(ast, right, {})
        texts: set[str] = set()
        for target in (t for t in targets.values() if t.family == "amd"):
            program = compile_kernel(ast, target)
            if program.source.text in texts:
                continue  # most kernels have one text for all targets
            texts.add(program.source.text)
            device = f"AMD:EMU:{target.name}"
            buffers = [
                Buffer(device, a.size, argument.dtype).copyin(a.view(np.uint8).data)
                for a, argument in zip(memory, program.arguments, strict=True)
            ]
            Device[device].load(program)(buffers, {}, wait=True)
            for stored in ast.src:
                number, dtype = pointer_of(stored.src[0]).arg, stored.src[1].dtype
                got = from_memory(buffers[number].as_array(), dtype)
                expected = from_memory(right[number], dtype)
                what = f"{name} on {device}"
                np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4, err_msg=what)


def memory_of(ast: UOp) -> list[np.ndarray[Any, Any]]:
    """Random memory for every argument of a kernel."""
    rng = np.random.default_rng(SEED)
    found: list[np.ndarray[Any, Any]] = []
    for u in sorted((u for u in ast.toposort() if u.op is Ops.DEFINE_GLOBAL), key=lambda u: u.arg):
        dtype, size = u.dtype.base, u.dtype.size
        if dtypes.is_float(dtype):
            values = rng.uniform(0.1, 1.0, size).astype(numpy_dtype(dtype))
            found.append(to_memory(values, dtype))
        else:
            found.append(rng.integers(0, 2, size).astype(memory_dtype(dtype)))
    return found
