"""Scripts that reproduce a kernel, and kernels that are made smaller for them."""

from __future__ import annotations

import ast as python
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core import Tensor, dtypes
from core.errors import CompileError
from core.helpers import prod
from core.uop import Ops, UOp
from core.uop.data.serial import from_data, to_data
from core.uop.kernelinfo import KernelInfo
from core.uop.ops import GroupOp
from tests.core.passes.kernels import CPU, conv, elementwise, halves, matmul
from tests.viz.whatif.running import record
from viz.cli import main
from viz.whatif.narrowing.minimise import Trouble, minimise, smaller, trouble_with
from viz.whatif.narrowing.reductions import smaller_kernels
from viz.whatif.scripts.script import script_text
from viz.whatif.variants.variant import Variant


@pytest.mark.parametrize(
    "case", [matmul(8, 32, 8), conv(2, 4, 6), halves(24)], ids=lambda c: c.name
)
def test_smaller_kernels_are_kernels(case: Any) -> None:
    made = list(smaller_kernels(case.ast))
    assert len(made) > 5
    assert case.ast not in made
    assert all(from_data(to_data([one]))[0] is one for one in made)


def test_a_kernel_that_fails_is_made_smaller() -> None:
    variant = Variant(skip=("reduce_in_loop", "mul_one"), opts="")
    made = minimise(conv(2, 4, 6).ast, CPU, variant, 30)
    assert made.trouble == Trouble("fails", "pass reduce")
    assert made.variant.skip == ("reduce_in_loop",)
    nodes = made.ast.toposort()
    assert [u.op for u in nodes if u.op in (Ops.MUL, Ops.REDUCE_AXIS)] == [Ops.REDUCE_AXIS]
    (reduced,) = [u for u in nodes if u.op is Ops.REDUCE_AXIS]
    assert prod(reduced.src[0].shape or ()) <= 4
    (stored,) = [u for u in nodes if u.op is Ops.STORE]
    assert prod(stored.src[0].shape or ()) == 1


def test_opts_are_left_out_where_they_do_not_matter() -> None:
    variant = Variant(skip=("reduce_in_loop",), opts="UPCAST(0, 4) UPCAST(0, 2)")
    made = minimise(matmul(8, 32, 8).ast, CPU, variant, 30)
    assert made.trouble.kind == "fails"
    assert made.variant.opts == ""


def test_what_is_left_cannot_be_made_smaller() -> None:
    """Of a product of halves, one REDUCE of one load in float32; no smaller kernel fails."""
    a, b = Tensor.empty(16, 32, dtype="half"), Tensor.empty(32, 8, dtype="half")
    (item,) = (a @ b).relu().schedule()
    made = minimise(item.ast, CPU, Variant(skip=("reduce_in_loop",), opts=""), 60)
    for other, less in smaller(made.ast, made.variant):
        assert trouble_with(other, CPU, less) != made.trouble
    nodes = made.ast.toposort()
    assert {u.dtype.base for u in nodes} <= {dtypes.float32, dtypes.void}
    assert [u.op for u in nodes if u.op in GroupOp.Elementwise] == []
    assert len(nodes) <= 9


def test_where_nothing_is_the_matter() -> None:
    with pytest.raises(CompileError, match="its result is right"):
        minimise(elementwise((4, 4)).ast, CPU, Variant(skip=("no_such_rule",)), 10)


def test_what_a_trace_says_is_data() -> None:
    """Nothing that a graph or a name holds becomes code, or ends a comment."""
    hostile = "x\n\r\u2028import os #'''\"\"\"\\"
    sink = elementwise((2, 2)).ast
    sink = sink.replace(arg=KernelInfo(name=hostile))
    graph = to_data([sink])
    text = script_text(hostile, graph, hostile, {"NOOPT": 0}, Variant((hostile,), target=hostile))
    tree = python.parse(text)
    assert text.isascii() or all(c.isprintable() or c == "\n" for c in text)
    imported = [n for node in tree.body if isinstance(node, python.Import) for n in node.names]
    assert [n.name for n in imported] == ["json", "sys"]
    values = {
        node.targets[0].id: python.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, python.Assign)
        and isinstance(node.targets[0], python.Name)
        and node.targets[0].id.isupper()
    }
    assert values["TARGET"] == hostile
    assert values["VARIANT"]["skip"] == [hostile]


def test_the_script_of_a_kernel_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(tmp_path / "run.viz")
    out = tmp_path / "repro.py"
    words = ["script", str(tmp_path / "run.viz"), "--kernel", "r_", "-o", str(out)]
    assert main(words) == 0
    assert main(words) == 0  # its own file is replaced
    done = subprocess.run([sys.executable, str(out)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "on CPU: agrees with the reference" in done.stdout
    out.write_text("# mine\n")
    assert main(words) == 2
    assert "script" in capsys.readouterr().err
    assert out.read_text() == "# mine\n"


def test_a_node_is_what_it_was() -> None:
    ast = matmul(4, 4, 4).ast
    text = script_text("k", to_data([ast]), "x86-64", {}, Variant())
    scope: dict[str, Any] = {}
    exec(text.partition("\nast = ")[0], scope)
    import_json = scope["json"].loads(scope["GRAPH"])
    (again,) = from_data(import_json)
    assert isinstance(again, UOp)
    assert again is ast
