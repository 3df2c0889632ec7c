"""`uopviz import` on what the newest PyTorch and JAX write, each installed in an environment of its
own: what the trace has is counted in the dumps themselves, by other means."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.viz.importers.test_import import is_exact
from viz.cli import main
from viz.views.store import Store

pytestmark = pytest.mark.nightly

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).parent / "programs"
_GRAPH = re.compile(r"^\t *class [^\n]*\n(?:\t[^\n]*\n)*?\t *def forward\(", re.MULTILINE)


def python_of(*packages: str) -> str:
    """The interpreter of an environment with the newest of these."""
    folder = ROOT / ".venv" / "peers" / packages[0]
    python = folder / "bin" / "python"
    if not (folder / ".done").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *packages], check=True)
        (folder / ".done").touch()
    return str(python)


def run(python: str, program: str, *args: str, **setting: str) -> str:
    """Runs a program; what it says."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("VIZ", "PYTHONPATH", "XLA"))}
    command = [python, str(PROGRAMS / program), *args]
    done = subprocess.run(command, env=kept | setting, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


def imported(path: Path, *dumps: Path) -> Store:
    """The trace of dumps; nothing of them is left out."""
    assert main(["import", "-o", str(path), *map(str, dumps)]) == 0
    store = Store(path)
    assert store.run()["problems"] == []
    assert is_exact(store.files[0])
    return store


def ops_of(store: Store, node: int) -> Counter[str]:
    """The ops of a graph."""
    file = store.files[0]
    op = file.nodes.field("op")
    return Counter(file.text(int(op[n])) for n in file.nodes.reachable(node))


def test_torch_trace(tmp_path: Path) -> None:
    """Each graph but the first of a compilation is a pass; the last have the ops of their text."""
    python = python_of("torch", "numpy", "setuptools")
    setting = {"TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1", "INDUCTOR_PROVENANCE": "1"}
    run(python, "compiled.py", TORCH_TRACE=str(tmp_path / "trace"), **setting)
    store = imported(tmp_path / "a.viz", tmp_path / "trace")
    text = "".join(path.read_text() for path in (tmp_path / "trace").iterdir())
    graphs = len(_GRAPH.findall(text)) - text.count('"fx_graph_runnable"')
    assert len(store.files[0].rewrites) == graphs - 2  # two compilations
    last = [r for r in store.files[0].rewrites.values() if r.name == "inductor_post_grad_graph"]
    assert len(last) == 3
    for rewrite in last:
        texts = store.pass_texts(rewrite.id)
        if texts is None or texts["after"] is None:
            continue
        calls = re.findall(r"= torch\.ops\.(\w+\.\w+)", texts["after"]["text"])
        found = ops_of(store, rewrite.result)
        assert {op: n for op, n in found.items() if "." in op} == Counter(calls)
    kernels = [store.kernel(context) for context in store.kernels()]
    codes = [one for kernel in kernels if kernel for one in kernel["artifacts"]]
    assert len(codes) == 3 and all(any(code["lines"]) for code in codes)
    store.close()


def test_jax_dumps(tmp_path: Path) -> None:
    """A pass for each dump that differs from the one before it, with the very text of the file."""
    dump = tmp_path / "dump"
    flags = f"--xla_dump_to={dump} --xla_dump_hlo_pass_re=.* --xla_dump_hlo_as_text"
    run(
        python_of("jax"),
        "scan.py",
        XLA_FLAGS=flags,
        JAX_DUMP_IR_TO=str(dump),
        JAX_DUMP_IR_MODES="jaxpr,stablehlo",
    )
    store = imported(tmp_path / "a.viz", dump)
    rows = store.tree()["rows"]
    for name in ("loss", "cumulate"):
        (module,) = [
            r for r in rows if r["label"] == "kernel" and r["name"].startswith(f"jit_{name} ")
        ]
        files = sorted(dump.glob(f"module_*.jit_{name}.[0-9]*.txt"))
        last = next(iter(dump.glob(f"module_*.jit_{name}.*after_optimizations.txt")))
        inside = [r for r in rows if r["kind"] == "rewrite" and _is_in(rows, r, module["row"])]
        assert [row["name"] for row in inside[:2]] == ["to StableHLO", "to HLO"]
        texts = [store.pass_texts(row["id"]) for row in inside]
        states = [t["after"]["text"] for t in texts if t and t["after"]["kind"] == "hlo"]
        begin = next(iter(dump.glob(f"module_*.jit_{name}.before_optimizations.txt")))
        wanted = [begin.read_text()]
        for path in [*files, last]:
            if path.read_text() != wanted[-1]:
                wanted.append(path.read_text())
        assert [state for state in states if state in wanted] == states
        assert states[-1] == wanted[-1]
        instructions = len(re.findall(r"^ +(?:ROOT )?%?[\w.\-]+ = ", wanted[-1], re.MULTILINE))
        computations = len(re.findall(r"^(?:ENTRY )?%?[\w.\-]+ \(.*\{$", wanted[-1], re.MULTILINE))
        rewrite = store.files[0].rewrites[inside[-1]["id"]]
        found = ops_of(store, rewrite.result)
        assert found["computation"] == computations
        assert found.total() == instructions + computations + 2  # the module and its block
    store.close()


def _is_in(rows: list[dict[str, object]], row: dict[str, object], at: int) -> bool:
    """Whether a row is below another one."""
    parent = row["parent"]
    while isinstance(parent, int) and parent >= 0:
        if parent == at:
            return True
        parent = rows[parent]["parent"]
    return False
